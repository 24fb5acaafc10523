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
	a, b, bias := newGuarded[T](groups*count*size, 1), newGuarded[T]((images-1)*bs+50+(k-1)*ldb+SlideRoom(n), 3), newGuarded[T](groups*count, 2)
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
