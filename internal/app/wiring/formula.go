package wiring

import (
	"context"
	"fmt"
	"slices"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/interaction"
)

// CheckFormulas checks the formulas before any file is read, and sets o.Response, and
// o.Event, to the ones that they name. Errors: *OptionError, or that the response has two names.
func CheckFormulas(formulas []string, o *decompose.Options) error {
	for _, text := range formulas {
		f, err := basis.Parse(text, nil)
		if err != nil {
			return optionError("formula", err)
		}
		if f.Event != "" {
			if o.Event != "" && o.Event != f.Event {
				return fmt.Errorf("the column of events is %q and, in the formula %q, %q: name one", o.Event, text, f.Event)
			}
			o.Event = f.Event
		}
		if f.Response == "" || f.Response == o.Response {
			continue
		}
		if o.Response != "" {
			return fmt.Errorf("the response is %q and, in the formula %q, %q: name one", o.Response, text, f.Response)
		}
		o.Response = f.Response
	}
	if o.Response == "" {
		if o.Event != "" {
			return optionError("event", fmt.Errorf("column %q says which times are censored, but no response names the times", o.Event))
		}
		return nil
	}
	for _, c := range []struct{ option, column string }{{"weights", o.Weights}, {"event", o.Event}, {"offset", o.Offset}} {
		if c.column == o.Response {
			return optionError(c.option, fmt.Errorf("column %q is the response", c.column))
		}
	}
	for _, text := range formulas { // the response may be named by another one, or an option
		if _, err := basis.Parse(text, &basis.Options{Response: o.Response, Event: o.Event}); err != nil {
			return optionError("formula", err)
		}
	}
	return nil
}

// parse reads the formulas and checks all columns that options name.
func (q *Request) parse() ([]*basis.Formula, error) {
	o, schema := q.Options, q.Rows.Schema()
	var formulas []*basis.Formula
	for _, text := range q.Formulas {
		own, err := withoutDot(text)
		if err != nil {
			return nil, err
		}
		f, err := basis.Parse(own, &basis.Options{Schema: schema, Factors: q.Factors, Select: q.Select, Centred: o.Terms != decompose.Fitted, Response: o.Response, Event: o.Event})
		if err != nil {
			return nil, optionError("formula", err)
		}
		formulas = append(formulas, f)
	}
	for _, c := range []struct {
		option, column string
		numbers        bool
	}{
		{"weights", o.Weights, true}, {"response", o.Response, false}, {"event", o.Event, true}, // of the response see readClasses
		{"offset", o.Offset, true}, {"groups", o.Groups, false}, {"cluster", o.Cluster, false},
	} {
		if err := checkColumn(schema, c.column, c.numbers); err != nil {
			return nil, optionError(c.option, err)
		}
	}
	return formulas, nil
}

// checkColumn tells whether the column is there and, if need be, holds numbers. "" is no
// column.
func checkColumn(schema data.Schema, name string, numeric bool) error {
	if name == "" {
		return nil
	}
	column, ok := schema.Lookup(name)
	if !ok {
		return &saidError{
			fmt.Sprintf("there is no column %q; the columns are %q", name, schema.Names()),
			&data.MissingColumnError{Column: name, Where: "the data", Columns: schema.Names()},
		}
	}
	if column.Width > 0 {
		return fmt.Errorf("column %q %s, where one is needed", name, column.HoldsText())
	}
	if numeric && !column.Numeric {
		return &saidError{fmt.Sprintf("column %q %s; it must be numbers", name, column.HoldsText()), data.ErrText}
	}
	return nil
}

// extend scans the formulas' terms and adds them to the networks' own; notes are
// what the terms have to say of it. The sample is taken along (nil: nobody asks for it).
func (q *Request) extend(ctx context.Context, networks []decompose.Model, src *CachedRows, formulas []*basis.Formula) (_ decompose.Model, sample *interaction.Sample, notes []string, err error) {
	o, m := q.Options, networks[0]
	reads := append(slices.Clone(m.Columns()), o.Columns.Names()...)
	var specs []decompose.Spec
	for _, f := range formulas {
		for _, spec := range f.Specs {
			reads = append(reads, spec.Columns()...)
		}
		specs = append(specs, f.Specs...)
	}
	if sample = q.sampleOf(m, specs); sample != nil {
		specs = append(specs, sample)
	}
	wide := q.wideSample(m)
	if wide != nil {
		specs = append(specs, wide)
	}
	if !q.Drops && !src.fits(reads) {
		reads = nil // rows with missing cells are errors, which the other passes find
	}
	prepared, err := decompose.PrepareFrom(ctx, q.scans(src), q.looks(), specs, reads)
	if err == nil && q.Terms != nil {
		prepared, err = q.Terms(q.looks(), prepared)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	extra := map[string][]decompose.Block{}
	for _, f := range formulas {
		for range f.Specs {
			extra[f.Predictor] = append(extra[f.Predictor], prepared[0].Blocks...)
			notes = append(notes, prepared[0].Notes...)
			prepared = prepared[1:]
		}
		if !f.Intercept {
			for _, name := range m.Predictors() {
				if f.Predictor == "" || f.Predictor == name {
					o.WithoutIntercept = append(o.WithoutIntercept, name)
				}
			}
		}
	}
	joined, err := q.joined(networks, extra)
	if err == nil && wide != nil {
		joined, err = withMeans(ctx, joined, wide)
	}
	return joined, sample, notes, err
}

// ownColumns are the columns that the model rounds and of which nothing but its own
// terms reads the numbers: terms of a formula, and the likelihood, are of the data's.
func ownColumns(m decompose.Model, formulas []*basis.Formula, o *decompose.Options) []string {
	r, ok := m.(rounding)
	if !ok {
		return nil
	}
	read := readColumns(formulas, o)
	return slices.DeleteFunc(r.Rounded(), func(c string) bool { return slices.Contains(read, c) })
}

// readColumns are those that terms of the formulas and the likelihood read.
func readColumns(formulas []*basis.Formula, o *decompose.Options) []string {
	read := o.Columns.Names()
	for _, f := range formulas {
		for _, spec := range f.Specs {
			read = append(read, spec.Columns()...)
		}
	}
	return read
}

// present leaves out empty names.
func present(names ...string) []string {
	return slices.DeleteFunc(names, func(s string) bool { return s == "" })
}
