package projection

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Pairs that are passed over without eigenvalues are those of which the largest share
// is small: it is the largest eigenvalue of A_11^-1 A_12 A_22^-1 A_21.
func TestApart(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	const rows, own, others = 60, 3, 4
	var passed, shown int
	for try := range 200 {
		x := mat.NewDense(rows, own+others, nil)
		for i := range rows {
			for j := range own + others {
				x.Set(i, j, r.NormFloat64())
			}
			x.Set(i, 0, x.At(i, 0)+float64(try%9)/4*x.At(i, own)) // more and more alike
		}
		var corr mat.SymDense
		corr.SymOuterK(1./rows, x.T())
		between := mat.DenseCopyOf(&corr).Slice(0, own, own, own+others)
		a := newSpannable(corr.SliceSym(0, own).(*mat.SymDense), make([]float64, own), nil)
		b := newSpannable(corr.SliceSym(own, own+others).(*mat.SymDense), make([]float64, others), nil)

		var left, right, both mat.Dense
		if left.Solve(a.corr, between) != nil || right.Solve(b.corr, between.T()) != nil {
			t.Fatal("singular")
		}
		both.Mul(&left, &right)
		var eigen mat.Eigen
		if !eigen.Factorize(&both, mat.EigenNone) {
			t.Fatal("no eigenvalues")
		}
		worst := 0.0
		for _, v := range eigen.Values(nil) {
			worst = math.Max(worst, real(v))
		}
		switch {
		case !a.apart(b, between):
			shown++
			if worst < 0.8*concurvityShown { // n^(1/8) more at most, n the fewer columns
				t.Errorf("a share of %g at most, and the pair is looked at", worst)
			}
		case worst >= concurvityShown:
			t.Errorf("a share of %g is not looked at", worst)
		default:
			passed++
		}
	}
	if passed < 10 || shown < 10 {
		t.Errorf("%d pairs passed over and %d not: the test says nothing", passed, shown)
	}
}
