package distinct

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Seven of ten quantiles are evenly apart in probability, three in its logit; whatever occurs often, they increase and reach
// the ends, and a point counts for one part at most.
func TestQuantilesOfPoints(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 200 {
		once, often := NewPoints(1, 1000), NewPoints(1, 1000)
		n := 20 + r.IntN(300)
		var x []float64
		for range n {
			v := math.Exp(3 * r.NormFloat64())
			x = append(x, v)
			once.Add(v)
			for range 1 + r.IntN(2)*r.IntN(500) {
				often.Add(v)
			}
		}
		slices.Sort(x)
		lo, hi := x[0], x[n-1]
		k := 2 + r.IntN(18)
		logit := func(u float64) float64 {
			u = min(max(u, 5/float64(n)), 1-5/float64(n))
			return math.Log(u/(1-u)) / math.Log(float64(n)/5-1)
		}
		for j, q := range once.Quantiles(k, lo, hi) {
			i, found := slices.BinarySearch(x, q)
			if !found && i > 0 {
				i-- // q is between x[i] and x[i+1]
			}
			low, high := float64(i)/float64(n), float64(i+2)/float64(n)
			want := float64(j) / float64(k-1)
			if g := func(u float64) float64 { return 0.7*u + 0.3*(1+logit(u))/2 }; g(low) > want+0.5/float64(n) || g(high) < want-0.5/float64(n) {
				t.Fatalf("trial %d: quantile %d of %d has G from %v to %v, want %v", trial, j, k, g(low), g(high), want)
			}
		}
		q := often.Quantiles(k, lo, hi)
		if !slices.IsSorted(q) || len(slices.Compact(slices.Clone(q))) != k || q[0] != lo || q[k-1] != hi {
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
