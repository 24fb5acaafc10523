package distinct

import (
	"math"
	"slices"

	"github.com/pho-go/pho/internal/base/kernel"
)

// MaxValues bounds the distinct values kept for quantiles (8 bytes each, twice
// that while they are merged).
const MaxValues = 1_000_000

// Values collects the range and the distinct values of a column. It keeps at
// most Limit of them: all if there are no more, else the values with hashes that begin with b zero
// bits, b as small as lets them fit. So what is kept depends on the set of values alone, not on
// their order or on batches.
type Values struct {
	Limit int
	// Few: only whether there are Limit distinct values is to be found out (N): none are kept
	// once there are.
	Few bool
	// Points, if not nil, keeps the values in place of the above, with their counts.
	Points *Points

	Min, Max float64 // of all rows; undefined without rows
	Rows     int64

	kept    []float64 // increasing
	pending []float64 // not yet among kept, in order of arrival
	recent  []float64 // values among kept or pending, or not to be kept, by a hash: none twice
	zeros   uint      // leading zero bits that a kept value's hash has
	full    bool      // of Few: there are Limit
}

const recentBits = 11

// Add takes in the rows x. It returns the place of the first value that is not finite,
// or -1; after such a value the collection is of no use.
func (v *Values) Add(x []float64) (bad int) {
	if v.Rows == 0 {
		v.Min, v.Max = math.Inf(1), math.Inf(-1)
	}
	lo, hi, ok := kernel.Bounds(x)
	if !ok {
		return slices.IndexFunc(x, func(a float64) bool { return math.IsNaN(a) || math.IsInf(a, 0) })
	}
	v.Min, v.Max = min(v.Min, lo)+0, max(v.Max, hi)+0 // -0 is 0
	v.Rows += int64(len(x))
	switch {
	case v.Points != nil:
		v.Points.AddColumn(x)
	case v.Few && v.full: // the range is all that was left to find out
	default:
		v.keepAll(x)
	}
	return -1
}

// keepAll is keep of each of x.
func (v *Values) keepAll(x []float64) {
	if v.recent == nil {
		v.recent = slices.Repeat([]float64{math.NaN()}, 1<<recentBits)
	}
	for _, a := range x {
		if last := &v.recent[math.Float64bits(a)*0x9e3779b97f4a7c15>>(64-recentBits)]; *last != a {
			*last = a // whole numbers, say, come again and again
			v.keep(a)
		}
	}
}

// keep takes in one value.
func (v *Values) keep(a float64) {
	switch {
	case v.Few:
		if v.full {
			return
		}
		if at, found := slices.BinarySearch(v.kept, a); !found {
			v.kept = slices.Insert(v.kept, at, a+0)
		}
		if v.full = len(v.kept) >= v.Limit; v.full {
			v.kept = nil
		}
	case v.zeros == 0 || v.chosen(a):
		v.pending = append(v.pending, a+0) // -0 is 0
		if len(v.pending) >= max(4096, len(v.kept)/2) {
			v.merge()
		}
	}
}

// merge moves what is pending to the distinct values, and asks for more zero
// bits until they are within the limit.
func (v *Values) merge() {
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
	for len(v.kept) > v.Limit {
		v.more()
	}
}

// more asks for one more zero bit.
func (v *Values) more() {
	v.zeros++
	v.kept = slices.DeleteFunc(v.kept, func(a float64) bool { return !v.chosen(a) })
}

// chosen reports whether a's hash (SplitMix64 of its bits) has the zero bits.
func (v *Values) chosen(a float64) bool {
	return mix(math.Float64bits(a+0))>>(64-v.zeros) == 0
}

// N is the number of distinct values; of Few Limit at most, and of more than Limit the number kept.
func (v *Values) N() int {
	if v.full {
		return v.Limit
	}
	return len(v.Distinct())
}

// Distinct are the distinct values kept, increasing, in the collection's memory. Of Few there are
// none once there are Limit.
func (v *Values) Distinct() []float64 {
	if v.Points != nil {
		v.Points.Sort()
		return v.Points.X
	}
	v.merge()
	return v.kept
}

// Sampled reports whether only a sample of the distinct values was kept.
func (v *Values) Sampled() bool {
	if v.Points != nil {
		return v.Points.Sampled()
	}
	v.merge()
	return v.zeros > 0
}

// Quantiles are the type 7 quantiles (Hyndman and Fan 1996) of the distinct values at
// probabilities 0, 1/(k-1), ..., 1. The least and the greatest are lo and hi, which no
// value may lie beyond: the range, which a sample need not hold, or a wider one.
func (v *Values) Quantiles(k int, lo, hi float64) []float64 {
	x := slices.Clone(v.Distinct())
	if x[0] != lo {
		x = append([]float64{lo}, x...)
	}
	if x[len(x)-1] != hi {
		x = append(x, hi)
	}
	q := make([]float64, k)
	for i := range q {
		h := float64(len(x)-1) * (float64(i) / float64(k-1))
		below := int(math.Floor(h))
		above := min(below+1, len(x)-1)
		w := h - float64(below)
		q[i] = (1-w)*x[below] + w*x[above]
	}
	return q
}
