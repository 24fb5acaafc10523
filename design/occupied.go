package design

import (
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// A smooth by the levels of a factor is 0 in the rows of the other levels, which products leave out: they
// would add zeros.

// occupied are the rows that are not 0, some of all.
// They are no kind of columns: smooths by levels are evaluated as other smooths are, and whoever
// multiplies leaves rows out. Where columns are few the zeros cost less than to leave them out.
type occupied struct {
	set  []uint64 // row i is bit i%64 of number i/64
	rows []int32
	// These rows next to each other: that of these which belongs to the columns.
	band    Banded
	sparse  Sparse
	product Product
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
	if o := x.memory; o.find(len(x.First), x.Value, x.K) {
		pickBand(&o.band, x, o.rows)
		x.occupied = o
	}
}

// Leading is the first n rows of x, in x's memory, Arrange's included.
func (x *Banded) Leading(n int) *Banded {
	if x.memory == nil {
		x.memory = &occupied{}
	}
	return &Banded{D: x.D, K: x.K, Cyclic: x.Cyclic, First: x.First[:n], Value: x.Value[:n*x.K], memory: x.memory}
}

// find reports false if all of n rows of k values are occupied, as far as a look at the first of them tells: those of
// most bases are.
func (o *occupied) find(n int, value []float64, k int) bool {
	o.set, o.rows = slices.Grow(o.set[:0], (n+63)/64), o.rows[:0]
	for lo := 0; lo < n; lo += 64 {
		word, full := uint64(0), min(64, n-lo)
		for i := range full {
			word |= uint64(some(value[(lo+i)*k:(lo+i+1)*k])) << i
		}
		if lo == 0 && bits.OnesCount64(word) == full {
			return false
		}
		o.set = append(o.set, word)
	}
	o.each(func(i int) { o.rows = append(o.rows, int32(i)) })
	return n > 0
}

// pickBand copies rows of x.
func pickBand(to, x *Banded, rows []int32) {
	n := len(rows)
	to.D, to.K, to.Cyclic = x.D, x.K, x.Cyclic
	to.First, to.Value = grown(to.First, n), grown(to.Value, n*x.K)
	for l, i := range rows {
		to.First[l] = x.First[i]
		copy(to.Value[l*x.K:][:x.K], x.Value[int(i)*x.K:])
	}
}

// pickSparse copies rows of x.
func pickSparse(to, x *Sparse, rows []int32) {
	n := len(rows)
	to.D, to.K = x.D, x.K
	to.Index, to.Value = grown(to.Index, n*x.K), grown(to.Value, n*x.K)
	for l, i := range rows {
		copy(to.Index[l*x.K:][:x.K], x.of(i))
		copy(to.Value[l*x.K:][:x.K], x.Value[int(i)*x.K:])
	}
}

// pickProduct copies rows of x.
func pickProduct(to, x *Product, rows []int32) {
	if to.A == nil {
		to.A, to.B = &Banded{}, &Banded{}
	}
	to.arranged, to.current = nil, false
	pickBand(to.A, x.A, rows)
	pickBand(to.B, x.B, rows)
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

// some is 1 if one of a row's values is not 0, else 0, without a branch on one: nobody could tell
// beforehand which rows are of a factor's level.
func some(row []float64) int32 {
	any := uint64(0)
	for _, v := range row {
		any |= math.Float64bits(v) << 1 // no sign
	}
	return int32((any | -any) >> 63)
}

// Occupied is how many rows of a are not 0; of codes all of them. The columns must pass Check.
func Occupied(a Columns) int {
	n, d := a.Dims()
	var value []float64
	stride := 0
	switch x := a.(type) {
	case Dense:
		m := x.RawMatrix()
		value, stride = m.Data, m.Stride
	case *Banded:
		value, d, stride = x.Value, x.K, x.K
	case *Sparse:
		value, d, stride = x.Value, x.K, x.K
	case *Product: // splines sum to 1 but for what they are multiplied with
		value, d, stride = x.A.Value, x.A.K, x.A.K
	default:
		return n
	}
	count := int32(0)
	for i := range n {
		count += some(value[i*stride:][:d])
	}
	return int(count)
}

// occupiedOf are the rows of columns that are not 0, and their copies; nil: all, or nobody arranged them.
func occupiedOf(a Columns) (*occupied, Columns) {
	switch x := a.(type) {
	case *Banded:
		if o := x.occupied; o != nil {
			return o, &o.band
		}
	case *Sparse:
		if o := x.occupied; o != nil {
			return o, &o.sparse
		}
	case *Product:
		if o := x.A.occupied; o != nil {
			return o, &o.product
		}
	}
	return nil, nil
}

// none tells that there are no such rows.
func (o *occupied) none() bool { return o != nil && len(o.rows) == 0 }

// picked are some of the rows of the operands of a product, in memory of its own.
type picked struct {
	codes   Codes
	banded  Banded
	sparse  Sparse
	product Product
	dense   []float64
	weights []float64
}

// withoutZeros are the rows of a, b and w that may have products, as far as Arrange found some that have none;
// false: no row has. Cells have no others.
func (p *picked) withoutZeros(a, b Columns, w []float64) (Columns, Columns, []float64, bool) {
	first, ofFirst := occupiedOf(a)
	second, ofSecond := occupiedOf(b)
	_, dense := b.(Dense)
	switch {
	case first == nil && second == nil:
		return a, b, w, true
	case first.none() || second.none():
		return a, b, w, false
	case arranged(a) != nil && (a == b || dense):
		return a, b, w, true
	case a == b:
		return ofFirst, ofFirst, p.of(w, first.rows), true
	case first != nil && second != nil && apart(first.set, second.set):
		return a, b, w, false
	case second == nil || first != nil && len(first.rows) <= len(second.rows):
		return ofFirst, p.rows(b, first.rows), p.of(w, first.rows), true
	}
	return p.rows(a, second.rows), ofSecond, p.of(w, second.rows), true
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
		pickBand(&p.banded, x, rows)
		return &p.banded
	case *Sparse:
		pickSparse(&p.sparse, x, rows)
		return &p.sparse
	case *Product:
		pickProduct(&p.product, x, rows)
		return &p.product
	}
	m := x.(Dense).RawMatrix()
	p.dense = grown(p.dense, n*m.Cols)
	gather(p.dense, m.Cols, m, rows)
	return Dense{mat.NewDense(n, m.Cols, p.dense)}
}
