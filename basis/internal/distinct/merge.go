package distinct

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/internal/base/wire"
)

// Merge adds the points of other rows, collected under the same limit. The result, counts included, is that of
// one collection of all rows.
func (p *Points) Merge(next *Points) error {
	if p.D != next.D || p.Limit != next.Limit {
		return fmt.Errorf("points of %d and %d columns, at most %d and %d of them, do not merge", p.D, next.D, p.Limit, next.Limit)
	}
	p.prune()
	next.prune()
	p.sampled = p.sampled || next.sampled
	p.maxHash = min(p.maxHash, next.maxHash)
	p.Rows += next.Rows
	for i, n := range next.Count {
		x, h := next.X[i*p.D:(i+1)*p.D], next.hash[i]
		if h > p.maxHash {
			continue
		}
		before := len(p.Count)
		at := p.Number(x)
		p.Count[at] += n
		if len(p.Count) > before {
			p.hash = append(p.hash, h)
		}
	}
	p.prune()
	return nil
}

// Append writes the points for ReadPoints: equal collections give equal bytes.
func (p *Points) Append(b []byte) []byte {
	p.Sort()
	b = wire.AppendInt(wire.AppendInt(wire.AppendInt(b, p.D), p.Limit), p.Rows)
	b = wire.AppendBool(b, p.sampled)
	b = wire.AppendInt(b, len(p.Count))
	for _, n := range p.Count {
		b = wire.AppendInt(b, n)
	}
	return wire.AppendNumbers(b, p.X)
}

// maxColumns bounds the columns of points that are read.
const maxColumns = 1 << 10

// ReadPoints reads what Append wrote.
func ReadPoints(r *wire.Reader) *Points {
	d := r.AtMost(maxColumns)
	p := NewPoints(d, r.NonNegative())
	p.Rows = int64(r.NonNegative())
	p.sampled = r.Bool()
	n := r.Count(8 * (1 + d))
	if n > p.Limit || p.sampled && n < p.Limit {
		r.Fail("%d points are kept, at most %d of them", n, p.Limit)
		return p
	}
	p.Count = make([]int64, n)
	sum := int64(0)
	for i := range p.Count {
		p.Count[i] = int64(r.AtMost(int(p.Rows - sum)))
		if sum += p.Count[i]; p.Count[i] == 0 {
			r.Fail("a point that did not occur is kept")
		}
	}
	p.X = make([]float64, n*d)
	for i := range p.X {
		p.X[i] = number(r)
	}
	if r.Err() != nil {
		return NewPoints(d, p.Limit)
	}
	for i := range n {
		if i > 0 && p.compare(i-1, i) >= 0 {
			r.Fail("the points are not in order")
			return p
		}
	}
	p.rehash()
	return p
}

// rehash finds again what is not written: the hashes and the index.
func (p *Points) rehash() {
	order := make([]int, len(p.Count))
	p.hash = make([]uint64, len(p.Count))
	greatest := uint64(0)
	for i := range order {
		order[i] = i
		h := uint64(p.D)
		for _, v := range p.X[i*p.D : (i+1)*p.D] {
			h = hashed(h, v)
		}
		p.hash[i], greatest = h, max(greatest, h)
	}
	if p.sampled {
		p.maxHash = greatest
	}
	p.keep(order)
}

// number reads a finite number, which is not -0.
func number(r *wire.Reader) float64 {
	v := r.Float()
	if math.IsNaN(v) || math.IsInf(v, 0) || v == 0 && math.Signbit(v) {
		r.Fail("a value is %v", v)
	}
	return v
}

// Merge adds the values of other rows, collected alike. It keeps what one collection of all rows
// would keep.
func (v *Values) Merge(next *Values) error {
	if v.Limit != next.Limit || v.Few != next.Few || (v.Points == nil) != (next.Points == nil) {
		return fmt.Errorf("collections of %d and %d values do not merge: they are collected differently", v.Limit, next.Limit)
	}
	if next.Rows > 0 {
		if v.Rows == 0 {
			v.Min, v.Max = math.Inf(1), math.Inf(-1)
		}
		v.Min, v.Max = min(v.Min, next.Min), max(v.Max, next.Max)
	}
	v.Rows += next.Rows
	switch {
	case v.Points != nil:
		return v.Points.Merge(next.Points)
	case v.Few:
		v.full = v.full || next.full
		for _, a := range next.kept {
			v.keep(a)
		}
		if v.full {
			v.kept = nil
		}
		return nil
	}
	v.merge()
	next.merge()
	v.pending = append(v.pending, next.kept...)
	for v.zeros < next.zeros {
		v.more()
	}
	v.pending = slices.DeleteFunc(v.pending, func(a float64) bool { return !v.chosen(a) })
	v.merge()
	return nil
}

// The ways to collect values, as they are written.
const (
	allValues = iota
	fewValues
	countedValues
)

// Append writes the values for ReadValues: equal collections give equal bytes.
func (v *Values) Append(b []byte) []byte {
	v.merge()
	way := allValues
	switch {
	case v.Points != nil:
		way = countedValues
	case v.Few:
		way = fewValues
	}
	b = wire.AppendInt(wire.AppendInt(b, way), v.Limit)
	b = wire.AppendInt(b, v.Rows)
	if v.Rows > 0 {
		b = wire.AppendFloat(wire.AppendFloat(b, v.Min), v.Max)
	}
	switch way {
	case countedValues:
		return v.Points.Append(b)
	case fewValues:
		b = wire.AppendBool(b, v.full)
	default:
		b = wire.AppendInt(b, int(v.zeros))
	}
	return wire.AppendFloats(b, v.kept)
}

// ReadValues reads what Append wrote.
func ReadValues(r *wire.Reader) Values {
	way := r.AtMost(countedValues)
	v := Values{Limit: r.NonNegative(), Few: way == fewValues, Rows: int64(r.NonNegative())}
	if v.Rows > 0 {
		if v.Min, v.Max = number(r), number(r); v.Min > v.Max {
			r.Fail("a range from %v to %v", v.Min, v.Max)
		}
	}
	if way == countedValues {
		v.Points = ReadPoints(r)
		return v
	}
	if way == fewValues {
		v.full = r.Bool()
	} else {
		v.zeros = uint(r.AtMost(64))
	}
	v.kept = r.Increasing()
	if len(v.kept) > v.Limit || v.full && len(v.kept) > 0 {
		r.Fail("%d values are kept, at most %d of them", len(v.kept), v.Limit)
	}
	for _, a := range v.kept {
		if math.IsInf(a, 0) || way == allValues && !v.chosen(a) {
			r.Fail("the value %v is kept, which the hash does not choose", a)
			break
		}
	}
	return v
}
