package decompose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pho-go/pho/label"
)

// Labelled is a copy of r for people to read: columns, terms, levels and predictors have the names
// of r.Labels, and numbers of columns are shown as these say: ranges, quantiles, histograms and
// samples of features, where rows lie, values of example rows (with their unit, as texts), and
// bounds of regions, each column's name there with its unit. r itself if there are no labels.
// Applier refuses the copy, whose names are no columns of any data.
//
// These keep the data's own names, since people are to find them in files or to copy them:
// Warnings, Formulas, Model, Diagnostics, and terms to be added (PairGain.Term).
func (r *Result) Labelled() *Result {
	if r.Labels.IsEmpty() || r.labelled {
		return r
	}
	out := *r
	out.labelled = true
	l := r.Labels
	for _, column := range []*string{&out.Response, &out.Event, &out.Weights, &out.Offset, &out.Cluster} {
		*column = l.Feature(*column)
	}
	out.Features = slices.Clone(r.Features)
	for i := range out.Features {
		out.Features[i] = labelledFeature(l, out.Features[i])
	}
	out.Examples = labelledExamples(l, r.Examples, r.Response)
	out.Sets = slices.Clone(r.Sets)
	for i := range out.Sets {
		out.Sets[i].Predictors = label.Each(out.Sets[i].Predictors, l.Predictor)
		out.Sets[i].Uniqueness = out.Sets[i].called(l.Predictor)
	}
	out.DeepFeatures = slices.Clone(r.DeepFeatures)
	for i := range out.DeepFeatures {
		out.DeepFeatures[i] = labelledDeepFeatures(l, out.DeepFeatures[i])
	}
	out.Predictors = slices.Clone(r.Predictors)
	for k := range out.Predictors {
		labelling{l, &r.Predictors[k], r.Predictors[k].termNames(l)}.predictor(&out.Predictors[k])
		for j := range r.Predictors[k].Terms {
			if s := r.SupportOf(&r.Predictors[k].Terms[j]); s != nil {
				out.Predictors[k].Terms[j].rows = labelledSupport(l, s, r.Features)
			}
		}
	}
	return &out
}

// LabelTerm is what labels need to know of t.
func (t *TermResult) LabelTerm() label.Term {
	column, level := by(t)
	return label.Term{Name: t.Name, Features: t.Features, By: column, Level: level}
}

// LabelTerm is what labels need to know of a term that is not decomposed yet.
func LabelTerm(t Term) label.Term {
	return (&TermResult{Name: t.Name(), Features: t.Columns(), term: t}).LabelTerm()
}

// LabelTerms are the terms of all predictors.
func (r *Result) LabelTerms() []label.Term {
	var out []label.Term
	for k := range r.Predictors {
		for j := range r.Predictors[k].Terms {
			out = append(out, r.Predictors[k].Terms[j].LabelTerm())
		}
	}
	return out
}

// termNames are what the terms of d are called, by name.
func (d *Predictor) termNames(l *label.Labels) map[string]string {
	names := map[string]string{}
	for j := range d.Terms {
		names[d.Terms[j].Name] = l.Term(d.Terms[j].LabelTerm())
	}
	return names
}

// labelling puts what people call things in place of names in one predictor.
type labelling struct {
	labels *label.Labels
	raw    *Predictor        // as it is
	terms  map[string]string // what its terms are called
}

func (l labelling) term(name string) string {
	if shown, ok := l.terms[name]; ok {
		return shown
	}
	return name
}

func (l labelling) predictor(d *Predictor) {
	d.Name, d.Uniqueness = l.labels.Predictor(d.Name), d.called(l.labels.Predictor)
	d.Aliased = label.Each(d.Aliased, l.column)
	d.Terms = slices.Clone(d.Terms)
	for j := range d.Terms {
		t := &d.Terms[j]
		if t.Because != nil {
			t.Because = l.told(t.Because)
			t.Why = because(t.Because)
		}
		t.Name, t.AliasedWith, t.Features = l.term(t.Name), label.Each(t.AliasedWith, l.term), l.labels.Features(t.Features)
		t.Margins = slices.Clone(t.Margins)
		for i := range t.Margins {
			t.Margins[i].Term = l.term(t.Margins[i].Term)
		}
	}
	d.Entangled = slices.Clone(d.Entangled)
	for i := range d.Entangled {
		e := &d.Entangled[i]
		e.Terms = label.Each(e.Terms, l.term)
		if e.Because != nil {
			e.Because = l.told(e.Because)
			e.Reason = because(e.Because)
		}
		e.Weak = l.told(e.Weak)
	}
	d.Concurvity = slices.Clone(d.Concurvity)
	for i := range d.Concurvity {
		c := &d.Concurvity[i]
		c.Term, c.With = l.term(c.Term), l.term(c.With)
	}
	d.Importance = slices.Clone(d.Importance)
	for i := range d.Importance {
		e := &d.Importance[i]
		e.Feature, e.Terms = l.labels.Feature(e.Feature), label.Each(e.Terms, l.term)
	}
	d.Orders = slices.Clone(d.Orders)
	for i := range d.Orders {
		d.Orders[i].Terms = label.Each(d.Orders[i].Terms, l.term)
	}
	l.hierarchy(d)
	l.remainder(d)
	l.deep(d)
}

