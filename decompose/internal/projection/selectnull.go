package projection

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/penalty"
)

// selectNull adds to t the penalty UU', U an orthonormal basis of what its
// penalties leave unpenalised (Marra and Wood 2011; Wood 2017, 5.4.3), in the
// constrained coordinates of t. Each penalty counts with unit norm, so that none
// is taken for zero next to another.
func selectNull(t *penalty.Component) error {
	if len(t.S) == 0 {
		return nil
	}
	total := mat.NewSymDense(t.Dim, nil)
	for _, s := range t.S {
		if norm := mat.Norm(s, 2); norm > 0 {
			var unit mat.SymDense
			unit.ScaleSym(1/norm, s)
			total.AddSym(total, &unit)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(total, true) {
		return errors.New("the eigendecomposition of its penalties did not converge")
	}
	values := eigen.Values(nil) // increasing
	const rounding = 1e-10      // of the largest eigenvalue
	null := 0
	for null < t.Dim && values[null] < rounding*math.Max(values[t.Dim-1], 0) {
		null++
	}
	if null == 0 {
		return nil
	}
	var u mat.Dense
	eigen.VectorsTo(&u)
	projector := mat.NewSymDense(t.Dim, nil)
	projector.SymOuterK(1, u.Slice(0, t.Dim, 0, null))
	// What was given for the term's own penalties stays theirs.
	if len(t.SP) == len(t.S) {
		t.SP = append(append([]float64(nil), t.SP...), -1)
	}
	if len(t.Link) == len(t.S) {
		t.Link = append(append([]string(nil), t.Link...), "")
	}
	t.S = append(t.S, projector)
	return nil
}
