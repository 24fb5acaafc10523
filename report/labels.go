package report

import (
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/label"
)

// labelled is the result and its effects in the words and numbers of the result's labels: what
// a page shows. It is converted here, once, so that pictures, captions, tables and the script
// know of one kind of numbers.
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
		e.label(r.Labels, own, r.Features)
	}
	return r.Labelled(), out
}

// label puts what people say in place of the names and numbers of an effect of these terms.
func (e *Effect) label(l *label.Labels, terms []label.Term, features []decompose.Feature) {
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
	e.show(l, t, features)
}

// show puts the grid and the values on it into the shown numbers, in their order.
func (e *Effect) show(l *label.Labels, t label.Term, features []decompose.Feature) {
	turned := [2]bool{e.X.turns(l), e.X2.turns(l)}
	e.X, e.X2 = e.X.labelled(l, t, features), e.X2.labelled(l, t, features)
	if e.X == nil || turned == [2]bool{} {
		return
	}
	outer, inner := e.X.Len(), 1
	if e.X2 != nil {
		inner = e.X2.Len()
	}
	turn := func(v []float64) []float64 {
		if v == nil {
			return nil
		}
		out := make([]float64, len(v))
		for p := range out {
			i, j := p/inner, p%inner
			if turned[0] {
				i = outer - 1 - i
			}
			if turned[1] {
				j = inner - 1 - j
			}
			out[p] = v[i*inner+j]
		}
		return out
	}
	e.Before, e.After, e.SE, e.Sim = turn(e.Before), turn(e.After), turn(e.SE), turn(e.Sim)
	if e.Networks != nil {
		n := *e.Networks
		n.Before, n.After = slices.Clone(n.Before), slices.Clone(n.After)
		for i := range n.After {
			n.Before[i], n.After[i] = turn(n.Before[i]), turn(n.After[i])
		}
		n.SDBefore, n.SD = turn(n.SDBefore), turn(n.SD)
		e.Networks = &n
	}
}

// turns tells whether the axis' numbers are shown in the opposite order.
func (a *Axis) turns(l *label.Labels) bool {
	return a != nil && a.Values != nil && l.Scale(a.Feature).Decreasing()
}

// labelled is the axis of a term in the words and numbers of the labels; nil stays nil. The
// axis of a factor of several columns of 0 and 1 is called like its term, and its levels are
// the columns.
func (a *Axis) labelled(l *label.Labels, t label.Term, features []decompose.Feature) *Axis {
	if a == nil {
		return nil
	}
	out, columns := *a, []string{a.Feature}
	if a.Feature == t.Name && !slices.Contains(t.Features, a.Feature) {
		out.Feature, columns = l.Term(t), t.Features
	} else {
		out.Feature, out.Unit = l.Feature(a.Feature), l.Unit(a.Feature)
		out.Values, out.whole = l.Scale(a.Feature).Ascending(a.Values), a.whole && l.Scale(a.Feature) == nil
	}
	out.Levels, out.numeric = slices.Clone(a.Levels), a.ordered()
	for i, level := range a.Levels {
		out.Levels[i] = l.LevelOf(columns, level)
	}
	for i := range features {
		if f := &features[i]; f.Name == a.Feature && f.Levels == nil && a.Levels != nil {
			out.places = make([]float64, len(a.Levels))
			for j, level := range a.Levels {
				out.places[j] = l.Shown(a.Feature, f.Position(level))
			}
		}
	}
	return &out
}

// place is where f, the axis' feature, has level i (decompose.Feature.Position).
func (a *Axis) place(f *decompose.Feature, i int) float64 {
	if a.places != nil {
		return a.places[i]
	}
	return f.Position(a.Levels[i])
}

// ordered tells whether the levels are numbers, or have an order of their own, in which they are drawn.
func (a *Axis) ordered() bool {
	return a.declared || a.numeric || !slices.ContainsFunc(numbers(a.Levels), math.IsNaN)
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
	text := trimmed(num(a.Values[i]))
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
