package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/pho-go/pho/drift"
)

// driftSeries are two figures of every period that are drawn one below the other.
type driftSeries struct {
	title, above, below string
	upper               func(*drift.Period) (v, variance float64)
	lower               func(*drift.Period) float64
	marks               func(*drift.Change) (upper, lower bool) // what drifted
}

// partSeries are the mean of part j of predictor k and its share of the variance; of the part
// behind the last, which is the predictor itself, its variance.
func partSeries(r *drift.Report, k, j int) driftSeries {
	terms := r.Of.Predictors[k].Terms
	s := driftSeries{title: drift.Unstructured, above: "mean", below: "share of the variance"}
	switch {
	case j < len(terms):
		s.title = clip(terms[j].Name, 60)
	case j > len(terms):
		s.title, s.below = "the prediction", "variance"
	}
	s.upper = func(p *drift.Period) (float64, float64) {
		return p.Predictors[k].Mean[j], p.Predictors[k].MeanVariance[j]
	}
	s.lower = func(p *drift.Period) float64 { return p.Predictors[k].Share[j] }
	s.marks = func(c *drift.Change) (bool, bool) {
		own := &c.Predictors[k]
		if j < len(own.Parts) {
			return own.Parts[j].Mean.Drift, own.Parts[j].Share.Drift
		}
		return own.Mean.Drift, own.Variance.Drift
	}
	return s
}

// fitSeries are the mean error of the prediction and the deviance.
func fitSeries() driftSeries {
	return driftSeries{
		title: "the response", above: "mean of response less prediction", below: "deviance",
		upper: func(p *drift.Period) (float64, float64) { return p.Fit.Error, p.Fit.ErrorVariance },
		lower: func(p *drift.Period) float64 { return p.Fit.Loss },
		marks: func(c *drift.Change) (bool, bool) { return c.Fit.Error.Drift, c.Fit.Loss.Drift },
	}
}

// driftFigure is a series as the template draws it.
type driftFigure struct {
	Title, Label, Details string
	news                  int // periods in which it drifted, mean and variance
	Above, Below          string
	Band, Upper, Lower    string // paths
	UpperAt, LowerAt      string // heights of the reference; "": none
	Zero                  string // of the lower panel
	UpperTicks            []tick
	LowerTicks            []tick
	XTicks                []tick
	UpperDots, LowerDots  []driftDot
}

// driftDot is a period. Those that drifted are diamonds.
type driftDot struct {
	X, Y, Path string
	Title      string
	Drift      bool
}

// The places of a figure's panels.
const (
	driftLeft, driftRight  = 46, 350
	upperTop, upperBottom  = 14, 124
	lowerTop, lowerBottom  = 146, 216
	mostDots               = 120
	halfWidthOf95          = 1.959963984540054
	driftXLabels, xLetters = 5, 10
)

// driftFigures are those of the predictor itself, of the response, and of the predictor's parts: those that
// drifted, the most often first, and the quiet others. Parts have common scales, unless they were flat on them.
func driftFigures(r *drift.Report, k int, drawn []*drift.Period) (out, quiet []driftFigure, notDrawn string) {
	parts := len(r.Of.Predictors[k].Terms) + 1
	whole := partSeries(r, k, parts)
	out = append(out, whole.draw(r, drawn, whole.spans(r, drawn)))
	if k == 0 && r.With.Fit != nil && !slices.ContainsFunc(drawn, func(p *drift.Period) bool { return p.Fit == nil }) {
		fit := fitSeries()
		out = append(out, fit.draw(r, drawn, fit.spans(r, drawn)))
	}
	if parts > maxFigures {
		notDrawn = fmt.Sprintf("Drawn are the first %d of %d parts, and the unstructured one.", maxFigures-1, parts)
	}
	all := [2]span{emptySpan(), emptySpan()}
	var series []driftSeries
	for j := range parts {
		s := partSeries(r, k, j)
		own := s.spans(r, drawn)
		all[0].join(own[0])
		all[1].join(own[1])
		if j < maxFigures-1 || j == parts-1 {
			series = append(series, s)
		}
	}
	var parted []driftFigure
	for _, s := range series {
		spans, own, enlarged := all, s.spans(r, drawn), ""
		if own[0].size() < flatPart*all[0].size() {
			spans[0], enlarged = own[0], "; the scale above is its own"
		}
		if own[1].size() < flatPart*all[1].size() {
			spans[1], enlarged = own[1], cmp.Or(enlarged, "; the scale below is its own")
		}
		if spans == own {
			enlarged = "; the scales are its own"
		}
		f := s.draw(r, drawn, spans)
		f.Details += enlarged
		parted = append(parted, f)
	}
	slices.SortStableFunc(parted, func(a, b driftFigure) int { return cmp.Compare(b.news, a.news) })
	for _, f := range parted {
		if f.news > 0 {
			out = append(out, f)
		} else {
			quiet = append(quiet, f)
		}
	}
	return out, quiet, notDrawn
}

