package report

import (
	"math"
	"slices"
)

// curve is a function of one number.
type curve struct {
	Band, Sim, Before, After, Data string // paths; no Before if the network has no such effect
	Networks                       string // path of the curves of several networks
	Zero                           string // height of the line at 0
	XTicks, YTicks                 []tick
	XName, XScale                  string
	X0, X1, Y0, Y1                 string // ranges of the axes
	Steps                          bool   // of whole numbers
	caption                        []string
}

func (d *drawing) curve(e *Effect) *curve {
	s, why := d.scale(e, "vertical")
	quantiles := d.quantiles(e.X.Feature, e)
	x := newFrame(e.X, quantiles, left, right)
	y := axis{s, bottom, top}
	c := &curve{XTicks: x.marks(6), YTicks: y.ticks(7), XName: clip(e.X.Title(), 50), XScale: x.warp.String(), Steps: e.X.whole, caption: slices.Concat(x.caption, why)}
	c.X0, c.X1, c.Y0, c.Y1 = exact(x.lo), exact(x.hi), exact(s.lo), exact(s.hi)
	if s.lo < d.outcome.base && s.hi > d.outcome.base {
		c.Zero = px(y.at(d.outcome.base))
	}
	p, v := plot{e, x, y}, d.shown(e)
	c.After = p.trace(v.after)
	if d.both || e.hasBefore() {
		c.Before = p.trace(v.before)
	}
	c.Band, c.Sim = p.band(v.low, v.high), p.band(v.simLow, v.simHigh)
	for _, f := range v.networks {
		c.Networks += p.trace(f)
	}
	if words := p.leaves(v.after); words != "" {
		c.caption = append(c.caption, words)
	}
	c.Data = d.histogram(e, x, quantiles)
	return c
}

// hasBefore tells whether the network itself has such an effect: what is 0 everywhere, up
// to rounding, is not drawn.
func (e *Effect) hasBefore() bool { return largest(e.Before) > 1e-9*largest(e.After) }

// plot is the area of a curve.
type plot struct {
	e *Effect
	x *frame
	y axis
}

// beyond is how far outside of its area a curve is followed: it is cut there.
const beyond = 60

// at are the places of value v at point i: one or, of whole numbers, the ends of its step.
func (p plot) at(i int, v float64) []point {
	x, y := p.e.X.Values[i], math.Min(math.Max(p.y.at(v), top-beyond), bottom+beyond)
	if p.e.X.whole {
		return []point{{p.x.at(x - 0.5), y}, {p.x.at(x + 0.5), y}}
	}
	return []point{{p.x.at(x), y}}
}

// drawn are the points from a to b, within the frame and one beyond each end.
func (p plot) drawn() (a, b int) {
	v := p.e.X.Values
	a, b = 0, len(v)-1
	for a+1 < len(v) && v[a+1] <= p.x.lo {
		a++
	}
	for b > 0 && v[b-1] >= p.x.hi {
		b--
	}
	return a, b
}

func (p plot) trace(v []float64) string {
	var line []point
	a, b := p.drawn()
	for i := a; i <= b; i++ {
		line = append(line, p.at(i, v[i])...)
	}
	var out path
	out.trace(line)
	return out.String()
}

// band is the area between the limits of a 95 % band: one piece for each run of points that
// have them; "" without limits.
func (p plot) band(low, high []float64) string {
	if low == nil {
		return ""
	}
	var out path
	from, to := p.drawn()
	for i := from; i <= to; {
		if notFinite(low[i]) {
			i++
			continue
		}
		var upper, lower []point
		for ; i <= to && !notFinite(low[i]); i++ {
			upper = append(upper, p.at(i, high[i])...)
			lower = append(lower, p.at(i, low[i])...)
		}
		slices.Reverse(lower)
		out.trace(upper)
		for _, at := range simplified(lower) {
			out.line(at.x, at.y)
		}
		out.WriteString("z")
	}
	return out.String()
}

// leaves says how far the curve v runs where the picture does not follow it.
func (p plot) leaves(v []float64) string {
	s := emptySpan()
	for _, v := range v {
		s.add(v)
	}
	if s.empty() || s.lo >= p.y.lo && s.hi <= p.y.hi {
		return ""
	}
	return "Where there are few rows or none the curve leaves the picture: in all it runs from " + num(s.lo) + " to " + num(s.hi) + "."
}

// histogram shows where the rows lie on a numeric feature.
func (d *drawing) histogram(e *Effect, x *frame, quantiles []float64) string {
	f := d.feature[e.X.Feature]
	switch {
	case len(f.Counts) > 0 && (x.lo == f.Min && x.hi == f.Max || e.X.whole) && x.warp.name == "":
		if counts, first := wholeCounts(f.Counts, f.Min, f.Max); x.integers && counts != nil {
			return bars(counts, func(i int) (float64, float64) { return x.at(first + float64(i) - 0.4), x.at(first + float64(i) + 0.4) })
		}
		return even(floats(f.Counts), x)
	case len(quantiles) > 2:
		return even(x.rows(quantiles, 40), x)
	}
	return ""
}

// even are bars of equal width over the frame, drawn as their outline.
func even(counts []float64, x *frame) string {
	highest := slices.Max(counts)
	if !(highest > 0) {
		return ""
	}
	var p path
	w := (x.to - x.from) / float64(len(counts))
	for i := 0; i < len(counts); i++ {
		if !(counts[i] > 0) {
			continue
		}
		p.move(x.from+float64(i)*w, floor)
		for ; i < len(counts) && counts[i] > 0; i++ {
			p.up(floor - barHeight(counts[i], highest))
			p.across(x.from + float64(i+1)*w)
		}
		p.up(floor)
		p.WriteString("z")
	}
	return p.String()
}

// floor is where the histogram's bars stand.
const floor = bottom + 4 + strip

// barHeight keeps a single row visible.
func barHeight(n, highest float64) float64 { return math.Max(strip*n/highest, 0.6) }

// bars are as high as their counts.
func bars(counts []float64, sides func(i int) (from, to float64)) string {
	highest := slices.Max(counts)
	if !(highest > 0) {
		return ""
	}
	var p path
	for i, n := range counts {
		from, to := sides(i)
		from, to = math.Max(from, left), math.Min(to, right)
		if n > 0 && from < to { // else it is outside of the picture
			h := barHeight(n, highest)
			p.bar(from, floor-h, to-from, h)
		}
	}
	return p.String()
}

// wholeCounts are the rows of each whole number from lo, which a histogram tells if each
// has a bin of its own; else nil.
func wholeCounts(counts []int64, lo, hi float64) ([]float64, float64) {
	if !(hi-lo < float64(len(counts))) || !(hi > lo) {
		return nil, 0
	}
	out := make([]float64, int(hi-lo)+1)
	for i := range out {
		out[i] = float64(counts[min(int(float64(i)/(hi-lo)*float64(len(counts))), len(counts)-1)])
	}
	return out, lo
}

func floats(counts []int64) []float64 {
	out := make([]float64, len(counts))
	for i, n := range counts {
		out[i] = float64(n)
	}
	return out
}
