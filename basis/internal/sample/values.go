package basis

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/kernel"
)

// maxValues bounds the distinct values kept for quantiles (8 bytes each, twice
// that while they are merged).
const maxValues = 1_000_000

// values collects the range and the distinct values of a column. It keeps at
// most limit of them: all if there are no more, else those whose hash begins with
// the fewest zero bits that make them fit. So what is kept depends on the set of
// values alone, not on their order or on batches. With count set, the first limit
// distinct values are kept and no more: enough to know whether there are that
// many.
type values struct {
	column   string
	limit    int
	count    bool
	min, max float64
	rows     int64
	kept     []float64 // increasing
	pending  []float64 // not yet among kept, in order of arrival
	recent   []float64 // values among kept or pending, or not to be kept, by a hash: none twice
	zeros    uint      // leading zero bits that a kept value's hash has
	tally    *points   // not nil: it keeps the values, with their counts
}

const recentBits = 11

func (v *values) scan(term string, b *data.Batch) error {
	x, err := b.Numeric(v.column)
	if err != nil {
		return fmt.Errorf("term %s: %w", term, err)
	}
	if v.rows == 0 {
		v.min, v.max = math.Inf(1), math.Inf(-1)
	}
	if v.count && v.tally == nil && len(v.kept) >= v.limit {
		if lo, hi, ok := kernel.Bounds(x); ok { // all that is left to find out
			v.min, v.max = min(v.min, lo), max(v.max, hi)
			v.rows += int64(len(x))
			return nil
		}
	}
	if v.recent == nil {
		v.recent = slices.Repeat([]float64{math.NaN()}, 1<<recentBits)
	}
	for i, a := range x {
		if !finite(a) {
			return notFinite(term, v.column, a, b.Row(i))
		}
		v.min, v.max = min(v.min, a), max(v.max, a)
		if v.tally == nil {
			last := &v.recent[math.Float64bits(a)*0x9e3779b97f4a7c15>>(64-recentBits)]
			if *last == a {
				continue // whole numbers, say, come again and again
			}
			*last = a
		}
		switch {
		case v.tally != nil:
			v.tally.add(a)
		case v.count:
			if len(v.kept) < v.limit {
				if at, found := slices.BinarySearch(v.kept, a); !found {
					v.kept = slices.Insert(v.kept, at, a)
				}
			}
		case v.zeros == 0 || v.chosen(a):
			v.pending = append(v.pending, a+0) // -0 is 0
			if len(v.pending) >= max(4096, len(v.kept)/2) {
				v.merge()
			}
		}
	}
	if v.tally != nil {
		v.tally.addColumn(x)
	}
	v.rows += int64(len(x))
	return nil
}

// merge moves what is pending to the distinct values, and raises the bar until
// they are within the limit.
func (v *values) merge() {
	if len(v.pending) == 0 {
		return
	}
	slices.Sort(v.pending)
	v.pending = slices.Compact(v.pending)
	all := make([]float64, 0, len(v.kept)+len(v.pending))
	old, added := v.kept, v.pending
	for len(old) > 0 && len(added) > 0 {
		switch {
		case old[0] < added[0]:
			all, old = append(all, old[0]), old[1:]
		case old[0] > added[0]:
			all, added = append(all, added[0]), added[1:]
		default:
			all, old, added = append(all, old[0]), old[1:], added[1:]
		}
	}
	v.kept = append(append(all, old...), added...)
	v.pending = v.pending[:0]
	for len(v.kept) > v.limit {
		v.zeros++
		v.kept = slices.DeleteFunc(v.kept, func(a float64) bool { return !v.chosen(a) })
	}
}

// chosen reports whether a's hash (SplitMix64 of its bits) has the zero bits.
func (v *values) chosen(a float64) bool {
	h := math.Float64bits(a+0) + 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	h ^= h >> 31
	return h>>(64-v.zeros) == 0
}

// distinct are the distinct values kept, increasing.
func (v *values) distinct() []float64 {
	if v.tally != nil {
		v.tally.sort()
		return v.tally.x
	}
	v.merge()
	return v.kept
}

// sampled reports whether only a subsample of the distinct values was kept.
func (v *values) sampled() bool {
	if v.tally != nil {
		v.tally.prune()
		return v.tally.sampled
	}
	v.merge()
	return v.zeros > 0
}

// quantiles are the type 7 quantiles (Hyndman and Fan 1996) of the distinct
// values at probabilities 0, 1/(k-1), ..., 1. The ends are exact also when the
// values are a subsample.
func (v *values) quantiles(k int) []float64 {
	x := slices.Clone(v.distinct())
	if x[0] != v.min {
		x = append([]float64{v.min}, x...)
	}
	if x[len(x)-1] != v.max {
		x = append(x, v.max)
	}
	q := make([]float64, k)
	for i := range q {
		h := float64(len(x)-1) * (float64(i) / float64(k-1))
		lo := int(math.Floor(h))
		hi := min(lo+1, len(x)-1)
		w := h - float64(lo)
		q[i] = (1-w)*x[lo] + w*x[hi]
	}
	return q
}
