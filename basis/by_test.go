package basis

import (
	"math/rand/v2"
	"slices"
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
			none := slices.Index(z, 0) // a batch of which nothing is left
			one := mat.NewDense(1, plain.Dim(), nil)
			must(t, by.Eval(one, b.Slice(none, none+1)))
			if mat.Norm(one, 1) != 0 {
				t.Errorf("%T, few %v: not 0 times 0", u, few)
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

// TestByLevelsAreRows: smooths by a level of a factor are the smooth's rows where the level is, and zeros elsewhere, also
// in memory that held other rows.
func TestByLevelsAreRows(t *testing.T) {
	const n = 300
	r := rand.New(rand.NewPCG(3, 4))
	for _, levels := range []int{2, 3, 12} {
		batch := func() (*data.Batch, []int) {
			x, name, code := make([]float64, n), make([]string, n), make([]int, n)
			for i := range x {
				code[i] = i
				if i >= levels { // all levels occur
					code[i] = r.IntN(levels)
				}
				x[i], name[i] = r.NormFloat64(), string(rune('a'+code[i]))
			}
			b := data.NewBatch(n, 0)
			must(t, b.SetNumeric("x", x))
			index := make([]int32, n)
			var names []string
			for i, text := range name {
				at := slices.Index(names, text)
				if at < 0 {
					at, names = len(names), append(names, text)
				}
				index[i] = int32(at)
			}
			must(t, b.SetCodes("f", data.Codes{Index: index, Levels: names}))
			return b, code
		}
		b, code := batch()
		other, _ := batch()
		for _, u := range []Univariate{TP{K: 6}, CR{K: 6}, CC{K: 6}, PS{K: 8}, BS{K: 8}, CP{K: 8}} {
			plain := mustBuild(t, Smooth("x", u, nil), b)[0].Term
			for level, block := range mustBuild(t, Smooth("x", u, &SmoothOptions{By: "f"}), b) {
				got, want := mat.NewDense(n, plain.Dim(), nil), mat.NewDense(n, plain.Dim(), nil)
				must(t, block.Term.Eval(got, other))
				must(t, block.Term.Eval(got, b))
				must(t, plain.Eval(want, b))
				for i, c := range code {
					if c != level {
						clear(want.RawRowView(i))
					}
				}
				if !mat.Equal(got, want) {
					t.Errorf("%T, level %d of %d: other rows", u, level, levels)
				}
				one := mat.NewDense(1, plain.Dim(), nil) // of a level that the batch may not have
				must(t, block.Term.Eval(one, b.Slice(0, 1)))
				if !mat.Equal(one, want.Slice(0, 1, 0, plain.Dim())) {
					t.Errorf("%T, level %d of %d: another row alone", u, level, levels)
				}
				s, ok := block.Term.(decompose.ReusingTerm)
				if !ok {
					continue
				}
				columns, err := s.EvalSparse(other)
				must(t, err)
				columns, err = s.EvalSparseInto(columns, b)
				must(t, err)
				dense := mat.NewDense(n, plain.Dim(), nil)
				must(t, design.ToDense(dense, columns))
				if !mat.Equal(dense, want) {
					t.Errorf("%T, level %d of %d: other sparse rows", u, level, levels)
				}
			}
		}
	}
}