// flatPart is how much of the common scale a part has to take to be drawn on it.
const flatPart = 0.25

// spans are the ranges of both panels.
func (s *driftSeries) spans(r *drift.Report, drawn []*drift.Period) [2]span {
	upper, lower := emptySpan(), emptySpan()
	lower.add(0)
	for _, p := range append([]*drift.Period{r.With}, drawn...) {
		v, variance := s.upper(p)
		upper.add(v)
		upper.add(v - halfWidthOf95*math.Sqrt(variance))
		upper.add(v + halfWidthOf95*math.Sqrt(variance))
		lower.add(s.lower(p))
	}
	return [2]span{upper, lower}
}

func (s *driftSeries) draw(r *drift.Report, drawn []*drift.Period, spans [2]span) driftFigure {
	f := driftFigure{Title: s.title, Above: s.above, Below: s.below}
	f.Label = s.title + " over the periods: " + s.above + " above, " + s.below + " below"
	x := driftAxis(len(drawn))
	y := axis{spans[0].drawable().padded(0.06), upperBottom, upperTop}
	z := axis{spans[1].drawable().padded(0.06), lowerBottom, lowerTop}
	f.UpperTicks, f.LowerTicks, f.XTicks = y.ticks(5), z.ticks(3), driftTicks(x, drawn)
	f.Zero = px(z.at(0))
	upper := func(p *drift.Period) float64 { v, _ := s.upper(p); return v }
	f.UpperAt = px(y.at(upper(r.With)))
	if v := s.lower(r.With); !notFinite(v) {
		f.LowerAt = px(z.at(v))
	}
	f.Band = driftBand(x, y, drawn, func(p *drift.Period) (float64, float64) {
		v, variance := s.upper(p)
		return v, halfWidthOf95 * math.Sqrt(variance)
	})
	f.Upper, f.Lower = driftLine(x, y, drawn, upper), driftLine(x, z, drawn, s.lower)
	s.dots(&f, r, drawn, x, y, z)
	return f
}

// dots marks the periods, those that drifted always and the others if there are few.
func (s *driftSeries) dots(f *driftFigure, r *drift.Report, drawn []*drift.Period, x, y, z axis) {
	of, marked := changesOf(r), [2]int{}
	for i, p := range drawn {
		var drifted [2]bool
		if c := of[p.Name]; c != nil {
			drifted[0], drifted[1] = s.marks(c)
		}
		value, _ := s.upper(p)
		for n, v := range []float64{value, s.lower(p)} {
			if drifted[n] {
				marked[n]++
			}
			if notFinite(v) || !drifted[n] && len(drawn) > mostDots {
				continue
			}
			to, at := &f.UpperDots, y
			if n == 1 {
				to, at = &f.LowerDots, z
			}
			cx, cy := x.at(float64(i)), at.at(v)
			*to = append(*to, driftDot{px(cx), px(cy), "M" + px(cx) + " " + px(cy-4.5) + "l4.5 4.5-4.5 4.5-4.5-4.5z", clip(p.Name, 40) + ": " + num(v), drifted[n]})
		}
	}
	f.news = marked[0] + marked[1]
	f.Details = fmt.Sprintf("drift above in %d, below in %d of %d periods", marked[0], marked[1], len(r.Changes))
}

// driftAxis is that of n periods.
func driftAxis(n int) axis { return axis{span{-0.5, float64(n) - 0.5}, driftLeft, driftRight} }

// driftTicks labels some periods, as many as fit side by side.
func driftTicks(x axis, drawn []*drift.Period) (out []tick) {
	const letter, gap = 6.2, 8 // of the labels' font
	longest := 0
	for _, p := range drawn {
		longest = max(longest, utf8.RuneCountInString(clip(p.Name, xLetters)))
	}
	room := math.Ceil((letter*float64(longest) + gap) / (x.at(1) - x.at(0)))
	step := max(1, (len(drawn)+driftXLabels-1)/driftXLabels, int(room))
	for i := 0; i < len(drawn); i += step {
		out = append(out, tick{At: px(x.at(float64(i))), Label: clip(drawn[i].Name, xLetters)})
	}
	return out
}

func driftLine(x, y axis, drawn []*drift.Period, value func(*drift.Period) float64) string {
	var p path
	down := false
	for i, period := range drawn {
		v := value(period)
		switch {
		case notFinite(v):
			down = false
			continue
		case down:
			p.line(x.at(float64(i)), y.at(v))
		default:
			p.move(x.at(float64(i)), y.at(v))
		}
		down = true
	}
	return p.String()
}

// driftBand is a bar of 95 % at each period, as wide as there is room.
func driftBand(x, y axis, drawn []*drift.Period, value func(*drift.Period) (v, half float64)) string {
	var p path
	wide := 0.8 * (x.at(1) - x.at(0))
	for i, period := range drawn {
		if v, half := value(period); !notFinite(half) {
			p.bar(x.at(float64(i))-wide/2, y.at(v+half), wide, y.at(v-half)-y.at(v+half))
		}
	}
	return p.String()
}
