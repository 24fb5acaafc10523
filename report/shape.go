package report

import (
	"math"
	"slices"
)

// shape is how a curve runs over the rows' values of its feature, less the 2 % of the rows at
// each end: what a sentence says of it, by rules that can be computed again from the curve.
type shape struct {
	kind     shapeKind
	at       []int // points of the grid: the ends, and between them where the curve turns
	low      int   // points of the lowest and the highest value
	high     int
	fastFrom int // of rising and falling: points between which most of the change is;
	fastTo   int // the same ones if it is spread over the range
}

type shapeKind int

// The shapes. Turning back by less than a tenth of the whole height counts as not turning.
const (
	flat    shapeKind = iota // one value
	rising                   // up from end to end
	falling                  // down from end to end
	peaked                   // up, then down
	dipped                   // down, then up
	waving                   // turns more often
	apart                    // of levels, or of two features: highest and lowest alone
)

const (
	turnsBack = 0.1 // of the height: what counts as turning
	mostOf    = 0.6 // of the change is in the fastest part,
	fastPart  = 0.4 // which is this part of the range or less
)

// curveShape describes the curve v at the points from..to (both counted) of x.
func curveShape(x, v []float64, from, to int) shape {
	s := shape{low: from, high: from}
	for i := from; i <= to; i++ {
		if v[i] < v[s.low] {
			s.low = i
		}
		if v[i] > v[s.high] {
			s.high = i
		}
	}
	height := v[s.high] - v[s.low]
	if !(height > 0) {
		s.at = []int{from, to}
		return s
	}
	turns, up := turning(v[from:to+1], turnsBack*height)
	s.at = []int{from}
	for _, i := range turns {
		s.at = append(s.at, from+i)
	}
	s.at = append(s.at, to)
	switch {
	case len(turns) > 1:
		s.kind = waving
	case len(turns) == 1 && up:
		s.kind = peaked
	case len(turns) == 1:
		s.kind = dipped
	default:
		s.kind = falling
		if up {
			s.kind = rising
		}
		s.fastFrom, s.fastTo = fastest(x, v, from, to)
	}
	return s
}

// turning are the points where v turns by least or more, and whether it goes up first.
func turning(v []float64, least float64) (at []int, up bool) {
	low, high, end, direction := 0, 0, 0, 0.0
	for i := range v {
		switch {
		case direction == 0:
			if v[i] < v[low] {
				low = i
			}
			if v[i] > v[high] {
				high = i
			}
			if v[i]-v[low] >= least {
				direction, end, up = 1, i, true
			} else if v[high]-v[i] >= least {
				direction, end = -1, i
			}
		case direction*(v[i]-v[end]) >= 0:
			end = i
		case direction*(v[end]-v[i]) >= least:
			at, direction, end = append(at, end), -direction, i
		}
	}
	return at, up
}

// fastest is the shortest part of a curve from end to end that holds most of its change; both
// ends at from if that is no short one.
func fastest(x, v []float64, from, to int) (a, b int) {
	whole := v[to] - v[from]
	a, b = from, from
	best := fastPart * (x[to] - x[from])
	for i := from; i < to; i++ {
		for j := i + 1; j <= to && x[j]-x[i] <= best; j++ {
			if (v[j]-v[i])/whole >= mostOf {
				if x[j]-x[i] < best || a == b {
					a, b, best = i, j, x[j]-x[i]
				}
				break
			}
		}
	}
	return a, b
}

// extremes are the points of the lowest and the highest value that is known; -1: none is.
func extremes(v []float64, counts func(i int) bool) (low, high int) {
	low, high = -1, -1
	for i := range v {
		if math.IsNaN(v[i]) || !counts(i) {
			continue
		}
		if low < 0 || v[i] < v[low] {
			low = i
		}
		if high < 0 || v[i] > v[high] {
			high = i
		}
	}
	return low, high
}

// pointsIn are the first and the last of the ascending points that lie from lo to hi.
func pointsIn(x []float64, lo, hi float64) (from, to int) {
	from, _ = slices.BinarySearch(x, lo)
	to, found := slices.BinarySearch(x, hi)
	if !found {
		to--
	}
	return from, to
}
