package distinct

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Of points that occur once, quantiles of points are those of values; whatever occurs often, they increase and reach
// the ends, and a point counts for one part at most.
func TestQuantilesOfPoints(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 200 {
		var v Values
		v.Limit = 1 << 20
		once, often := NewPoints(1, 1000), NewPoints(1, 1000)
		n := 20 + r.IntN(300)
		for range n {
			x := math.Exp(3 * r.NormFloat64())
			v.Add([]float64{x})
			once.Add(x)
			for range 1 + r.IntN(2)*r.IntN(500) {
				often.Add(x)
			}
		}
		k := 2 + r.IntN(18)
		for j, q := range once.Quantiles(k, v.Min, v.Max) {
			if want := v.Quantiles(k, v.Min, v.Max)[j]; math.Abs(q-want) > 1e-9*want {
				t.Fatalf("trial %d: quantile %d of %d is %v, want %v", trial, j, k, q, want)
			}
		}
		q := often.Quantiles(k, v.Min, v.Max)
		if !slices.IsSorted(q) || len(slices.Compact(slices.Clone(q))) != k || q[0] != v.Min || q[k-1] != v.Max {
			t.Fatalf("trial %d: %v", trial, q)
		}
	}
	// Nine of ten rows are 0: the other knots lie among those that are not.
	p := NewPoints(1, 1000)
	for i := range 1000 {
		p.Add(float64(max(0, i-900)))
	}
	if q := p.Quantiles(11, 0, 99); q[1] > 15 || q[5] < 30 || q[5] > 60 {
		t.Errorf("%v", q)
	}
}
