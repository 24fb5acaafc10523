package projection

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestDependence: correlations of independent functions, normal with variance 1/n, leave nothing of the regression in
// nine of ten samples and never much; a dependence is found whether it is of the smoothest functions or of others, and more rows
// of it never count less.
func TestDependence(t *testing.T) {
	const k = 19
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []float64{200, 1e6} {
		none := 0
		for range 200 {
			c := mat.NewDense(k, k, nil)
			for i := range k {
				for l := range k {
					c.Set(i, l, r.NormFloat64()/math.Sqrt(n))
				}
			}
			switch a := dependence(c, n); {
			case a == 0:
				none++
			case a > 0.7:
				t.Errorf("%g rows: a = %.2f of noise", n, a)
			}
		}
		if none < 180 {
			t.Errorf("%g rows: a > 0 in %d of 200 samples of noise", n, 200-none)
		}
	}
	for _, at := range []int{0, 3, 7, 18} {
		before := 0.0
		for _, n := range []float64{10, 100, 1000, 1e4, 1e5} {
			c := mat.NewDense(k, k, nil)
			c.Set(at, at, 0.3)
			a := dependence(c, n)
			if a < before {
				t.Errorf("function %d: a = %g of %g rows, and %g of fewer", at, a, n, before)
			}
			before = a
		}
		if before != 1 {
			t.Errorf("function %d: a = %g of many rows", at, before)
		}
	}
}
