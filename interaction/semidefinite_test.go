package interaction

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// solved is solve of each column, and trace the sum of the diagonal, also of a matrix that has
// not the full rank.
func TestSolvedIsSolveOfEachColumn(t *testing.T) {
	const n, rank, columns = 9, 6, 5
	u := uniform(5)
	root, b := mat.NewDense(n, rank, nil), mat.NewDense(n, columns, nil)
	for i := range n {
		for j := range rank {
			root.Set(i, j, u.normal())
		}
		for j := range columns {
			b.Set(i, j, u.normal())
		}
	}
	var a mat.Dense
	a.Mul(root, root.T())
	reference := make([]float64, n)
	for i := range reference {
		reference[i] = a.At(i, i)
	}
	f := factorised(dense(&a), n, reference, tolerance)
	if f.rank() != rank {
		t.Fatalf("rank %d, want %d", f.rank(), rank)
	}
	rows := mat.NewDense(rank, columns, nil)
	for i, at := range f.kept {
		rows.SetRow(i, b.RawRowView(at))
	}
	got := f.solved(rows)
	for j := range columns {
		for i, want := range f.solve(mat.Col(nil, j, b)) {
			if math.Abs(got.At(i, j)-want) > 1e-12*(1+math.Abs(want)) {
				t.Errorf("row %d of column %d: %v, want %v", i, j, got.At(i, j), want)
			}
		}
	}
	if got := f.trace(dense(&a), n); math.Abs(got-rank) > 1e-10 {
		t.Errorf("tr(A^-A) = %v, want the rank %d", got, rank)
	}
}
