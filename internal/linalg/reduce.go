package linalg

import (
	"slices"

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
	right := make([]columnsOf, len(maps))
	for j, m := range maps {
		if m.Z != nil && m.Rows > 0 && m.Columns > 0 {
			right[j] = newColumnsOf(m.Z)
		}
	}
	parallel(len(maps), n*n*n/max(1, len(maps)), func(first, end int) {
		for i := first; i < end; i++ {
			if m := maps[i]; m.Rows > 0 && m.Columns > 0 {
				reduceRows(to.Data[m.To*to.Stride:], to.Stride, from.Data[m.From*from.Stride:], from.Stride, from.N, maps[i:], right[i:], s)
			}
		}
	})
	return out
}

// columnsOf is a Z that others are multiplied by.
type columnsOf struct {
	weights *kernel.Weights[float64]
	row     []int // if weights is nil: the row of each column's 1, -1 of one of zeros
}

func newColumnsOf(z *mat.Dense) columnsOf {
	if row := picked(z); row != nil {
		return columnsOf{row: row}
	}
	rows, columns := z.Dims()
	return columnsOf{weights: kernel.Pack(rows, columns, Compact(z), false)}
}

// picked finds the 1 of each column, -1 for a column of zeros, of a matrix that only leaves out or
// moves, as the contrasts of a factor do; nil of others.
func picked(z *mat.Dense) []int {
	raw := z.RawMatrix()
	row := slices.Repeat([]int{-1}, raw.Cols)
	for i := range raw.Rows {
		for j, v := range raw.Data[i*raw.Stride:][:raw.Cols] {
			switch {
			case v == 0:
			case v != 1 || row[j] >= 0:
				return nil
			default:
				row[j] = i
			}
		}
	}
	return row
}

// reduceRows makes the rows of the result that are the first map's, from its own block on the
// diagonal on, from the rows of s that are, which from holds.
func reduceRows(to []float64, ldt int, from []float64, ldf, n int, maps []Map, right []columnsOf, s *mat.SymDense) {
	m := maps[0]
	left, width := from[m.From:], ldf // Z' of the rows, from the block's first column on
	if m.Z != nil {
		left, width = leftTimes(m, right[0].row, mirrored(s, m.From, m.Rows), from, ldf, n), n-m.From
	}
	for j, o := range maps {
		if o.Rows == 0 || o.Columns == 0 {
			continue
		}
		part := left[o.From-m.From:]
		if w := right[j].weights; w != nil {
			w.Mul(to[o.To:], ldt, part, width, m.Columns, nil)
			continue
		}
		for i := range m.Columns {
			dst, src := to[i*ldt+o.To:i*ldt+o.To+o.Columns], part[i*width:]
			if o.Z == nil {
				copy(dst, src)
				continue
			}
			for l, row := range right[j].row {
				if row >= 0 {
					dst[l] = src[row]
				}
			}
		}
	}
}

// leftTimes is Z' of the rows that from holds, from the first map's own block on, of which own has
// both triangles; row is picked(Z).
func leftTimes(m Map, row []int, own, from []float64, ldf, n int) []float64 {
	width := n - m.From
	left := make([]float64, m.Columns*width)
	if row != nil {
		for i, at := range row {
			if at >= 0 {
				copy(left[i*width:], own[at*m.Rows:(at+1)*m.Rows])
				copy(left[i*width+m.Rows:(i+1)*width], from[at*ldf+m.From+m.Rows:])
			}
		}
		return left
	}
	z := m.Z.RawMatrix()
	kernel.AddCross(left, width, z.Data, z.Stride, m.Columns, own, m.Rows, m.Rows, m.Rows, nil)
	if rest := width - m.Rows; rest > 0 {
		kernel.AddCross(left[m.Rows:], width, z.Data, z.Stride, m.Columns, from[m.From+m.Rows:], ldf, rest, m.Rows, nil)
	}
	return left
}
