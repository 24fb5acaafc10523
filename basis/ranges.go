package basis

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/base/wire"
)

// ranges are those of columns of numbers.
type ranges struct {
	columns []string
	lo, hi  []float64 // lo above hi: no rows
}

func newRanges(variables []Variable) *ranges {
	r := &ranges{}
	for _, v := range variables {
		if !v.Factor {
			r.columns, r.lo, r.hi = append(r.columns, v.Column), append(r.lo, math.MaxFloat64), append(r.hi, -math.MaxFloat64)
		}
	}
	return r
}

func (r *ranges) scan(b *data.Batch) error {
	for l, name := range r.columns {
		column, err := b.Numeric(name)
		if err != nil {
			return err
		}
		for i, v := range column {
			if !finite(v) {
				return fmt.Errorf("column %q, data row %d: %v is no finite number", name, b.Row(i)+1, v)
			}
			r.lo[l], r.hi[l] = min(r.lo[l], v), max(r.hi[l], v)
		}
	}
	return nil
}

// farRanges: from so many of its ranges away from 0 on, a column and its product with another have no digits
// between them.
const farRanges = 10

// points are the middle of each range that is far from 0, else 0; nil: none is. They
// depend on the set of rows alone.
func (r *ranges) points() []float64 {
	out := make([]float64, len(r.columns))
	for l, lo := range r.lo {
		if hi := r.hi[l]; lo < hi && max(lo, -hi) > farRanges*(hi-lo) {
			out[l] = lo + (hi-lo)/2
		}
	}
	if !slices.ContainsFunc(out, func(v float64) bool { return v != 0 }) {
		return nil
	}
	return out
}

func (r *ranges) tag() partTag { return rangesTag }

func (r *ranges) add(next part) error {
	n := next.(*ranges)
	if !slices.Equal(r.columns, n.columns) {
		return fmt.Errorf("ranges of the columns %q and %q do not add up", r.columns, n.columns)
	}
	for l := range r.lo {
		r.lo[l], r.hi[l] = min(r.lo[l], n.lo[l]), max(r.hi[l], n.hi[l])
	}
	return nil
}

func (r *ranges) write(b []byte) []byte {
	b = wire.AppendTexts(b, r.columns)
	return wire.AppendNumbers(wire.AppendNumbers(b, r.lo), r.hi)
}

func readRanges(r *wire.Reader) *ranges {
	out := &ranges{columns: r.Texts()}
	n := len(out.columns)
	if n > r.Left()/16 {
		r.Fail("the ranges of %d columns are cut short", n)
		return out
	}
	out.lo, out.hi = make([]float64, n), make([]float64, n)
	r.Numbers(out.lo)
	r.Numbers(out.hi)
	for _, v := range slices.Concat(out.lo, out.hi) {
		if !finite(v) {
			r.Fail("a range with %v", v)
		}
	}
	return out
}
