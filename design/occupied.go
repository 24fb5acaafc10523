package design

import (
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/kernel"
)

// A smooth by the levels of a factor is 0 in the rows of the other levels, which products leave out: they
// would add zeros.

// occupied are the rows of a band of four entries that are not 0.
type occupied struct {
	set  []uint64 // row i is bit i%64 of number i/64
	rows []int32
	band Banded // these rows next to each other
}

// Arrange finds the rows that are not 0, if there are others. It changes no entry, and holds until an entry
// is changed: then Arrange must be called again. The columns must pass Check.
func (x *Banded) Arrange() {
	x.occupied = nil
	if !cubic(x) {
		return
	}
	if x.memory == nil {
		x.memory = &occupied{}
	}
	if x.memory.find(x) {
		x.memory.pick(x)
		x.occupied = x.memory
	}
}

// Leading is the first n rows of x, in x's memory, Arrange's included.
func (x *Banded) Leading(n int) *Banded {
	if x.memory == nil {
		x.memory = &occupied{}
	}
	return &Banded{D: x.D, K: x.K, Cyclic: x.Cyclic, First: x.First[:n], Value: x.Value[:n*x.K], memory: x.memory}
}

// find reports false if all rows are occupied, as far as a look at the first of them tells: those of most bases are.
func (o *occupied) find(x *Banded) bool {
	n := len(x.First)
	o.set = slices.Grow(o.set[:0], (n+63)/64)
	for lo := 0; lo < n; lo += 64 {
		word, full := uint64(0), min(64, n-lo)
		for i := range full {
			word |= uint64(some(x.Value, lo+i)) << i
		}
		if lo == 0 && bits.OnesCount64(word) == full {
			return false
		}
		o.set = append(o.set, word)
	}
	return n > 0
}

// pick copies the rows.
func (o *occupied) pick(x *Banded) {
	o.rows = o.rows[:0]
	o.each(func(i int) { o.rows = append(o.rows, int32(i)) })
	o.band.resize(len(o.rows), x.D)
	o.band.Cyclic = x.Cyclic
	for l, i := range o.rows {
		o.band.First[l] = x.First[i]
		*(*[kernel.Band]float64)(o.band.Value[kernel.Band*l:]) = *(*[kernel.Band]float64)(x.Value[kernel.Band*i:])
	}
}

// each calls f for the rows in order.
func (o *occupied) each(f func(i int)) {
	for at, word := range o.set {
		for ; word != 0; word &= word - 1 {
			f(64*at + bits.TrailingZeros64(word))
		}
	}
}

// apart tells whether two sets have nothing in common.
func apart(a, b []uint64) bool {
	both := uint64(0)
	for i, word := range a {
		both |= word & b[i]
	}
	return both == 0
}

// some is 1 if one of row i's entries is not 0, else 0, without a branch: nobody could tell
// beforehand which rows are of a factor's level.
func some(value []float64, i int) int32 {
	v := (*[kernel.Band]float64)(value[kernel.Band*i:])
	bits := (math.Float64bits(v[0]) | math.Float64bits(v[1]) | math.Float64bits(v[2]) | math.Float64bits(v[3])) << 1 // no signs
	return int32((bits | -bits) >> 63)
}

// occupiedOf are the rows of columns that are not 0; nil: all, or nobody arranged them.
func occupiedOf(a Columns) *occupied {
	if x, ok := a.(*Banded); ok {
		return x.occupied
	}
	return nil
}

// none tells that there are no such rows.
func (o *occupied) none() bool { return o != nil && len(o.rows) == 0 }

// picked are some of the rows of the operands of a product, in memory of its own.
type picked struct {
	codes   Codes
	banded  Banded
	dense   []float64
	weights []float64
}

// withoutZeros are the rows of a, b and w that may have products, as far as Arrange found some that have none;
// false: no row has.
func (p *picked) withoutZeros(a, b Columns, w []float64) (Columns, Columns, []float64, bool) {
	first, second := occupiedOf(a), occupiedOf(b)
	switch {
	case first == nil && second == nil:
		return a, b, w, true
	case first.none() || second.none():
		return a, b, w, false
	case a == b:
		return &first.band, &first.band, p.of(w, first.rows), true
	case first != nil && second != nil && apart(first.set, second.set):
		return a, b, w, false
	case second == nil || first != nil && len(first.rows) <= len(second.rows):
		if other := p.rows(b, first.rows); other != nil {
			return &first.band, other, p.of(w, first.rows), true
		}
	default:
		if other := p.rows(a, second.rows); other != nil {
			return other, &second.band, p.of(w, second.rows), true
		}
	}
	return a, b, w, true
}

// of are the weights of some rows; nil if w is.
func (p *picked) of(w []float64, rows []int32) []float64 {
	if w == nil {
		return nil
	}
	p.weights = grown(p.weights, len(rows))
	for l, i := range rows {
		p.weights[l] = w[i]
	}
	return p.weights
}

// rows are some rows of x; nil: such columns are not picked from.
func (p *picked) rows(x Columns, rows []int32) Columns {
	n := len(rows)
	switch x := x.(type) {
	case *Codes:
		p.codes = Codes{D: x.D, Code: grown(p.codes.Code, n), Value: p.codes.Value}
		for l, i := range rows {
			p.codes.Code[l] = x.Code[i]
		}
		if x.Value == nil {
			return &Codes{D: x.D, Code: p.codes.Code}
		}
		p.codes.Value = grown(p.codes.Value, n)
		for l, i := range rows {
			p.codes.Value[l] = x.Value[i]
		}
		return &p.codes
	case *Banded:
		p.banded = Banded{D: x.D, K: x.K, Cyclic: x.Cyclic, First: grown(p.banded.First, n), Value: grown(p.banded.Value, n*x.K)}
		for l, i := range rows {
			p.banded.First[l] = x.First[i]
			copy(p.banded.Value[l*x.K:][:x.K], x.Value[int(i)*x.K:])
		}
		return &p.banded
	case Dense:
		_, d := x.Dims()
		p.dense = grown(p.dense, n*d)
		gather(p.dense, d, x.RawMatrix(), rows)
		return Dense{mat.NewDense(n, d, p.dense)}
	}
	return nil
}
