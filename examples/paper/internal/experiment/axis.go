package experiment

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// span is an interval of values.
type span struct{ lo, hi float64 }

// spanOf holds all numbers of v, but those without a place on a logarithmic axis.
func spanOf(log bool, v ...[]float64) span {
	s := span{math.Inf(1), math.Inf(-1)}
	for _, values := range v {
		for _, x := range values {
			if x-x == 0 && (!log || x > 0) {
				s.lo, s.hi = math.Min(s.lo, x), math.Max(s.hi, x)
			}
		}
	}
	return s
}

// padded is the span with a margin at both ends; from 1 to 2 if nothing is in it.
func (s span) padded(log bool) span {
	if !(s.lo <= s.hi) {
		return span{1, 2}
	}
	if log {
		w := span{math.Log10(s.lo), math.Log10(s.hi)}.padded(false)
		return span{math.Pow(10, w.lo), math.Pow(10, w.hi)}
	}
	pad := 0.04 * (s.hi - s.lo)
	if pad == 0 {
		pad = 0.5
	}
	return span{s.lo - pad, s.hi + pad}
}

// spanY is the range of what the panel shows.
func (p *Panel) spanY() span {
	if p.MinY != p.MaxY {
		return span{p.MinY, p.MaxY}
	}
	if p.Heat != nil {
		return cells(p.Heat.Y)
	}
	var v [][]float64
	for _, b := range p.Boxes {
		v = append(v, b.Values...)
	}
	for _, l := range p.Lines {
		v = append(v, l.Y, l.Lo, l.Hi)
	}
	for _, l := range p.Levels {
		v = append(v, []float64{l.Y})
	}
	return spanOf(p.LogY, v...).padded(p.LogY)
}

func (p *Panel) spanX() span {
	if n := len(p.Categories); n > 0 {
		return span{-0.5, float64(n) - 0.5}
	}
	if p.Heat != nil {
		return cells(p.Heat.X)
	}
	var v [][]float64
	for _, l := range p.Lines {
		v = append(v, l.X)
	}
	return spanOf(p.LogX, v...).padded(p.LogX)
}

// linearTicks are about five round values: gonum's are about three.
func linearTicks(lo, hi float64) (ticks []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/5)))
	for _, m := range []float64{2, 2.5, 2} { // 1, 2, 5, 10 times
		if (hi-lo)/step > 6 {
			step *= m
		}
	}
	for k := math.Ceil(lo / step); k*step <= hi; k++ {
		v := k*step + 0 // no -0
		ticks = append(ticks, plot.Tick{Value: v, Label: strings.ReplaceAll(strconv.FormatFloat(v, 'g', 6, 64), "-", "−")})
	}
	return ticks
}

// logTicks are round values on a logarithmic axis, four or more if there can be: gonum's
// are powers of ten, of which an axis may have none.
func logTicks(lo, hi float64) (ticks []plot.Tick) {
	for _, steps := range [][]float64{{1}, {1, 3}, {1, 2, 5}} {
		ticks = nil
		for e := math.Floor(math.Log10(lo)); e <= math.Ceil(math.Log10(hi)); e++ {
			for _, m := range steps {
				if v := m * math.Pow(10, e); v >= lo && v <= hi {
					ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 6, 64)})
				}
			}
		}
		if len(ticks) >= 4 {
			break
		}
	}
	return ticks
}

// logScale is gonum's, but the middle of the interval is in the middle of the axis: plot
// looks there for the label's place, and leaves an empty stripe above a label that is
// elsewhere.
type logScale struct{ plot.LogScale }

func (s logScale) Normalize(lo, hi, v float64) float64 {
	if v == 0.5*(lo+hi) {
		return 0.5
	}
	return s.LogScale.Normalize(lo, hi, v)
}
