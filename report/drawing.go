package report

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/decompose"
)

// drawing is what the pictures of one predictor have in common.
type drawing struct {
	common  span // range of all effects, on the link scale
	feature map[string]decompose.Feature
	eta     string
}

// newDrawing prepares the pictures of one predictor.
func newDrawing(r *decompose.Result, d *decompose.Predictor) *drawing {
	draw := &drawing{common: emptySpan(), feature: map[string]decompose.Feature{}, eta: d.Name}
	for _, f := range r.Features {
		draw.feature[f.Name] = f
	}
	return draw
}

// effectSpan is the range of one effect: its curves, and its band where that is not among
// the widest quarter, which is at the ends, where there are hardly any rows.
func effectSpan(e *Effect) span {
	s := emptySpan()
	s.add(0)
	known := slices.DeleteFunc(slices.Clone(e.SE), notFinite)
	slices.Sort(known)
	for i := range e.After {
		s.add(e.After[i])
		s.add(e.Before[i])
		if len(known) > 0 && e.SE[i] <= known[len(known)*3/4] {
			s.add(e.After[i] - e.half(i))
			s.add(e.After[i] + e.half(i))
		}
	}
	return s
}

// join extends the predictor's common range by an effect. Terms that are not identified do
// not count, for their split, and so their size, is arbitrary.
func (d *drawing) join(c *candidate) {
	if c.effect.Note == "" && c.effect.X2 == nil && c.identified() {
		d.common.join(effectSpan(c.effect))
	}
}

// scale is the range to draw e on: the predictor's common one, so that effects can be
// compared by eye. If e does not fit into it, or would be nearly flat, it has a range of
// its own, and why is a sentence for the caption.
func (d *drawing) scale(e *Effect, direction string) (s span, why []string) {
	const flat = 0.25
	s = effectSpan(e)
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

// byLevel counts the rows of each level.
func (d *drawing) byLevel(name string) map[string]int64 {
	f := d.feature[name]
	out := map[string]int64{}
	if len(f.Levels) == len(f.Counts) {
		for i, l := range f.Levels {
			out[l] = f.Counts[i]
		}
	}
	return out
}
