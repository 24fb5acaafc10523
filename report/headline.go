package report

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/importance"
)

// headline says in a sentence what the report is about.
func (p *predictor) headline(d *decompose.Predictor) {
	after, before := importance.ExplainedVariance(d.Variance), importance.ExplainedVariance(d.VarianceBefore)
	switch {
	case constant(d):
		p.Headline = fmt.Sprintf("%s is constant on these rows: there is no variance to explain.", p.Name)
	case len(d.Terms) == 0:
		p.Headline = fmt.Sprintf("There is no interpretable part: all variance of %s stays in the model. Give a formula to say what could be explained.", p.Name)
	default:
		p.Headline = fmt.Sprintf("The interpretable part carries %s of the variance of %s%s; before the projection it carried %s.",
			percent(after.Structured), p.Name, convention(d.Convention), percent(before.Structured))
		p.Remainder = fmt.Sprintf("The deep remainder keeps %s: variation that the terms below cannot express.", percent(after.Unstructured))
		if math.Abs(after.TwiceCovariance) >= 5e-4 {
			p.Remainder += fmt.Sprintf(" The two parts covary, which accounts for the other %s.", percent(after.TwiceCovariance))
		}
		if math.Abs(before.TwiceCovariance) >= 0.01 {
			p.Remainder += fmt.Sprintf(" Before, the two parts covaried (%s of the variance), so that neither share said much.", percent(before.TwiceCovariance))
		}
	}
}

// convention is what makes a predictor unique, behind its name.
func convention(words string) string {
	if words == "" {
		return ""
	}
	return " (" + clip(words, 100) + ")"
}

// together says of predictors that are unique only together how much all of them are
// explained.
func together(r *decompose.Result) (out []string) {
	for _, s := range r.Sets {
		if s.Convention == "" {
			continue
		}
		after, before := importance.ExplainedVariance(s.Variance), importance.ExplainedVariance(s.VarianceBefore)
		out = append(out, fmt.Sprintf("The interpretable part carries %s of the variance of all classes together, each centred over the classes of every row; before the projection it carried %s. "+
			"What all classes have in common changes no probability and is no part of this. Each predictor below is of one class: %s.",
			percent(after.Structured), percent(before.Structured), clip(s.Convention, 100)))
	}
	return out
}

// constant reports whether a predictor does not vary beyond rounding.
func constant(d *decompose.Predictor) bool {
	level := math.Max(math.Abs(d.Intercept), math.Abs(d.InterceptBefore))
	return !(d.Variance.Total > 1e-24*level*level)
}

// stage is one bar of the headline: the split of the variance.
type stage struct {
	Name, Words string
	Segments    []segment
}

type segment struct{ Class, X, W string }

// barWidth is the length of the headline's bar in its own units.
const barWidth = 1000

// stages draws the shares before and after on one scale. A negative covariance
// reaches to the left of zero, and then the variances reach beyond 100 %.
func stages(d *decompose.Predictor) (out []stage, zero, hundred string) {
	if constant(d) {
		return nil, "", ""
	}
	evs := []importance.EV{importance.ExplainedVariance(d.VarianceBefore), importance.ExplainedVariance(d.Variance)}
	s := span{0, 1}
	for _, ev := range evs {
		s.add(math.Min(ev.TwiceCovariance, 0))
		s.add(ev.Structured + ev.Unstructured + math.Max(ev.TwiceCovariance, 0))
	}
	x := axis{s, 0, barWidth}
	for i, ev := range evs {
		st := stage{
			Name: []string{"Before", "After"}[i],
			Words: fmt.Sprintf("structured %s, unstructured %s, twice their covariance %s",
				percent(ev.Structured), percent(ev.Unstructured), percent(ev.TwiceCovariance)),
		}
		add := func(class string, from, to float64) {
			if to > from {
				st.Segments = append(st.Segments, segment{class, px(x.at(from)), px(x.at(to) - x.at(from))})
			}
		}
		add("structured", 0, ev.Structured)
		add("unstructured", ev.Structured, ev.Structured+ev.Unstructured)
		add("covariance", ev.Structured+ev.Unstructured, ev.Structured+ev.Unstructured+ev.TwiceCovariance)
		add("covariance", ev.TwiceCovariance, 0)
		out = append(out, st)
	}
	return out, px(x.at(0)), px(x.at(1))
}
