package penalty

import (
	"math"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// Penalties of many levels are diagonal: as matrices they are mostly zeros, which take longer to be looked
// through and copied than all that is done with the others.

// Matrix is penalty j of t, also where it is given by its diagonal.
func (t *Component) Matrix(j int) *mat.SymDense {
	if diag := t.given(j); diag != nil {
		return matrixOf(diag)
	}
	return t.S[j]
}

// given is Diagonal[j]; nil: there is none.
func (t *Component) given(j int) []float64 {
	if t.Diagonal == nil {
		return nil
	}
	return t.Diagonal[j]
}

// diagonal is that of penalty j if all else is zero, not to be written to.
func (t *Component) diagonal(j int) ([]float64, bool) {
	if diag := t.given(j); diag != nil {
		return diag, true
	}
	return diagonalOf(t.S[j])
}

// sizes are the absolute values on the diagonal of penalty j and its Frobenius norm.
func (t *Component) sizes(j int) (size []float64, norm float64) {
	size = make([]float64, t.Dim)
	if diag := t.given(j); diag != nil {
		sum := 0.0
		for i, v := range diag {
			size[i] = math.Abs(v)
			sum += v * v
		}
		if sum > 1e-200 && sum < 1e200 {
			return size, math.Sqrt(sum)
		}
		return size, floats.Norm(diag, 2) // which neither overflows nor underflows
	}
	for i := range size {
		size[i] = math.Abs(t.S[j].At(i, i))
	}
	return size, frobenius(t.S[j])
}

// ScaleDiagonal is Scale of the diagonal of s if all else is zero.
func ScaleDiagonal(s *mat.SymDense, maxRowNorm float64) (scaled []float64, factor float64, ok bool) {
	if scaled, ok = diagonalOf(s); !ok {
		return nil, 0, false
	}
	scaled, factor = scaledDiagonal(scaled, maxRowNorm)
	return scaled, factor, true
}

// scaledDiagonal is Scale of the matrix with this diagonal, in its memory.
func scaledDiagonal(diag []float64, maxRowNorm float64) (scaled []float64, factor float64) {
	norm := 0.0
	for _, v := range diag {
		norm = math.Max(norm, math.Abs(v))
	}
	factor = scaleBy(norm, maxRowNorm)
	for i := range diag {
		diag[i] *= factor
	}
	return diag, factor
}

// diagonalOf is the diagonal of s if all else is zero.
func diagonalOf(s *mat.SymDense) ([]float64, bool) {
	n, raw := s.SymmetricDim(), s.RawSymmetric()
	diag := make([]float64, n)
	var other atomic.Bool
	linalg.EachRow(n, func(i int) {
		if other.Load() {
			return
		}
		row := raw.Data[i*raw.Stride+i : i*raw.Stride+n]
		diag[i] = row[0]
		for _, v := range row[1:] {
			if v != 0 {
				other.Store(true)
				return
			}
		}
	})
	return diag, !other.Load()
}

// matrixOf has this diagonal and zeros.
func matrixOf(diag []float64) *mat.SymDense {
	s := mat.NewSymDense(len(diag), nil)
	for i, v := range diag {
		s.SetSym(i, i, v)
	}
	return s
}
