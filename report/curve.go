package report

import (
	"math"
	"slices"
)

// curve is a function of one number.
type curve struct {
	Band, Sim, Before, After, Data string // paths
	Networks                       string // path of the curves of several networks
	Zero                           string // height of the line at 0
	XTicks, YTicks                 []tick
	XName                          string
	caption                        []string
}

func (d *drawing) curve(e *Effect) *curve {
	s, why := d.scale(e, "vertical")
	n := len(e.X.Values)
	x := axis{span{e.X.Values[0], e.X.Values[n-1]}, left, right}
	y := axis{s, bottom, top}
	c := &curve{XTicks: e.X.shownTicks(x, 6), YTicks: y.ticks(7), XName: clip(e.X.Title(), 50), caption: why}
	if s.lo < 0 && s.hi > 0 {
		c.Zero = px(y.at(0))
	}
	trace := func(v []float64) string {
		var p path
		for i, v := range v {
			if i == 0 {
				p.move(x.at(e.X.Values[i]), y.at(v))
			} else {
				p.line(x.at(e.X.Values[i]), y.at(v))
			}
		}
		return p.String()
	}
	c.Before, c.After = trace(e.Before), trace(e.After)
	c.Band = band(e, e.half, x, y)
	if e.Sim != nil {
		c.Sim = band(e, func(i int) float64 { return e.Sim[i] }, x, y)
	}
	if e.Networks != nil {
		for _, f := range e.Networks.After {
			c.Networks += trace(f)
		}
	}
	c.Data = d.histogram(e.X.Feature)
	return c
}

// band is the area between the limits of a 95 % band of these half widths, cut at the edges
// of the plot: one piece for each run of points that have a standard error.
func band(e *Effect, half func(i int) float64, x, y axis) string {
	var p path
	height := func(v float64) float64 { return y.at(math.Min(math.Max(v, y.lo), y.hi)) }
	for i := 0; i < len(e.SE); {
		if notFinite(e.SE[i]) {
			i++
			continue
		}
		first := i
		for ; i < len(e.SE) && !notFinite(e.SE[i]); i++ {
			at := height(e.After[i] + half(i))
			if i == first {
				p.move(x.at(e.X.Values[i]), at)
			} else {
				p.line(x.at(e.X.Values[i]), at)
			}
		}
		for j := i - 1; j >= first; j-- {
			p.line(x.at(e.X.Values[j]), height(e.After[j]-half(j)))
		}
		p.WriteString("z")
	}
	return p.String()
}

// histogram shows where the data of a numeric feature lie.
func (d *drawing) histogram(name string) string {
	counts := d.feature[name].Counts
	if len(counts) == 0 || slices.Max(counts) == 0 {
		return ""
	}
	w := float64(right-left) / float64(len(counts))
	highest := float64(slices.Max(counts))
	var p path
	for i, n := range counts {
		if n > 0 {
			h := math.Max(strip*float64(n)/highest, 0.6) // a single row stays visible
			p.bar(left+float64(i)*w, bottom+4+strip-h, w-0.4, h)
		}
	}
	return p.String()
}
