package distinct

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPrune: the points of the smallest hash are left, of equal hashes those of the smallest coordinates,
// as by sorting them all.
func TestPrune(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		p := NewPoints(1+r.IntN(2), 1+r.IntN(20))
		x := make([]float64, p.D)
		for range p.Limit + r.IntN(20) {
			for j := range x {
				x[j] = r.NormFloat64()
			}
			p.Number(x)
			p.hash = append(p.hash, r.Uint64N(12)) // many are equal
		}
		order := make([]int, len(p.Count))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(p.hash[a], p.hash[b]), p.compare(a, b)) })
		sampled := len(order) > p.Limit
		order = order[:p.Limit]
		greatest := p.hash[order[p.Limit-1]]
		slices.SortFunc(order, p.compare)
		var want []float64
		for _, i := range order {
			want = append(want, p.X[i*p.D:(i+1)*p.D]...)
		}
		p.Sort()
		if !slices.Equal(p.X, want) || p.sampled != sampled || sampled && p.maxHash != greatest {
			t.Fatalf("of %d columns, at most %d: %v with hashes up to %d, want %v up to %d", p.D, p.Limit, p.X, p.maxHash, want, greatest)
		}
	}
}
