package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// checkSlide compares filters with plain loops, bit for bit.
func checkSlide[T Float](t *testing.T, s isa, rng *rand.Rand, count, n, k, ldb, further int) {
	t.Helper()
	add, ldc, groups := mulAdd[T](s), n+rng.IntN(3), 1+rng.IntN(2)
	images := 1 + rng.IntN(3)
	starts := make([]int, 1+further)
	for i := range starts {
		starts[i] = rng.IntN(50)
	}
	size := len(starts) * k
	bs, cs := rng.IntN(5), count*ldc+rng.IntN(3)
	a, b, bias := newGuarded[T](groups*count*size, 1), newGuarded[T]((images-1)*bs+50+(k-1)*ldb+slideRoom(n), 3), newGuarded[T](groups*count, 2)
	awkward(rng, a.v, false)
	awkward(rng, b.v, false)
	awkward(rng, bias.v, false)
	f := packFilters(s, groups, count, a.v, bias.v, starts, ldb, k)
	for _, relu := range []bool{false, true} {
		g := rng.IntN(groups)
		c := newGuarded[T]((images-1)*cs+(count-1)*ldc+n, 5)
		want := make([]T, images*count*n)
		for at := range want {
			image, i, j := at/(count*n), g*count+at/n%count, at%n
			sum := bias.v[i]
			for s, start := range starts {
				for l := range k {
					sum = add(a.v[i*size+s*k+l], b.v[start+image*bs+l*ldb+j], sum)
				}
			}
			want[at] = rectified(sum, relu)
		}
		f.Slide(g, c.v, ldc, b.v, n, relu, Images{images, bs, cs})
		for i := range images {
			compare(t, fmt.Sprintf("%v filters %d n %d k %d ldb %d further %d relu %t image %d", s, count, n, k, ldb, further, relu, i), c.v[i*cs:][:(count-1)*ldc+n], ldc, want[i*count*n:(i+1)*count*n], count, n)
		}
		c.check(t)
	}
}

func TestSlide(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(3, 4))
		for _, count := range []int{1, 2, 5, 8, 13} {
			for _, n := range []int{1, 7, 16, 31, 33, 70} {
				for _, k := range []int{1, 3, 8} {
					for _, ldb := range []int{1, 2, 40} {
						further := rng.IntN(4)
						checkSlide[float64](t, s, rng, count, n, k, ldb, further)
						checkSlide[float32](t, s, rng, count, n, k, ldb, further)
					}
				}
			}
		}
	})
}

// TestCopyRows: every row is in its place; between rows is 0 or what was there, and nothing is
// written behind them.
func TestCopyRows(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		for _, n := range []int{1, 3, 8, 16, 31, 32, 33, 64, 70} {
			for _, gap := range [][2]int{{0, 0}, {0, 2}, {1, 0}, {2, 1}, {40, 3}} {
				for _, rows := range []int{1, 2, 9, 40} {
					checkCopyRows[float64](t, s, n, gap, rows)
					checkCopyRows[float32](t, s, n, gap, rows)
				}
			}
		}
	})
}

func checkCopyRows[T Float](t *testing.T, s isa, n int, gap [2]int, rows int) {
	t.Helper()
	ds, ss := n+gap[0], n+gap[1]
	src, dst := newGuarded[T]((rows-1)*ss+n, 1), newGuarded[T]((rows-1)*ds+n, 1)
	for i := range src.v {
		src.v[i] = T(i + 1)
	}
	for i := range dst.v {
		dst.v[i] = -1
	}
	copyRows(s, dst.v, ds, src.v, ss, n, rows)
	for i, x := range dst.v {
		row, j := i/ds, i%ds
		if want := T(row*ss + j + 1); j < n && x != want {
			t.Fatalf("%v: row %d of %d values, %d apart: number %d is %v, want %v", s, row, n, ds, j, x, want)
		}
		if j >= n && x != 0 && x != -1 {
			t.Fatalf("%v: %v between rows of %d, %d apart", s, x, n, ds)
		}
	}
	dst.check(t)
}
