package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAddProductSkipsZeros: products with 0 that are left out leave every bit of the gradients
// that tiles add up.
func TestAddProductSkipsZeros(t *testing.T) {
	eachSparseISA(t, func(t *testing.T, s isa) {
		addsNonzeros[float64](t, s)
		addsNonzeros[float32](t, s)
	})
}

func addsNonzeros[T Float](t *testing.T, s isa) {
	rng := rand.New(rand.NewPCG(5, 18))
	for _, p := range []int{1, sparseSample + 1, sparseUnits + 7} {
		for _, q := range []int{31, 64, 72, 200, 333} {
			for _, n := range []int{1, 64, 130, sparseRun + 70} {
				for _, share := range []float64{0, 0.5, 1} {
					what := fmt.Sprintf("%T, %d x %d, %d rows, share %g", T(0), p, q, n, share)
					numbers := normals[T](rng, n*p)
					for i := range numbers {
						if rng.Float64() > share {
							numbers[i] = 0
						}
					}
					var r Rows[T]
					r.turn(s, unitsOf(rng, normals[T](rng, n*q), q, n), nil, q, n)
					x, ldc := unitsOf(rng, numbers, p, n), q+rng.IntN(3)
					c := normals[T](rng, p*ldc)
					want := slices.Clone(c)
					for j := 0; j < q; j += r.Columns(j) {
						r.AddProduct(c, ldc, x, p, j)
					}
					r.addTiles(want, ldc, x, p, 0, q, 0, n)
					sameBits(t, what, c, want)
					if cols := r.Columns(0); cols > r.panelUnits() && n > 1 {
						if few := r.addRun(c, ldc, x, min(p, sparseUnits), 0, cols, 0, min(n, sparseRun)); few != (share < 1) {
							t.Errorf("%s: zeros are left out: %t", what, few)
						}
					}
				}
			}
		}
	}
}
