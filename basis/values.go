package basis

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/data"
)

// maxValues bounds the distinct values kept for quantiles.
const maxValues = 1_000_000

// values collects the range and the distinct values of a column. It keeps at
// most limit of them: all if there are no more, else those whose hash begins with
// the fewest zero bits that make them fit. So what is kept depends on the set of
// values alone, not on their order or on batches. With count set only the range
// is wanted once limit values have been seen, and keeping stops there.
type values struct {
	column   string
	limit    int
	count    bool
	min, max float64
	rows     int64
	kept     map[float64]struct{}
	zeros    uint // leading zero bits that a kept value's hash has
}

func (v *values) scan(term string, b *data.Batch) error {
	x, err := b.Numeric(v.column)
	if err != nil {
		return fmt.Errorf("term %s: %w", term, err)
	}
	if v.kept == nil {
		v.kept = map[float64]struct{}{}
		v.min, v.max = math.Inf(1), math.Inf(-1)
	}
	for i, a := range x {
		if !finite(a) {
			return notFinite(term, v.column, a, b.Row(i))
		}
		v.min, v.max = min(v.min, a), max(v.max, a)
		if v.count && len(v.kept) >= v.limit || v.zeros > 0 && !v.chosen(a) {
			continue
		}
		v.kept[a] = struct{}{}
		for len(v.kept) > v.limit {
			v.zeros++
			for k := range v.kept {
				if !v.chosen(k) {
					delete(v.kept, k)
				}
			}
		}
	}
	v.rows += int64(len(x))
	return nil
}

// chosen reports whether a's hash (SplitMix64 of its bits) has the zero bits.
func (v *values) chosen(a float64) bool {
	h := math.Float64bits(a+0) + 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	h ^= h >> 31
	return h>>(64-v.zeros) == 0
}

// sampled reports whether only a subsample of the distinct values was kept.
func (v *values) sampled() bool { return v.zeros > 0 }

// quantiles are the type 7 quantiles (Hyndman and Fan 1996) of the distinct
// values at probabilities 0, 1/(k-1), ..., 1. The ends are exact also when the
// values are a subsample.
func (v *values) quantiles(k int) []float64 {
	x := make([]float64, 0, len(v.kept)+2)
	for a := range v.kept {
		x = append(x, a)
	}
	x = append(x, v.min, v.max)
	slices.Sort(x)
	x = slices.Compact(x)
	q := make([]float64, k)
	for i := range q {
		h := float64(len(x)-1) * (float64(i) / float64(k-1))
		lo := int(math.Floor(h))
		hi := min(lo+1, len(x)-1)
		w := h - float64(lo)
		q[i] = (1-w)*x[lo] + w*x[hi]
	}
	q[0], q[k-1] = v.min, v.max
	return q
}
