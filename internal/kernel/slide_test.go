package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// checkSlide compares one shape with plain loops, bit for bit.
func checkSlide[T Float](t *testing.T, s isa, rng *rand.Rand, m, n, k, step, ldb int) {
	t.Helper()
	add, lda, ldc := mulAdd[T](s), k*step+rng.IntN(3), n+rng.IntN(3)
	images := 1 + rng.IntN(3)
	bs, cs := rng.IntN(5), m*ldc+rng.IntN(3)
	a, b, x := newGuarded[T](m*lda, 1), newGuarded[T]((images-1)*bs+(k-1)*ldb+SlideRoom(n), 3), newGuarded[T](m*SlideWidth, 2)
	awkward(rng, a.v, false)
	awkward(rng, b.v, false)
	for i := range x.v {
		x.v[i] = T(i / SlideWidth)
	}
	for variant := range 4 {
		initial, relu := x.v, variant%2 == 1
		if variant > 1 {
			initial = nil
		}
		c := newGuarded[T]((images-1)*cs+(m-1)*ldc+n, 5)
		want := make([]T, images*m*n)
		for at := range want {
			image, i, j := at/(m*n), at/n%m, at%n
			sum := T(i)
			if initial == nil {
				sum = T(j - i)
				c.v[image*cs+i*ldc+j] = sum
			}
			for l := range k {
				sum = add(a.v[i*lda+l*step], b.v[image*bs+l*ldb+j], sum)
			}
			want[at] = rectified(sum, relu)
		}
		slide(s, c.v, ldc, a.v, lda, step, b.v, ldb, initial, m, n, k, relu, Images{images, bs, cs})
		for i := range images {
			compare(t, fmt.Sprintf("%v m %d n %d k %d step %d ldb %d variant %d image %d", s, m, n, k, step, ldb, variant, i), c.v[i*cs:][:(m-1)*ldc+n], ldc, want[i*m*n:(i+1)*m*n], m, n)
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
						checkSlide[float64](t, s, rng, m, n, k, 1+k%2, ldb)
						checkSlide[float32](t, s, rng, m, n, k, 1+k%2, ldb)
					}
				}
			}
		}
	})
}
