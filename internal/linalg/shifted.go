package linalg

import (
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/kernel"
)

// Shifted is the symmetric matrix M - G C' - C G': products about a point in terms of those about 0, which
// may have zeros where the former have none. G nil: it is M.
type Shifted struct {
	M    *mat.SymDense // its upper triangle
	G, C []float64
}

// Sum is the upper triangle of the matrix, in the memory of M.
func (s Shifted) Sum() *mat.SymDense {
	if s.G == nil {
		return s.M
	}
	raw := s.M.RawSymmetric()
	EachRow(raw.N, func(i int) {
		row := raw.Data[i*raw.Stride+i : i*raw.Stride+raw.N]
		kernel.Axpy(row, s.C[i:], -s.G[i])
		kernel.Axpy(row, s.G[i:], -s.C[i])
	})
	return s.M
}
