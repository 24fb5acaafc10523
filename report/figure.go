package report

import (
	"cmp"
	"fmt"
)

// figure is one term's picture: exactly one of Curve, Dots and Heat is set.
type figure struct {
	ID, Term  string // of the page; of the effect
	Predictor int    // from 1
	Title     string // the columns
	Name      string // the term
	Details   string // under the title
	Scale     string // response or link
	Axis      string // what the axis of values shows
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
	top       = 22
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
	f := &figure{Term: clean(e.Term), Title: e.columns(), Name: clip(e.Term, 60), effect: e, Scale: "link", Axis: d.outcome.link}
	if d.drawsResponse(e) {
		f.Scale, f.Axis = "response", d.outcome.title
	}
	if found := d.newFinding(e); found != nil {
		f.Details = "It " + found.clause() + "."
		f.Label = d.outcome.what + " " + found.clause() + "."
	}
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
	if words := c.doubt(); words != "" && !(d.classes != nil && d.drawsResponse(e) && c.byPredictor()) {
		f.Caption = append(f.Caption, words)
	}
	f.Label = cmp.Or(f.Label, "Effect of "+f.Title)
	return f, ""
}
