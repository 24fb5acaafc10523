package wiring

import (
	"slices"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/label"
)

// checkLabels refuses labels of columns that the data have not, and of predictors that the
// network has not, before rows are read. Terms are for CheckLabels.
func (q *Request) checkLabels(m decompose.Model, ref *Reference) error {
	return optionError("labels", q.Labels.Check(label.Known{Columns: q.Rows.Schema().Names(), Predictors: ref.predictors(m.Predictors())}))
}

// CheckLabels refuses labels of terms that m, the model to be decomposed, has not.
func (d *Ready) CheckLabels(m decompose.Model) error {
	terms := []label.Term{}
	for k := range m.Predictors() {
		for _, b := range m.Blocks(k) {
			terms = append(terms, decompose.LabelTerm(b.Term))
		}
	}
	return optionError("labels", d.labels.Check(label.Known{Terms: terms}))
}

// SetLabels gives r other labels, nil or empty ones for none, and refuses labels of columns, terms
// or levels that r does not have. Of columns that r does not know the data may have more: these are
// passed over, unless one of r's is probably meant.
func SetLabels(r *decompose.Result, l *label.Labels) error {
	ref := ReferenceOf(r)
	columns := []string{}
	for _, f := range r.Features {
		columns = append(columns, f.Name)
	}
	columns = append(columns, ref.Columns...)
	for _, own := range ref.Inputs {
		columns = append(columns, own...)
	}
	columns = append(columns, present(r.Response, r.Event, r.Weights, r.Offset, r.Cluster)...)
	slices.Sort(columns)
	var predictors []string
	for _, d := range r.Predictors {
		predictors = append(predictors, d.Name)
	}
	known := label.Known{Columns: slices.Compact(columns), Part: true, Predictors: ref.predictors(predictors), Terms: r.LabelTerms()}
	if err := l.Check(known); err != nil {
		return optionError("labels", err)
	}
	if r.Labels = l; l.IsEmpty() {
		r.Labels = nil
	}
	return nil
}

// predictors are these, and the classes, which predictors are named by.
func (ref *Reference) predictors(names []string) []string {
	names = slices.Clone(names)
	if ref.Classes == nil {
		return names
	}
	for _, h := range ref.Classes.Heads {
		for _, class := range h.Classes {
			if !slices.Contains(names, class) {
				names = append(names, class)
			}
		}
	}
	return names
}
