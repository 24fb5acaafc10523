package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/decompose"
)

// From how many on an overview stands before the details.
const (
	manyPredictors = 3
	manyTerms      = 13
	overviewTerms  = 60 // listed
)

// overview shows all terms at once: of several predictors how far each term moves each of
// them, of many terms of one how far they move it and along which curve.
type overview struct {
	Words string
	Heads []overviewHead // predictors; nil: Terms have bars
	Terms []overviewTerm
	More  string
}

type overviewHead struct{ ID, Name string }

type overviewTerm struct {
	Term, Name string
	Cells      []overviewCell
	W, SD      string // the bar
	Share      string
	To         string // id of the figure, "" if there is none
	Curve      string // a small picture: a path, in 100 x 24
	Bars       bool   // it is of levels
}

// overviewCell is a term in a predictor. Level says how large, from 0 to 9.
type overviewCell struct {
	SD, To string
	Level  int
}

// newOverview is nil where there are few predictors and few terms.
func newOverview(r *decompose.Result, predictors []predictor, effects []Effect) *overview {
	terms := 0
	for k := range r.Predictors {
		terms = max(terms, len(r.Predictors[k].Terms))
	}
	switch {
	case terms == 0:
		return nil
	case len(predictors) >= manyPredictors:
		return termsByPredictors(r, predictors)
	case len(predictors) == 1 && terms >= manyTerms:
		return termsWithCurves(r, &predictors[0], effects)
	}
	return nil
}

// figureOf finds the figure of a term.
func (p *predictor) figureOf(term string) string {
	for _, f := range p.Figures {
		if f.effect.Term == term || slices.Contains(f.effect.Sum, term) {
			return f.ID
		}
	}
	return ""
}

// termsByPredictors is a table of the sd of each term in each predictor, relative to the
// predictor's own: the terms that matter most over all of them first.
func termsByPredictors(r *decompose.Result, predictors []predictor) *overview {
	o := &overview{Words: "How far each term moves each predictor: the standard deviation of its contribution over the rows, relative to that of the predictor. Darker cells are larger; they lead to the figures."}
	var names []string
	size := map[string][]float64{} // by term and predictor; NaN: not there
	for k := range predictors {
		d := &r.Predictors[k]
		o.Heads = append(o.Heads, overviewHead{predictors[k].ID, predictors[k].Name})
		for _, t := range d.Terms {
			if size[t.Name] == nil {
				names = append(names, t.Name)
				size[t.Name] = slices.Repeat([]float64{math.NaN()}, len(predictors))
			}
			if !constant(d) {
				size[t.Name][k] = math.Sqrt(t.After.Variance / d.Variance.Total)
			}
		}
	}
	total := func(name string) (sum float64) {
		for _, v := range size[name] {
			if v == v {
				sum += v * v
			}
		}
		return sum
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(total(b), total(a)) })
	most := 0.0
	for _, name := range names {
		most = math.Max(most, largest(size[name]))
	}
	if len(names) > overviewTerms {
		o.More = fmt.Sprintf("%d of %d terms are listed, those that move most.", overviewTerms, len(names))
		names = names[:overviewTerms]
	}
	for _, name := range names {
		t := overviewTerm{Term: clean(name), Name: clip(name, 40)}
		for k, v := range size[name] {
			c := overviewCell{SD: percent(v)}
			if v == v && most > 0 {
				c.Level, c.To = min(int(10*v/most), 9), predictors[k].figureOf(name)

			}
			t.Cells = append(t.Cells, c)
		}
		o.Terms = append(o.Terms, t)
	}
	return o
}

// termsWithCurves lists the terms of one predictor by their sd, with a small curve each.
func termsWithCurves(r *decompose.Result, p *predictor, effects []Effect) *overview {
	d := &r.Predictors[0]
	o := &overview{Words: fmt.Sprintf("All terms of %s by how far they move it, with their curves, each on a scale of its own.", p.Name)}
	order := make([]*decompose.TermResult, len(d.Terms))
	for j := range order {
		order[j] = &d.Terms[j]
	}
	slices.SortStableFunc(order, func(a, b *decompose.TermResult) int { return cmp.Compare(b.After.Variance, a.After.Variance) })
	if len(order) > overviewTerms {
		o.More = fmt.Sprintf("%d of %d terms are listed, those that move most.", overviewTerms, len(order))
		order = order[:overviewTerms]
	}
	x := axis{span{0, math.Sqrt(order[0].After.Variance)}.drawable(), 0, barWidth}
	for _, t := range order {
		own := overviewTerm{Term: clean(t.Name), Name: clip(t.Name, 40), SD: sd(t.After.Variance), W: px(x.at(math.Sqrt(t.After.Variance))), Share: share(d, []string{t.Name}), To: p.figureOf(t.Name)}
		for i := range effects {
			if e := &effects[i]; e.Term == t.Name && e.Predictor == d.Name && e.Note == "" && e.X2 == nil {
				own.Curve, own.Bars = spark(e), e.X.Levels != nil
			}
		}
		o.Terms = append(o.Terms, own)
	}
	return o
}

// spark is a small picture of an effect: its curve, or a bar from 0 for each level.
func spark(e *Effect) string {
	s := span{0, 0}
	for _, v := range e.After {
		s.add(v)
	}
	n := e.X.Len()
	if s.size() == 0 || n == 0 {
		return ""
	}
	y := axis{s, 23, 1}
	var p path
	if e.X.Levels == nil {
		x := axis{span{e.X.Values[0], e.X.Values[n-1]}.drawable(), 0, 100}
		every := max(1, n/50)
		for i := 0; i < n; i += every {
			if i == 0 {
				p.move(x.at(e.X.Values[i]), y.at(e.After[i]))
			} else {
				p.line(x.at(e.X.Values[i]), y.at(e.After[i]))
			}
		}
		return p.String()
	}
	shown := furthest(e.After, 30)
	w := 100 / float64(len(shown))
	for at, i := range shown {
		p.bar(float64(at)*w, math.Min(y.at(0), y.at(e.After[i])), math.Max(w-1, 0.5), math.Max(math.Abs(y.at(e.After[i])-y.at(0)), 0.5))
	}
	return p.String()
}
