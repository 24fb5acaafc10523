package linalg

import (
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
)

// Shifted is the symmetric matrix M - G C' - C G': products about a point in terms of those about 0, which
// may have zeros where the former have none. G nil: it is M.
type Shifted struct {
	M    *mat.SymDense // its upper triangle; nil: that of Near
	Near *Near
	G, C []float64
}

// Near is a symmetric matrix with a band: of its entries in rows and columns [Lo, Hi), only those less than
// Width apart are not 0. They are few numbers next to those of the whole matrix if there are few other
// columns.
type Near struct {
	Lo, Hi, Width int
	Own           []float64  // entry (Lo+i, Lo+i+k) is number i Width + k
	Others        *mat.Dense // the whole rows of the other columns, in order; nil: there are none
}

// Columns are how many columns there are.
func (m *Near) Columns() int {
	if m.Others == nil {
		return m.Hi - m.Lo
	}
	return m.Others.RawMatrix().Cols
}

// Other is the column that row l of Others is of.
func (m *Near) Other(l int) int {
	if l < m.Lo {
		return l
	}
	return l + m.Hi - m.Lo
}

// At is entry (Lo+i, Lo+j).
func (m *Near) At(i, j int) float64 {
	i, j = min(i, j), max(i, j)
	if j-i >= m.Width {
		return 0
	}
	return m.Own[i*m.Width+j-i]
}

// full is the upper triangle of all of it.
func (m *Near) full() *mat.SymDense {
	p := m.Columns()
	out := Triangle(p)
	raw, others := out.RawSymmetric(), p-(m.Hi-m.Lo)
	for l := range others {
		j, row := m.Other(l), m.Others.RawRowView(l)
		copy(raw.Data[j*p+j:(j+1)*p], row[j:])
		for i := m.Lo; i < min(j, m.Hi); i++ {
			raw.Data[i*p+j] = row[i]
		}
	}
	for i := m.Lo; i < m.Hi; i++ {
		copy(raw.Data[i*p+i:i*p+m.Hi], m.Own[(i-m.Lo)*m.Width:][:m.Width])
	}
	return out
}

// Sum is the upper triangle of the matrix, in the memory of M if that is there.
func (s Shifted) Sum() *mat.SymDense {
	if s.M == nil {
		s.M = s.Near.full()
	}
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
