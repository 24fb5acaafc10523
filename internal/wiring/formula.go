package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// syntax checks the formulas before any file is read, and finds the response.
func (d *decomposeFlags) syntax(o *decompose.Options) error {
	if d.response != "" {
		o.Response = d.response
	}
	for _, text := range d.formulas {
		f, err := basis.Parse(text, nil)
		if err != nil {
			return usageError{fmt.Errorf("--formula: %w", err)}
		}
		if f.Response == "" || f.Response == o.Response {
			continue
		}
		if o.Response != "" {
			return usagef("the response is %q and, in the formula %q, %q: name one", o.Response, text, f.Response)
		}
		o.Response = f.Response
	}
	if o.Response == "" {
		return nil
	}
	for _, c := range []struct{ flag, column string }{{"--weights", o.Weights}, {"--offset", o.Offset}} {
		if c.column == o.Response {
			return usagef("%s: column %q is the response", c.flag, c.column)
		}
	}
	for _, text := range d.formulas { // the response may be named by another one, or a flag
		if _, err := basis.Parse(text, &basis.Options{Response: o.Response}); err != nil {
			return usageError{fmt.Errorf("--formula: %w", err)}
		}
	}
	return nil
}

// readsResponse warns of a network with the response among its inputs: it predicts what
// it was told.
func readsResponse(m decompose.Model, response string) string {
	if response == "" || !slices.Contains(m.Columns(), response) {
		return ""
	}
	return fmt.Sprintf("the network reads column %q, which is the response: how well it fits says nothing, and neither do importances; bind its inputs to other columns", response)
}

// parse reads the formulas and checks all columns that flags name.
func (d *decomposeFlags) parse(schema data.Schema, o *decompose.Options) ([]*basis.Formula, error) {
	var formulas []*basis.Formula
	for _, text := range d.formulas {
		f, err := basis.Parse(text, &basis.Options{Schema: schema, Factors: d.data.factors, Select: d.selectTerms, Response: o.Response})
		if err != nil {
			return nil, fmt.Errorf("--formula: %w", err)
		}
		formulas = append(formulas, f)
	}
	for _, c := range []struct{ flag, column string }{{"--weights", o.Weights}, {"--response", o.Response}, {"--offset", o.Offset}, {"--groups", o.Groups}} {
		if c.column == "" {
			continue
		}
		column, ok := schema.Lookup(c.column)
		if !ok {
			return nil, fmt.Errorf("%s: there is no column %q; the columns are %q", c.flag, c.column, schema.Names())
		}
		if !column.Numeric && c.flag != "--groups" {
			return nil, fmt.Errorf("%s: column %q %s; it must be numbers", c.flag, c.column, column.HoldsText())
		}
	}
	return formulas, nil
}

// extend scans the formulas' terms and adds them to the network's own; notes are
// what the terms have to say of it.
func (d *decomposeFlags) extend(ctx context.Context, m decompose.Model, src *keptRows, formulas []*basis.Formula, o *decompose.Options) (_ decompose.Model, notes []string, err error) {
	reads := append(slices.Clone(m.Columns()), present(o.Weights, o.Response, o.Offset, o.Groups)...)
	var specs []decompose.Spec
	for _, f := range formulas {
		for _, spec := range f.Specs {
			reads = append(reads, spec.Columns()...)
		}
		specs = append(specs, f.Specs...)
	}
	if !d.data.drops() && !src.fits(reads) {
		reads = nil // rows with missing cells are errors, which the other passes find
	}
	prepared, err := decompose.PrepareEach(ctx, src, specs, reads)
	if err != nil {
		return nil, nil, err
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
	m, err = decompose.With(m, extra)
	return m, notes, err
}

// ownColumns are the columns that the network rounds and of which nothing but its own
// terms reads the numbers: terms of a formula, and the likelihood, are of the data's.
func ownColumns(m *onnx.Model, formulas []*basis.Formula, o *decompose.Options) []string {
	read := []string{o.Weights, o.Response, o.Offset, o.Groups}
	for _, f := range formulas {
		for _, spec := range f.Specs {
			read = append(read, spec.Columns()...)
		}
	}
	return slices.DeleteFunc(m.Rounded(), func(c string) bool { return slices.Contains(read, c) })
}

// present leaves out empty names.
func present(names ...string) []string {
	return slices.DeleteFunc(names, func(s string) bool { return s == "" })
}
