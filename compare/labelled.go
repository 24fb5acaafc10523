package compare

import (
	"slices"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/label"
)

// Labelled is a copy of c for people to read: predictors, terms, columns and levels are called
// what c.Labels says, and places on axes and the features' ranges are in the units that are
// shown. Grids stay in the data's numbers. Notes of the comparison keep names. c itself if there are no labels.
func (c *Comparison) Labelled() *Comparison {
	if c.Labels.IsEmpty() {
		return c
	}
	out, l := *c, c.Labels
	out.Features = (&decompose.Result{Features: c.Features, Labels: l}).Labelled().Features
	out.Predictors = slices.Clone(c.Predictors)
	for i := range out.Predictors {
		p := &out.Predictors[i]
		p.Name = l.Predictor(p.Name)
		p.Terms, p.Sums = c.labelled(p.Terms), c.labelled(p.Sums)
	}
	return &out
}

func (c *Comparison) labelled(terms []Term) []Term {
	l, out := c.Labels, slices.Clone(terms)
	for i := range out {
		t := &out[i]
		name := func(name string) string {
			if own, ok := c.terms[name]; ok {
				return l.Term(own)
			}
			return l.Term(label.Term{Name: name, Features: t.Features}) // of a sum
		}
		t.Name, t.NameB = name(t.Name), name(t.NameB)
		t.Features = l.Features(t.Features)
		if t.onlyA != nil || t.onlyB != nil {
			t.Note = onlySum(each(t.onlyA, name), each(t.onlyB, name))
		}
		if t.Curve == nil {
			continue
		}
		s := *t.Curve
		s.X, s.X2 = l.ValueText(s.Grid[0].Feature, s.X), l.ValueText(s.Grid[1].Feature, s.X2)
		s.Over = slices.Clone(s.Over)
		for j := range s.Over {
			o := &s.Over[j]
			level := func(text string) string { return l.Level(o.Feature, text) }
			o.OnlyA, o.OnlyB = each(o.OnlyA, level), each(o.OnlyB, level)
			o.Feature = l.Feature(o.Feature)
		}
		t.Curve = &s
	}
	return out
}

// each keeps nil.
func each(texts []string, show func(string) string) (out []string) {
	for _, t := range texts {
		out = append(out, show(t))
	}
	return out
}

// labelTerms are the terms of the results by name.
func labelTerms(results ...*decompose.Result) map[string]label.Term {
	out := map[string]label.Term{}
	for _, r := range results {
		for _, t := range r.LabelTerms() {
			out[t.Name] = t
		}
	}
	return out
}
