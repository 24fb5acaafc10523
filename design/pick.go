package design

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Picked are some of the rows of columns: the memory of one goroutine, for one operand at a time.
type Picked struct {
	codes  Codes
	banded Banded
	dense  []float64
}

// Occupied are the rows of x that are not 0, in the memory of rows, where they are at most so many; false: they are
// more, or x has other than four entries in a row.
func Occupied(rows []int32, x *Banded, most int) ([]int32, bool) {
	if !cubic(x) {
		return rows[:0], false
	}
	rows = grown(rows, len(x.First))
	n := 0
	for i := range rows {
		rows[n] = int32(i)
		if n += int(some(x.Value, i)); n > most {
			return rows[:0], false
		}
	}
	return rows[:n], true
}

// Of are these rows of x, valid until the next call; false: they are not picked from such columns.
func (p *Picked) Of(x Columns, rows []int32) (Columns, bool) {
	switch x := x.(type) {
	case *Codes:
		p.codes = Codes{D: x.D, Code: p.codes.Code[:0], Value: p.codes.Value[:0]}
		for _, i := range rows {
			p.codes.Code = append(p.codes.Code, x.Code[i])
		}
		if x.Value == nil {
			own := p.codes
			own.Value = nil
			return &own, true
		}
		for _, i := range rows {
			p.codes.Value = append(p.codes.Value, x.Value[i])
		}
		return &p.codes, true
	case *Banded:
		p.banded = Banded{D: x.D, K: x.K, Cyclic: x.Cyclic, First: p.banded.First[:0], Value: p.banded.Value[:0]}
		for _, i := range rows {
			p.banded.First = append(p.banded.First, x.First[i])
			p.banded.Value = append(p.banded.Value, x.Value[int(i)*x.K:][:x.K]...)
		}
		return &p.banded, true
	case Dense:
		_, d := x.Dims()
		p.dense = slices.Grow(p.dense[:0], len(rows)*d)[:len(rows)*d]
		gather(p.dense, d, x.RawMatrix(), rows)
		return Dense{mat.NewDense(len(rows), d, p.dense)}, true
	}
	return nil, false
}
