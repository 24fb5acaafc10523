package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/decompose"
)

// drawing is what the pictures of one predictor have in common.
type drawing struct {
	outcome outcome
	of      *decompose.Predictor // nil: of two decompositions
	classes []class              // that a softmax takes together; nil: none
	known   map[*Effect]*shown
	common  span // range of all effects
	most    span // effects that leave it do not decide it; of no size: no such bound
	feature map[string]decompose.Feature
	support func(term string) *decompose.Support
	both    bool // of two decompositions: what is 0 in the first is drawn, too
}

// newDrawing prepares the pictures of predictor k, effects being those of all.
func newDrawing(r *decompose.Result, k int, effects []Effect) *drawing {
	d := &r.Predictors[k]
	draw := &drawing{outcome: outcomeOf(r, k), of: d, known: map[*Effect]*shown{}, common: emptySpan(), feature: map[string]decompose.Feature{}}
	if draw.classes = classesOf(r, draw.outcome.of, effects); draw.classes != nil {
		etas := make([]float64, len(draw.classes))
		for l, c := range draw.classes {
			etas[l] = c.of.Intercept
		}
		draw.outcome.base = softmax(etas, slices.Index(draw.outcome.of.With, k), draw.outcome.of.Reference)
	}
	draw.support = func(term string) *decompose.Support {
		for j := range d.Terms {
			if d.Terms[j].Name == term {
				return r.SupportOf(&d.Terms[j])
			}
		}
		return nil
	}
	for _, f := range r.Features {
		draw.feature[f.Name] = f
	}
	return draw
}

// supportOf is where rows lie for e's term, nil: wherever its features do.
func (d *drawing) supportOf(e *Effect) *decompose.Support {
	if d.support == nil {
		return nil
	}
	return d.support(e.Term)
}

// quantiles are those of the rows that e's term is about, nil if they are not known.
func (d *drawing) quantiles(name string, e *Effect) []float64 {
	f, ok := d.feature[name]
	if !ok || f.Levels != nil {
		return nil
	}
	_, _, q := rowsIn(d.supportOf(e), &f)
	return q
}

// sampled is where a row lies on the two features of a surface; of a factor the place of its
// level on the effect's axis.
type sampled struct{ x, y float64 }

// sample are rows that e's term is about; nil if none are known.
func (d *drawing) sample(e *Effect) []sampled {
	x, y := d.onAxis(e.X), d.onAxis(e.X2)
	if x == nil || len(x) != len(y) {
		return nil
	}
	by, level := []float64(nil), 0.0
	if s := d.supportOf(e); s != nil && s.By != "" {
		f := d.feature[s.By]
		by, level = f.Sample, f.Position(s.Level)
	}
	var out []sampled
	for i := range x {
		if by != nil && by[i] != level || x[i] < 0 && e.X.Levels != nil || y[i] < 0 && e.X2.Levels != nil {
			continue
		}
		out = append(out, sampled{x[i], y[i]})
	}
	return out
}

// onAxis are the sampled values of a feature, as places on its axis if it has levels, -1
// where it has not this one.
func (d *drawing) onAxis(a *Axis) []float64 {
	f := d.feature[a.Feature]
	if a.Levels == nil {
		if f.Levels != nil {
			return nil
		}
		return f.Sample
	}
	place := map[float64]float64{}
	for i := range a.Levels {
		place[a.place(&f, i)] = float64(i)
	}
	out := make([]float64, len(f.Sample))
	for i, v := range f.Sample {
		at, ok := place[v]
		if out[i] = at; !ok {
			out[i] = -1
		}
	}
	return out
}