// featuresOf are the columns of the terms of these names.
func (l labelling) featuresOf(terms []string) (out []string) {
	for j := range l.raw.Terms {
		if t := &l.raw.Terms[j]; contains(terms, t.Name) {
			out = union(out, t.Features)
		}
	}
	return out
}

func (l labelling) hierarchy(d *Predictor) {
	if d.Hierarchy == nil {
		return
	}
	h := *d.Hierarchy
	h.Open = slices.Clone(h.Open)
	for i := range h.Open {
		h.Open[i] = label.Each(h.Open[i], l.term)
	}
	h.Cells = slices.Clone(h.Cells)
	for i := range h.Cells {
		h.Cells[i].Term = l.term(h.Cells[i].Term)
	}
	h.Smoothed = slices.Clone(h.Smoothed)
	for i := range h.Smoothed {
		h.Smoothed[i].Term = l.term(h.Smoothed[i].Term)
	}
	d.Hierarchy = &h
}

func (l labelling) remainder(d *Predictor) {
	if d.Remainder == nil {
		return
	}
	m := *d.Remainder
	m.Pairs = slices.Clone(m.Pairs)
	for i := range m.Pairs {
		m.Pairs[i].Features = l.labels.Features(m.Pairs[i].Features)
	}
	m.Regions = slices.Clone(m.Regions)
	for i := range m.Regions {
		r := &m.Regions[i]
		r.Where = slices.Clone(r.Where)
		for j := range r.Where {
			r.Where[j] = l.condition(r.Where[j])
		}
	}
	d.Remainder = &m
}

func (l labelling) deep(d *Predictor) {
	if d.Deep == nil {
		return
	}
	own := Deep{Arrays: slices.Clone(d.Deep.Arrays), Columns: l.labels.Features(d.Deep.Columns)}
	for i := range own.Arrays {
		own.Arrays[i].Column = l.labels.Feature(own.Arrays[i].Column)
	}
	d.Deep = &own
}

func labelledDeepFeatures(l *label.Labels, f DeepFeatures) DeepFeatures {
	f.Columns, f.Functions = l.Features(f.Columns), slices.Clone(f.Functions)
	for i := range f.Functions {
		with := slices.Clone(f.Functions[i].With)
		for j := range with {
			with[j].Columns = l.Features(with[j].Columns)
		}
		f.Functions[i].With = with
	}
	return f
}

// condition has bounds in the units that are shown, which stand behind the column's name.
func (l labelling) condition(c Condition) Condition {
	column := c.Feature
	if c.Levels != nil {
		c.Levels = label.Each(c.Levels, func(level string) string { return l.labels.Level(column, level) })
		c.Feature = l.labels.Feature(column)
		return c
	}
	c.Feature = l.labels.Axis(column)
	for _, bound := range []**float64{&c.From, &c.To} {
		if *bound != nil {
			v := l.labels.Shown(column, **bound)
			*bound = &v
		}
	}
	if l.labels.Scale(column).Decreasing() {
		c.From, c.To = c.To, c.From
	}
	return c
}

// column is a column of a term's basis (Block.columnName): the term, with a level or a number
// behind it.
func (l labelling) column(name string) string {
	for _, term := range byLength(l.terms) {
		rest, ok := strings.CutPrefix(name, term)
		switch {
		case !ok:
		case strings.HasPrefix(rest, "[") && strings.HasSuffix(rest, "]"):
			return l.term(term) + "[" + l.labels.LevelOf(l.featuresOf([]string{term}), rest[1:len(rest)-1]) + "]"
		case rest == "" || rest[0] == '.':
			return l.term(term) + rest
		}
	}
	return name
}

// byLength are the names, the longest first: it may begin with another one.
func byLength(names map[string]string) []string {
	out := slices.Sorted(maps.Keys(names))
	slices.SortStableFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// errLabelled is what applying a copy by Labelled is.
func (r *Result) errLabelled() error {
	if !r.labelled {
		return nil
	}
	return fmt.Errorf("decompose: this result is a copy in the words of its labels, for people to read: apply the one that it was made of")
}
