package knot

import (
	"math"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"
)

// TestBreaksAreCounted, whatever they and the value are.
func TestBreaksAreCounted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		number := rapid.OneOf(rapid.Float64Range(-1, 1), rapid.Float64Range(-1e308, 1e308), rapid.Float64Range(1, 1+1e-14), rapid.SampledFrom([]float64{0, 5e-324, -5e-324, 1e-310, math.MaxFloat64, -math.MaxFloat64}))
		breaks := rapid.SliceOfNDistinct(number, 2, 200, rapid.ID).Draw(rt, "breaks")
		slices.Sort(breaks)
		breaks = slices.Compact(breaks)
		b := NewBreaks(breaks)
		for _, x := range append(rapid.SliceOfN(number, 1, 20).Draw(rt, "x"), breaks...) {
			for _, x := range []float64{x, math.Nextafter(x, math.Inf(-1)), math.Nextafter(x, math.Inf(1))} {
				if math.IsInf(x, 0) {
					continue
				}
				if got, want := b.Count(x), sort.Search(len(breaks), func(i int) bool { return breaks[i] > x }); got != want {
					rt.Fatalf("%d of %v are at most %v, not %d", want, breaks, x, got)
				}
			}
		}
	})
}