// effectSpan is the range of one effect: its curves where rows lie, and three quarters as
// much again of where they run beyond. Of its band what is not among the widest quarter, which is at
// the ends, where there are hardly any rows.
func (d *drawing) effectSpan(e *Effect) span {
	in := func(float64) bool { return true }
	q := d.quantiles(e.X.Feature, e)
	if e.X.Levels == nil && len(q) > 2 {
		lo, _, hi := central(q)
		in = func(x float64) bool { return x >= lo && x <= hi }
	}
	rows, all, v := emptySpan(), emptySpan(), d.shown(e)
	rows.add(d.outcome.base)
	known := slices.DeleteFunc(slices.Clone(e.SE), notFinite)
	slices.Sort(known)
	for i := range v.after {
		if math.IsNaN(v.after[i]) {
			continue
		}
		all.add(v.after[i])
		all.add(v.before[i])
		if e.X.Levels == nil && e.X2 == nil && !in(e.X.Values[i]) {
			continue
		}
		rows.add(v.after[i])
		rows.add(v.before[i])
		if len(known) > 0 && v.low != nil && e.SE[i] <= known[len(known)*3/4] {
			rows.add(v.low[i])
			rows.add(v.high[i])
		}
	}
	room := rows.padded(0.75)
	rows.lo, rows.hi = math.Min(rows.lo, math.Max(all.lo, room.lo)), math.Max(rows.hi, math.Min(all.hi, room.hi))
	return rows
}

// join extends the predictor's common range by an effect. Terms that are not identified do
// not count, for their split, and so their size, is arbitrary; nor does a curve that is far
// larger than all rows' contributions, as that of a level of few rows may be.
func (d *drawing) join(c *candidate) {
	if c.effect.Note != "" || c.effect.X2 != nil || !c.identified() {
		return
	}
	if s := d.effectSpan(c.effect); !(d.most.size() > 0) || d.most.lo <= s.lo && s.hi <= d.most.hi {
		d.common.join(s)
	}
}

// at is the outcome at an effect of v; of several classes, which move together, NaN.
func (d *drawing) at(v float64) float64 {
	if d.outcome.told == differences {
		return v
	}
	return d.outcome.at(d.of.Intercept, v)
}

// bound sets most from the candidates: twelve standard deviations over the rows, of the
// effect of the largest.
func (d *drawing) bound(candidates []*candidate) {
	largest := 0.0
	for _, c := range candidates {
		if c.identified() {
			largest = math.Max(largest, c.after)
		}
	}
	d.most = emptySpan()
	for _, v := range []float64{-12 * largest, 12 * largest} {
		d.most.add(d.at(v))
	}
}

// scale is the range to draw e on: the predictor's common one, so that effects can be
// compared by eye. If e does not fit into it, or would be nearly flat, it has a range of
// its own, and why is a sentence for the caption.
func (d *drawing) scale(e *Effect, direction string) (s span, why []string) {
	const flat = 0.25
	s = d.effectSpan(e)
	if d.common.empty() || s.size() == 0 {
		return s.drawable().padded(0.06), nil
	}
	switch ratio := d.common.size() / s.size(); {
	case s.lo < d.common.lo || s.hi > d.common.hi:
		why = []string{fmt.Sprintf("The %s scale is its own.", direction)}
	case ratio > 1/flat:
		why = []string{fmt.Sprintf("The %s scale is enlarged %s times.", direction, digits(ratio, 2))}
	default:
		s = d.common
	}
	return s.drawable().padded(0.05), why
}

// byLevel counts the rows of each level of an axis, as far as they are known: of a column of
// numbers, if few whole ones.
func (d *drawing) byLevel(a *Axis) map[string]int64 {
	f := d.feature[a.Feature]
	out := map[string]int64{}
	if len(f.Levels) == len(f.Counts) {
		for i, l := range f.Levels {
			out[l] = f.Counts[i]
		}
	}
	if f.Levels == nil && whole(f.Quantiles) {
		counts, first := wholeCounts(f.Counts, f.Min, f.Max)
		for i, l := range a.Levels {
			if at := a.place(&f, i) - first; at >= 0 && at < float64(len(counts)) && at == math.Trunc(at) {
				out[l] = int64(counts[int(at)])
			}
		}
	}
	return out
}
