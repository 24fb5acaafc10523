package linalg

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
)

// Map is a block on the diagonal of a block diagonal matrix that need not be square: its Rows from
// From on, its Columns from To on.
type Map struct {
	From, Rows  int
	To, Columns int
	Z           *mat.Dense // Rows x Columns; nil: the identity below First rows of zeros
	First       int
	Turned      bool // Z is given as its transpose
}

// Reduce is Z'sZ for the block diagonal Z of maps in order, which cover s and the result. Of s the
// upper triangle is read; that of the result is made.
func Reduce(s *mat.SymDense, maps []Map) *mat.SymDense {
	last := maps[len(maps)-1]
	n := last.To + last.Columns
	out := Triangle(n)
	to := out.RawSymmetric()
	parts, maps := make([]part, len(maps)), slices.Clone(maps)
	for j := range maps {
		if m := &maps[j]; m.Rows > 0 && m.Columns > 0 {
			parts[j] = m.part()
		}
	}
	var memory pool
	parallel(len(maps), n*n*n/max(1, len(maps)), func(first, end int) {
		for i := first; i < end; i++ {
			if m := maps[i]; m.Rows > 0 && m.Columns > 0 {
				reduceRows(to.Data[m.To*to.Stride:], to.Stride, s, maps[i:], parts[i:], &memory)
			}
		}
	})
	return out
}

// part is a Z as products take it. Without weights it leaves out rows before first, as a factor's
// contrasts to its first level do, or has columns of zeros before skip, as the transpose of those:
// column skip+i is that of row first+i.
type part struct {
	weights     *kernel.Weights[float64]
	first, skip int
}

// part is m's Z so. One that needs weights is turned back.
func (m *Map) part() part {
	switch {
	case m.Z == nil && m.Turned:
		return part{skip: m.First}
	case m.Z == nil:
		return part{first: m.First}
	}
	p, ok := chosen(m.Z)
	if m.Turned {
		if ok && m.Columns-p.first == m.Rows-p.skip {
			return part{first: p.skip, skip: p.first}
		}
		m.Z, m.Turned, ok = mat.DenseCopyOf(m.Z.T()), false, false
	}
	if ok {
		return p
	}
	return part{weights: kernel.Pack(m.Rows, m.Columns, Compact(m.Z), false)}
}

// Shift tells whether z is the identity below so many rows of zeros, and perhaps above others.
func Shift(z *mat.Dense) (rows int, ok bool) {
	p, ok := chosen(z)
	return p.first, ok && p.skip == 0
}

// chosen is z without weights, if it is such a matrix.
func chosen(z *mat.Dense) (p part, ok bool) {
	rows, columns := z.Dims()
	raw := z.RawMatrix()
	for p.first < rows && zero(raw.Data[p.first*raw.Stride:][:columns]) {
		p.first++
	}
	if p.first == rows {
		return p, false
	}
	p.skip = slices.IndexFunc(raw.Data[p.first*raw.Stride:][:columns], func(v float64) bool { return v != 0 })
	for i := p.first; i < rows; i++ {
		row, one := raw.Data[i*raw.Stride:][:columns], i-p.first+p.skip // where row i has its 1
		if one < columns {
			if row[one] != 1 || !zero(row[one+1:]) {
				return p, false
			}
			row = row[:one]
		}
		if !zero(row) {
			return p, false
		}
	}
	if rows-p.first < columns-p.skip {
		return p, false
	}
	return p, true
}

// zero tells whether all numbers are 0, of either sign.
func zero(row []float64) bool {
	for len(row) >= 8 {
		if r := (*[8]float64)(row); bits(r[0])|bits(r[1])|bits(r[2])|bits(r[3])|bits(r[4])|bits(r[5])|bits(r[6])|bits(r[7]) != 0 {
			return false
		}
		row = row[8:]
	}
	for _, v := range row {
		if v != 0 {
			return false
		}
	}
	return true
}

// bits are those of v's size.
func bits(v float64) uint64 { return math.Float64bits(v) << 1 }

// reduceRows makes the rows of the result that are the first map's, from its own block on the
// diagonal on.
func reduceRows(to []float64, ldt int, s *mat.SymDense, maps []Map, parts []part, memory *pool) {
	m, own, raw := maps[0], parts[0], s.RawSymmetric()
	// Z' of the rows, from the block's first column on: of those that are only chosen the upper
	// triangle serves.
	left, width, rows := raw.Data[(m.From+own.first)*raw.Stride+m.From:], raw.Stride, m.Columns-own.skip
	if own.weights != nil {
		width = raw.N - m.From
		left = memory.get(m.Columns * width)
		defer memory.put(left)
		leftTimes(left, m, s)
	}
	to = to[own.skip*ldt:]
	for j, o := range maps {
		if o.Rows == 0 || o.Columns == 0 {
			continue
		}
		p, columns := parts[j], left[o.From-m.From:]
		if p.weights != nil {
			p.weights.Mul(to[o.To:], ldt, columns, width, rows, nil)
			continue
		}
		EachRow(rows, func(i int) {
			from := 0
			if j == 0 {
				from = i // the diagonal's
			}
			copy(to[i*ldt+o.To+p.skip+from:i*ldt+o.To+o.Columns], columns[i*width+p.first+from:])
		})
	}
}

// leftTimes sets left to Z' of the first map's rows, from its own block on the diagonal on.
func leftTimes(left []float64, m Map, s *mat.SymDense) {
	raw, z := s.RawSymmetric(), m.Z.RawMatrix()
	width := raw.N - m.From
	clear(left)
	kernel.AddCross(left, width, z.Data, z.Stride, m.Columns, mirrored(s, m.From, m.Rows), m.Rows, m.Rows, m.Rows, nil)
	if rest := width - m.Rows; rest > 0 {
		kernel.AddCross(left[m.Rows:], width, z.Data, z.Stride, m.Columns, raw.Data[m.From*raw.Stride+m.From+m.Rows:], raw.Stride, rest, m.Rows, nil)
	}
}
