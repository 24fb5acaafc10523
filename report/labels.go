package report

import (
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/label"
)

// labelled is the result and its effects in the words of the result's labels: what a page
// shows. Grids stay in the data's numbers, so that pictures keep their geometry; an axis knows
// how its numbers are shown.
func labelled(r *decompose.Result, effects []Effect) (*decompose.Result, []Effect) {
	if r.Labels.IsEmpty() {
		return r, effects
	}
	terms := map[[2]string]label.Term{} // by predictor and name
	for k := range r.Predictors {
		d := &r.Predictors[k]
		for j := range d.Terms {
			terms[[2]string{d.Name, d.Terms[j].Name}] = d.Terms[j].LabelTerm()
		}
	}
	out := slices.Clone(effects)
	for i := range out {
		e := &out[i]
		names := e.Sum
		if names == nil {
			names = []string{e.Term}
		}
		var own []label.Term
		for _, name := range names {
			t, ok := terms[[2]string{e.Predictor, name}]
			if !ok {
				t = label.Term{Name: name}
			}
			own = append(own, t)
		}
		e.label(r.Labels, own)
	}
	return r.Labelled(), out
}

// label puts what people say in place of the names of an effect of these terms.
func (e *Effect) label(l *label.Labels, terms []label.Term) {
	names := make([]string, len(terms))
	for i, t := range terms {
		names[i] = l.Term(t)
	}
	if e.Sum != nil {
		e.Sum = names
	}
	e.Predictor, e.Term = l.Predictor(e.Predictor), strings.Join(names, " + ")
	t := terms[0]
	if e.Held != "" && t.By != "" {
		value := l.Value(t.By, 1)
		if t.Level != "" {
			value = l.Level(t.By, t.Level)
		}
		e.Held = l.Feature(t.By) + " = " + value
	}
	e.Note = strings.ReplaceAll(e.Note, strings.Join(t.Features, ", "), strings.Join(l.Features(t.Features), ", "))
	e.X, e.X2 = e.X.labelled(l, t), e.X2.labelled(l, t)
}

// labelled is the axis of a term in the words of the labels; nil stays nil. The axis of a
// factor of several columns of 0 and 1 is called like its term, and its levels are the columns.
func (a *Axis) labelled(l *label.Labels, t label.Term) *Axis {
	if a == nil {
		return nil
	}
	out, columns := *a, []string{a.Feature}
	if a.Feature == t.Name && !slices.Contains(t.Features, a.Feature) {
		out.Feature, columns = l.Term(t), t.Features
	} else {
		out.Feature, out.Unit, out.Scale = l.Feature(a.Feature), l.Unit(a.Feature), l.Scale(a.Feature)
	}
	out.Levels = slices.Clone(a.Levels)
	for i, level := range a.Levels {
		out.Levels[i] = l.LevelOf(columns, level)
	}
	return &out
}

// Title is what is written beside the axis: the feature, with the unit of its numbers.
func (a *Axis) Title() string {
	if a.Unit == "" || a.Levels != nil {
		return a.Feature
	}
	return a.Feature + " (" + a.Unit + ")"
}

// Text is point i for people: the level, or the number as it is shown, with its unit.
func (a *Axis) Text(i int) string {
	if a.Levels != nil {
		return a.Levels[i]
	}
	text := num(a.Scale.Shown(a.Values[i]))
	if a.Unit != "" {
		text += " " + a.Unit
	}
	return text
}

// ShownAt is the position of grid point p for people; x2 is empty for one feature.
func (e *Effect) ShownAt(p int) (x, x2 string) {
	if e.X2 == nil {
		return e.X.Text(p), ""
	}
	return e.X.Text(p / e.X2.Len()), e.X2.Text(p % e.X2.Len())
}

// shownTicks marks round numbers as they are shown, on an axis in the data's numbers.
func (a *Axis) shownTicks(x axis, n int) []tick {
	if a.Scale == nil {
		return x.spaced(n)
	}
	shown := span{a.Scale.Shown(x.lo), a.Scale.Shown(x.hi)}
	if a.Scale.IsLinear() { // of a decreasing one the axis runs backwards
		if shown.lo > shown.hi {
			return axis{span{shown.hi, shown.lo}, x.to, x.from}.spaced(n)
		}
		return axis{shown, x.from, x.to}.spaced(n)
	}
	if shown.lo > shown.hi {
		shown = span{shown.hi, shown.lo}
	}
	return spread(a.curvedTicks(x, shown), math.Abs(x.to-x.from), n)
}

// placed is a tick that may be left out.
type placed struct {
	at    float64
	label string
}

// curvedTicks are the candidates of a scale that is not linear: 1, 2 and 5 times powers of
// ten where the numbers span more than one, else equal steps.
func (a *Axis) curvedTicks(x axis, shown span) []placed {
	var out []placed
	add := func(v float64, label string) {
		if at := a.Scale.Value(v); !notFinite(at) && at >= x.lo && at <= x.hi {
			out = append(out, placed{x.at(at), label})
		}
	}
	if notFinite(shown.lo) || notFinite(shown.hi) || !(shown.size() > 0) {
		return nil
	}
	if shown.lo <= 0 || shown.hi < 10*shown.lo {
		if shown.lo > 0 || shown.hi < -10*shown.lo {
			step := niceStep(shown.size() / 6)
			for i := math.Ceil(shown.lo/step - 1e-9); i*step <= shown.hi+1e-9*step && len(out) < 24; i++ {
				add(i*step, tickLabel(i*step, step))
			}
			return out
		}
		add(0, "0") // of expm1, which begins there
	}
	least := shown.lo
	if least <= 0 {
		least = shown.hi / 1e3
	}
	for power := math.Floor(math.Log10(least)); power <= math.Log10(shown.hi) && len(out) < 120; power++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, power); v >= least {
				add(v, roundLabel(v))
			}
		}
	}
	return out
}

// roundLabel writes 1, 2 or 5 times a power of ten.
func roundLabel(v float64) string {
	if v >= 1e6 || v < 1e-3 {
		return digits(v, 1)
	}
	return label.Number(v)
}

// spread leaves at most about n ticks whose labels do not run into one another: every tick,
// every second, and so on, until they fit.
func spread(all []placed, width float64, n int) []tick {
	const letter, gap = 6.2, 8
	slices.SortStableFunc(all, func(a, b placed) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	for every := 1; ; every++ {
		var out []tick
		fits, last := true, math.Inf(-1)
		for i := 0; i < len(all); i += every {
			half := (letter*float64(len([]rune(all[i].label))) + gap) / 2
			fits = fits && all[i].at-half >= last
			last = all[i].at + half
			out = append(out, tick{At: px(all[i].at), Label: all[i].label})
		}
		if fits && len(out) <= n+2 || every > len(all) {
			return out
		}
	}
}
