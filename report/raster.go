package report

import (
	"math"
	"slices"
	"sort"
)

// side is one feature's axis of a surface: a frame of numbers, or levels of equal width.
type side struct {
	*Axis
	frame    *frame // nil: levels
	bands    bool   // whole numbers, each a band
	from, to float64
}

func newSide(a *Axis, quantiles []float64, from, to float64) *side {
	s := &side{Axis: a, from: from, to: to}
	if a.Levels != nil {
		return s
	}
	s.frame = newFrame(a, quantiles, from, to)
	if size := s.frame.hi - s.frame.lo; s.frame.integers && s.frame.warp.name == "" && size < mostBands {
		s.bands = true
		s.frame.axis = axis{span{s.frame.lo - 0.5, s.frame.hi + 0.5}, from, to}
	}
	return s
}

// mostBands is how many whole numbers have a band each: there is nothing between them.
const mostBands = 16

// at is the place of a value, or of the middle of level v.
func (s *side) at(v float64) float64 {
	if s.frame == nil {
		return s.from + (v+0.5)/float64(len(s.Levels))*(s.to-s.from)
	}
	return s.frame.at(v)
}

// within tells whether a value is drawn.
func (s *side) within(v float64) bool { return s.frame == nil || v >= s.frame.lo && v <= s.frame.hi }

// ticks are n marks or fewer.
func (s *side) ticks(n int) []tick {
	if s.frame != nil {
		return s.frame.marks(n)
	}
	var out []tick
	every := (len(s.Levels) + n) / (n + 1) // at most n + 1 labels
	for i := 0; i < len(s.Levels); i += every {
		out = append(out, tick{At: px(s.at(float64(i))), Label: clip(s.Levels[i], 8)})
	}
	return out
}

// mix is a place between two grid points: point at and, with the share next, the one after.
type mix struct {
	at   int
	next float64
}

// pixels are the places of n equal parts' middles on the axis' grid; the levels themselves
// of levels.
func (s *side) pixels(n int) []mix {
	if s.frame == nil {
		out := make([]mix, len(s.Levels))
		for i := range out {
			out[i].at = i
		}
		return out
	}
	if s.bands {
		var out []mix
		for v := s.frame.lo; v <= s.frame.hi; v++ {
			out = append(out, s.locate(v))
		}
		return out
	}
	out := make([]mix, n)
	for i := range out {
		warped := s.frame.axis.lo + (float64(i)+0.5)/float64(n)*s.frame.axis.size()
		out[i] = s.locate(s.frame.warp.inverse(warped))
	}
	return out
}

// locate places a value between grid points.
func (s *side) locate(v float64) mix {
	if s.frame == nil {
		return mix{at: int(v)}
	}
	x := s.Values
	i := sort.SearchFloat64s(x, v)
	switch {
	case i == 0:
		return mix{}
	case i == len(x):
		return mix{at: len(x) - 1}
	case x[i] == v:
		return mix{at: i}
	}
	return mix{i - 1, (v - x[i-1]) / (x[i] - x[i-1])}
}

// raster is a surface in pixels of equal size in the picture, by columns, upwards; NaN where it
// has no value.
type raster struct {
	nx, ny int
	v      []float64
}

// newRaster interpolates v, on the grid of x and y, at pixels.
func newRaster(v []float64, x, y *side, pixels int) *raster {
	columns, rows := x.pixels(pixels), y.pixels(pixels)
	r := &raster{len(columns), len(rows), make([]float64, 0, len(columns)*len(rows))}
	for _, c := range columns {
		for _, l := range rows {
			r.v = append(r.v, between(v, y.Len(), c, l))
		}
	}
	return r
}

// between is the bilinear mean of the four points around a place, and where one of these has
// no value that of the nearest.
func between(v []float64, ny int, x, y mix) float64 {
	var sum float64
	for _, a := range []struct {
		at    int
		share float64
	}{{x.at, 1 - x.next}, {x.at + 1, x.next}} {
		for _, b := range []struct {
			at    int
			share float64
		}{{y.at, 1 - y.next}, {y.at + 1, y.next}} {
			if w := a.share * b.share; w > 0 {
				sum += w * v[a.at*ny+b.at]
			}
		}
	}
	if math.IsNaN(sum) {
		return v[(x.at+int(math.Round(x.next)))*ny+y.at+int(math.Round(y.next))]
	}
	return sum
}

// within is the size that this share of the values does not exceed: one far cell does not decide
// a scale.
func within(v []float64, share float64) float64 {
	var size []float64
	for _, v := range v {
		if !notFinite(v) {
			size = append(size, math.Abs(v))
		}
	}
	if len(size) == 0 {
		return 0
	}
	slices.Sort(size)
	return size[int(math.Ceil(share*float64(len(size))))-1]
}
