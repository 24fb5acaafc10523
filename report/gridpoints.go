package report

import (
	"container/heap"
	"math"
	"slices"

	"github.com/pho-go/pho/decompose"
)

// rowsIn is where the rows of a term lie on one of its features: the feature's range and
// quantiles, or those of the term's level of by.
func rowsIn(s *decompose.Support, f *decompose.Feature) (lo, hi float64, quantiles []float64) {
	if s != nil && s.Level != "" && s.Rows > 0 {
		for _, side := range s.Sides {
			if side.Feature == f.Name {
				return side.Min, side.Max, side.Quantiles
			}
		}
	}
	return f.Min, f.Max, f.Quantiles
}

// gridPoints are n numbers from lo to hi, ascending. Up to half of them are quantiles of the
// rows, without repetition, so that a curve is fine where rows lie. Each of the others goes
// where the step is longest, so that no stretch is one chord: a network may well turn where
// rows are few. A quarter goes into what pictures show (inner), as the few rows that are far
// from all others would take all of them; the last quarter goes anywhere. Without quantiles
// the points are equally spaced.
func gridPoints(lo, hi float64, quantiles []float64, n int) []float64 {
	if !(hi > lo) {
		return []float64{lo}
	}
	if n < 4 {
		n = 2
	}
	at := []float64{lo}
	for i := 1; i < n/2 && len(quantiles) > 0; i++ {
		q := quantiles[int(math.Round(float64(i)/float64(n/2)*float64(len(quantiles)-1)))]
		if q > at[len(at)-1] && q < hi {
			at = append(at, q)
		}
	}
	at = append(at, hi)
	if len(quantiles) > 2 {
		from, to := inner(warp{}, quantiles)
		first, _ := slices.BinarySearch(at, from)
		last, _ := slices.BinarySearch(at, to)
		shown := slices.Clone(at[first:last])
		if from > lo && (len(shown) == 0 || shown[0] > from) {
			shown = append([]float64{from}, shown...)
		}
		if shown = append(shown, to); len(shown) > 1 {
			shown = divided(shown, min(len(shown)+n/4, n-first-len(at)+last))
			at = slices.Concat(at[:first], shown, at[last:])
			at = slices.Compact(at)
		}
	}
	return divided(at, n)
}

// withWhole has all whole numbers between the first of the points and the last, too.
func withWhole(at []float64) []float64 {
	for v := math.Ceil(at[0]); v < at[len(at)-1]; v++ {
		if i, there := slices.BinarySearch(at, v); !there {
			at = slices.Insert(at, i, v)
		}
	}
	return at
}

// divided adds equal steps between the points until there are n, the longest step first.
func divided(at []float64, n int) []float64 {
	if len(at) >= n {
		return at
	}
	steps := make(longestFirst, len(at)-1)
	for i := range steps {
		steps[i] = step{i, at[i], at[i+1] - at[i], 1}
	}
	heap.Init(&steps)
	for added := len(at); added < n; added++ {
		steps[0].parts++
		heap.Fix(&steps, 0)
	}
	slices.SortFunc(steps, func(a, b step) int { return a.at - b.at })
	out := make([]float64, 0, n)
	for i, s := range steps {
		for p := range s.parts {
			w := float64(p) / float64(s.parts)
			if v := (1-w)*at[i] + w*at[i+1]; p == 0 || v > out[len(out)-1] && v < at[i+1] {
				out = append(out, v)
			}
		}
	}
	return append(out, at[len(at)-1])
}

// step is what lies between point at and the next, in equal parts.
type step struct {
	at         int
	from, size float64
	parts      int
}

// longestFirst is a heap: the step of the longest parts, the first of them, on top.
type longestFirst []step

func (l longestFirst) Len() int { return len(l) }
func (l longestFirst) Less(i, j int) bool {
	a, b := l[i].size/float64(l[i].parts), l[j].size/float64(l[j].parts)
	return a > b || a == b && l[i].at < l[j].at
}
func (l longestFirst) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l *longestFirst) Push(any)     {}
func (l *longestFirst) Pop() any     { return nil }

// tooFar is how far from every row a point of two features may lie, in ranges of the
// features: mgcv's too.far = 0.1.
const tooFar = 0.1

// far tells the points of e at which no row is near; nil if that is not known, or e has one
// feature. Rows are known to a 64th of the range, so that a point counts as near within
// 0.1 to 0.116 of it; a level is near itself alone.
func (g *grids) far(e *Effect, t *decompose.TermResult) []bool {
	s := g.result.SupportOf(t)
	if s == nil || e.X2 == nil || len(s.Cells) == 0 {
		return nil
	}
	a, b := g.feature[e.X.Feature], g.feature[e.X2.Feature]
	if a == nil || b == nil || s.Sides[0].Feature != a.Name || s.Sides[1].Feature != b.Name {
		return nil
	}
	da, db := distances(e.X, a), distances(e.X2, b)
	if da == nil || db == nil {
		return nil
	}
	n := len(db[0])
	occupied := make([][]int, len(da[0]))
	for at := range len(da[0]) * n {
		if s.Cells[at>>3]&(1<<(at&7)) != 0 {
			occupied[at/n] = append(occupied[at/n], at%n)
		}
	}
	out := make([]bool, len(e.After))
	for i := range da {
		for j := range db {
			out[i*len(db)+j] = !near(da[i], db[j], occupied)
		}
	}
	return out
}

// near tells whether an occupied cell is within reach of a point of these distances from
// the bins.
func near(da, db []float64, occupied [][]int) bool {
	for i, d := range da {
		if d > tooFar {
			continue
		}
		for _, j := range occupied[i] {
			if d*d+db[j]*db[j] <= tooFar*tooFar {
				return true
			}
		}
	}
	return false
}

// distances of each point of an axis from each bin of decompose.Support.Cells, in ranges of
// the feature; nil if the axis has levels that the feature has not.
func distances(a *Axis, f *decompose.Feature) [][]float64 {
	out := make([][]float64, a.Len())
	if (a.Levels == nil) != (f.Levels == nil) {
		return nil
	}
	for i := range out {
		if a.Levels != nil {
			out[i] = slices.Repeat([]float64{math.Inf(1)}, len(f.Levels))
			if at, ok := slices.BinarySearch(f.Levels, a.Levels[i]); ok {
				out[i][at] = 0
			}
			continue
		}
		out[i] = make([]float64, decompose.SupportBins)
		if !(f.Max > f.Min) {
			continue
		}
		x := (a.Values[i] - f.Min) / (f.Max - f.Min) * decompose.SupportBins
		for bin := range out[i] {
			out[i][bin] = math.Max(math.Max(float64(bin)-x, x-float64(bin+1)), 0) / decompose.SupportBins
		}
	}
	return out
}
