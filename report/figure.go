package report

import (
	"fmt"
	"math"
	"slices"
)

// figure is one term's picture: exactly one of Curve, Dots and Heat is set.
type figure struct {
	ID, Term  string // of the page; of the effect
	Predictor int    // from 1
	Title     string
	Details   string // under the title
	Label     string // for readers who do not see it
	Caption   []string
	Curve     *curve
	Dots      *dots
	Heat      *heat
	Wide      bool // takes the width of the page

	effect *Effect
}

// Sizes of the pictures in their own units.
const (
	width     = 360
	left      = 46 // of the plot area
	right     = 350
	top       = 8
	bottom    = 186
	strip     = 22 // height of the histogram below
	maxLevels = 30 // drawn of a factor
)

// draw makes the picture of an effect; nil if there is nothing to draw, and why.
func (d *drawing) draw(c *candidate) (*figure, string) {
	e := c.effect
	if e.Note != "" {
		return nil, e.Note
	}
	f := &figure{Term: clean(e.Term), Title: clip(e.Term, 60), Details: c.details(), effect: e}
	switch {
	case e.X2 != nil:
		h, err := d.heat(e)
		if err != nil {
			return nil, err.Error()
		}
		f.Heat, f.Wide = h, true
		f.Caption = h.caption
	case e.X.Levels != nil:
		f.Dots = d.dots(e)
		f.Caption = f.Dots.caption
	case len(e.X.Values) < 2:
		return nil, fmt.Sprintf("%s is constant in these data", clip(e.X.Feature, 60))
	default:
		f.Curve = d.curve(e)
		f.Caption = f.Curve.caption
	}
	if words := c.doubt(); words != "" {
		f.Caption = append(f.Caption, words)
	}
	f.Label = describe(e, d.eta)
	return f, ""
}

// describe is the picture in a sentence.
func describe(e *Effect, eta string) string {
	text := func(v []float64) string {
		known := slices.DeleteFunc(slices.Clone(v), math.IsNaN)
		if len(known) == 0 {
			return "without a value"
		}
		lo, hi := slices.Min(known), slices.Max(known)
		if hi-lo < 1e-12*math.Max(1, math.Abs(hi)) {
			return "constant at " + num(hi)
		}
		at := func(p int) string {
			x, x2 := e.ShownAt(p)
			s := e.X.Feature + " = " + x
			if e.X2 != nil {
				s += ", " + e.X2.Feature + " = " + x2
			}
			return clip(s, 80)
		}
		return fmt.Sprintf("lowest %s at %s, highest %s at %s", num(lo), at(slices.Index(v, lo)), num(hi), at(slices.Index(v, hi)))
	}
	said := fmt.Sprintf("Effect of %s on %s. After the projection: %s.", clip(e.Term, 60), clip(eta, 40), text(e.After))
	if e.hasBefore() {
		said += fmt.Sprintf(" Before: %s.", text(e.Before))
	}
	return said
}
