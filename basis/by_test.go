package basis

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/design"
)

// TestByMultipliesRows: smooths that are multiplied with numbers, of which few or many are not 0, are the rows of the smooth
// times these.
func TestByMultipliesRows(t *testing.T) {
	const n = 200
	r := rand.New(rand.NewPCG(8, 9))
	for _, few := range []bool{true, false} {
		x, z := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
			if few == (r.IntN(12) == 0) {
				z[i] = r.NormFloat64()
			}
		}
		table := data.NewTable(n)
		must(t, table.AddNumeric("x", x))
		must(t, table.AddNumeric("z", z))
		var b *data.Batch
		for all, err := range table.Batches(t.Context(), []string{"x", "z"}) {
			must(t, err)
			b = all
		}
		for _, u := range []Univariate{TP{K: 6}, CR{K: 6}, CC{K: 6}, PS{K: 8}, BS{K: 8}, CP{K: 8}} {
			plain := mustBuild(t, Smooth("x", u, nil), b)[0].Term
			by := mustBuild(t, Smooth("x", u, &SmoothOptions{By: "z"}), b)[0].Term
			got, want := mat.NewDense(n, plain.Dim(), nil), mat.NewDense(n, plain.Dim(), nil)
			got.Set(0, 0, 3) // of another call
			must(t, by.Eval(got, b))
			must(t, plain.Eval(want, b))
			for i, v := range z {
				for j := range plain.Dim() {
					want.Set(i, j, v*want.At(i, j))
				}
			}
			if !mat.EqualApprox(got, want, 1e-13) {
				t.Errorf("%T, few %v: other rows", u, few)
			}
			if s, ok := by.(decompose.SparseTerm); ok {
				columns, err := s.EvalSparse(b)
				must(t, err)
				dense := mat.NewDense(n, plain.Dim(), nil)
				must(t, design.ToDense(dense, columns))
				if !mat.EqualApprox(dense, want, 1e-13) {
					t.Errorf("%T, few %v: other sparse rows", u, few)
				}
			}
		}
	}
}
