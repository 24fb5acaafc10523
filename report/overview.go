package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/decompose"
)

const (
	manyPredictors = 3  // from as many on an overview stands before the details
	overviewTerms  = 60 // listed
)

// overview shows what is identified of several predictors at once: how far it moves each.
type overview struct {
	Words string
	Heads []overviewHead // predictors
	Terms []overviewTerm
	More  string
}

type overviewHead struct{ ID, Name string }

type overviewTerm struct {
	Term, Name string
	Cells      []overviewCell
}

// overviewCell is a term in a predictor. Level says how large, from 0 to 9.
type overviewCell struct {
	SD, To string
	Level  int
}

// newOverview is nil where there are few predictors.
func newOverview(r *decompose.Result, predictors []predictor) *overview {
	if len(predictors) < manyPredictors || !slices.ContainsFunc(r.Predictors, func(d decompose.Predictor) bool { return len(d.Terms) > 0 }) {
		return nil
	}
	return termsByPredictors(r, predictors)
}

// figureOf finds the figure of a term, or of a sum, by its name.
func (p *predictor) figureOf(name string) string {
	for _, f := range slices.Concat(p.Figures, p.Parts) {
		if f.effect.Term == name {
			return f.ID
		}
	}
	return ""
}

// termsByPredictors is a table of the sd of what is identified of each predictor, relative to the
// predictor's own: what matters most over all of them first.
func termsByPredictors(r *decompose.Result, predictors []predictor) *overview {
	o := &overview{Words: "How far each moves each predictor: the standard deviation of its contribution over the rows, relative to that of the predictor. Darker cells are larger; they lead to the figures."}
	var names []string
	columns := map[string]string{}
	size := map[string][]float64{} // by terms and predictor; NaN: not there
	for k := range predictors {
		d := &r.Predictors[k]
		o.Heads = append(o.Heads, overviewHead{predictors[k].ID, predictors[k].Name})
		for _, own := range predictors[k].ranking {
			if size[own.name] == nil {
				names, columns[own.name] = append(names, own.name), own.columns
				size[own.name] = slices.Repeat([]float64{math.NaN()}, len(predictors))
			}
			if !constant(d) {
				size[own.name][k] = own.sd / math.Sqrt(d.Variance.Total)
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
		o.More = fmt.Sprintf("Listed are the %d of %d that move most.", overviewTerms, len(names))
		names = names[:overviewTerms]
	}
	for _, name := range names {
		t := overviewTerm{Term: clean(name), Name: columns[name]}
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
