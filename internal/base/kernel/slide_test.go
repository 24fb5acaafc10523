package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// checkSlide compares one shape with plain loops, bit for bit.
func checkSlide[T Float](t *testing.T, s isa, rng *rand.Rand, m, n, k, across, ldb, further int) {
	t.Helper()
	add, lda, ldc := mulAdd[T](s), (further+1)*k*across+rng.IntN(3), n+rng.IntN(3)
	images := 1 + rng.IntN(3)
	steps := make([]Step, 1+further)
	for i := range steps[1:] {
		steps[i+1] = Step{rng.IntN(further*k*across + 1), rng.IntN(50)}
	}
	bs, cs := rng.IntN(5), m*ldc+rng.IntN(3)
	a, b, x := newGuarded[T](m*lda, 1), newGuarded[T]((images-1)*bs+50+(k-1)*ldb+SlideRoom(n), 3), newGuarded[T](m*SlideWidth, 2)
	awkward(rng, a.v, false)
	awkward(rng, b.v, false)
	for i := range x.v {
		x.v[i] = T(i / SlideWidth)
	}
	for _, relu := range []bool{false, true} {
		c := newGuarded[T]((images-1)*cs+(m-1)*ldc+n, 5)
		want := make([]T, images*m*n)
		for at := range want {
			image, i, j := at/(m*n), at/n%m, at%n
			sum := T(i)
			for _, step := range steps {
				for l := range k {
					sum = add(a.v[step.A+i*lda+l*across], b.v[step.B+image*bs+l*ldb+j], sum)
				}
			}
			want[at] = rectified(sum, relu)
		}
		slide(s, c.v, ldc, a.v, lda, across, b.v, ldb, x.v, m, n, k, steps[1:], relu, Images{images, bs, cs})
		for i := range images {
			compare(t, fmt.Sprintf("%v m %d n %d k %d across %d ldb %d further %d relu %t image %d", s, m, n, k, across, ldb, further, relu, i), c.v[i*cs:][:(m-1)*ldc+n], ldc, want[i*m*n:(i+1)*m*n], m, n)
		}
		c.check(t)
	}
}

func TestSlide(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(3, 4))
		for _, m := range []int{1, 2, 5, 8, 13} {
			for _, n := range []int{1, 7, 16, 31, 33, 70} {
				for _, k := range []int{1, 3, 8} {
					for _, ldb := range []int{1, 2, 40} {
						further := rng.IntN(4)
						checkSlide[float64](t, s, rng, m, n, k, 1+k%2, ldb, further)
						checkSlide[float32](t, s, rng, m, n, k, 1+k%2, ldb, further)
					}
				}
			}
		}
	})
}

// TestSpread: every row is in its place; before the first one, between them and behind the room of
// the last one nothing is but zeros and what was there.
func TestSpread(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		for _, n := range []int{1, 3, 8, 16, 31, 32, 33, 64, 70} {
			for _, gap := range []int{0, 1, 2, 40} {
				for _, rows := range []int{1, 2, 9} {
					checkSpread[float64](t, s, n, gap, rows)
					checkSpread[float32](t, s, n, gap, rows)
				}
			}
		}
	})
}

func checkSpread[T Float](t *testing.T, s isa, n, gap, rows int) {
	t.Helper()
	src, dst := newGuarded[T](rows*n, 1), newGuarded[T]((rows-1)*(n+gap)+SlideRoom(n), 1)
	for i := range src.v {
		src.v[i] = T(i + 1)
	}
	for i := range dst.v {
		dst.v[i] = -1
	}
	spread(s, dst.v, n+gap, src.v, n)
	for i, x := range dst.v {
		row, j := i/(n+gap), i%(n+gap)
		if row < rows && j < n {
			if want := T(row*n + j + 1); x != want {
				t.Fatalf("%v: row %d of %d, %d apart: number %d is %v, want %v", s, row, n, n+gap, j, x, want)
			}
		} else if x != 0 && x != -1 {
			t.Fatalf("%v: %v between rows of %d, %d apart", s, x, n, n+gap)
		}
	}
	dst.check(t)
}
