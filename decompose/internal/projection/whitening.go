package projection

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// whitening holds the eigenvalues of A, increasing, and its eigenvectors divided by
// their roots.
type whitening struct {
	values  []float64
	columns *mat.Dense
}

func whiten(a *mat.SymDense) whitening {
	n := a.SymmetricDim()
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		return whitening{values: make([]float64, n), columns: mat.NewDense(n, n, nil)}
	}
	w := whitening{values: e.Values(nil), columns: new(mat.Dense)}
	e.VectorsTo(w.columns)
	for i := range n {
		row := w.columns.RawRowView(i)
		for l, v := range w.values {
			if v > 0 {
				row[l] /= math.Sqrt(v)
			}
		}
	}
	return w
}

// above returns W with W W' = A^+, of the directions above a rank tolerance.
func (w whitening) above(tolerance float64) mat.Matrix {
	n := len(w.values)
	first := 0
	for first < n && !(w.values[first] > tolerance*tolerance*w.values[n-1]) {
		first++
	}
	if first == n {
		return mat.NewDense(n, 1, nil)
	}
	return w.columns.Slice(0, n, first, n)
}
