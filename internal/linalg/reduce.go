package linalg

import (
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/kernel"
)

// Map is a block on the diagonal of a block diagonal matrix that need not be square: its Rows from
// From on, its Columns from To on.
type Map struct {
	From, Rows  int
	To, Columns int
	Z           *mat.Dense // Rows x Columns; nil: the identity
}

// Reduce is Z'sZ for the block diagonal Z of maps in order, which cover s and the result. Of s the
// upper triangle is read; that of the result is made.
func Reduce(s *mat.SymDense, maps []Map) *mat.SymDense {
	last := maps[len(maps)-1]
	n := last.To + last.Columns
	out := mat.NewSymDense(n, nil)
	from, to := s.RawSymmetric(), out.RawSymmetric()
	packed := make([]*kernel.Weights[float64], len(maps))
	for j, m := range maps {
		if m.Z != nil && m.Rows > 0 && m.Columns > 0 {
			packed[j] = kernel.Pack(m.Rows, m.Columns, Compact(m.Z), false)
		}
	}
	parallel(len(maps), n*n*n/max(1, len(maps)), func(first, end int) {
		for i := first; i < end; i++ {
			if m := maps[i]; m.Rows > 0 && m.Columns > 0 {
				reduceRows(to.Data[m.To*to.Stride:], to.Stride, from.Data[m.From*from.Stride:], from.Stride, from.N, maps[i:], packed[i:], mirrored(s, m.From, m.Rows))
			}
		}
	})
	return out
}

// reduceRows makes the rows of the result that are the first map's, from its own block on the
// diagonal on, from the rows of s that are; own is that block of s, both triangles.
func reduceRows(to []float64, ldt int, from []float64, ldf, n int, maps []Map, packed []*kernel.Weights[float64], own []float64) {
	m := maps[0]
	width := n - m.From
	left := make([]float64, m.Columns*width) // Z' of the rows
	if m.Z == nil {
		for i := range m.Rows {
			copy(left[i*width:], own[i*m.Rows:(i+1)*m.Rows])
			copy(left[i*width+m.Rows:(i+1)*width], from[i*ldf+m.From+m.Rows:])
		}
	} else {
		z := m.Z.RawMatrix()
		kernel.AddCross(left, width, z.Data, z.Stride, m.Columns, own, m.Rows, m.Rows, m.Rows, nil)
		if rest := width - m.Rows; rest > 0 {
			kernel.AddCross(left[m.Rows:], width, z.Data, z.Stride, m.Columns, from[m.From+m.Rows:], ldf, rest, m.Rows, nil)
		}
	}
	for j, o := range maps {
		if o.Rows == 0 || o.Columns == 0 {
			continue
		}
		part := left[o.From-m.From:]
		if o.Z != nil {
			packed[j].Mul(to[o.To:], ldt, part, width, m.Columns, nil)
			continue
		}
		for i := range m.Columns {
			copy(to[i*ldt+o.To:i*ldt+o.To+o.Columns], part[i*width:])
		}
	}
}
