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

// diagonalOf is the diagonal of s if all else is zero.
func diagonalOf(s mat.Symmetric) ([]float64, bool) {
	if _, ok := s.(*mat.DiagDense); ok {
		return linalg.Diagonal(s), true
	}
	n, raw := s.SymmetricDim(), linalg.Dense(s).RawSymmetric()
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

// sizes are the absolute values on the diagonal of s and its Frobenius norm.
func sizes(s mat.Symmetric) (size []float64, norm float64) {
	size = linalg.Diagonal(s)
	if _, ok := s.(*mat.DiagDense); ok {
		norm = diagonalNorm(size)
	} else {
		norm = frobenius(linalg.Dense(s))
	}
	for i, v := range size {
		size[i] = math.Abs(v)
	}
	return size, norm
}

func diagonalNorm(diag []float64) float64 {
	sum := 0.0
	for _, v := range diag {
		sum += v * v
	}
	if sum > 1e-200 && sum < 1e200 {
		return math.Sqrt(sum)
	}
	return floats.Norm(diag, 2) // which neither overflows nor underflows
}
