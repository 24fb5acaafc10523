package data

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Table is a Source in memory. Columns are added once, before the first pass;
// after that it is safe for concurrent use.
type Table struct {
	// BatchRows is the number of rows of a batch; 0 means 4096. The last batch
	// may be shorter.
	BatchRows int

	rows   int
	schema Schema
	all    *Batch
}

// NewTable returns a table of n rows without columns. A negative n counts as 0.
func NewTable(n int) *Table {
	n = max(n, 0)
	return &Table{rows: n, all: NewBatch(n, 0)}
}

// AddNumeric adds a column of n finite numbers; v is kept, not copied.
// Errors: a name that is empty or taken, a wrong length, NaN or Inf.
func (t *Table) AddNumeric(name string, v []float64) error {
	if err := t.checkNew(name, "values", len(v)); err != nil {
		return err
	}
	if err := checkFinite(name, v); err != nil {
		return err
	}
	t.schema = append(t.schema, Column{Name: name, Numeric: true})
	return t.all.SetNumeric(name, v)
}

// AddTexts adds a categorical column of n cells; v is copied. Levels are numbered
// in the order in which they are first seen.
// Errors: a name that is empty or taken, a wrong length.
func (t *Table) AddTexts(name string, v []string) error {
	if err := t.checkNew(name, "cells", len(v)); err != nil {
		return err
	}
	t.schema = append(t.schema, Column{Name: name, Categorical: true})
	_, err := t.all.SetTexts(name, v, nil)
	return err
}

// AddOrdered is AddTexts of a column whose categories have an order: terms have their levels in it, so
// that the first is the reference. Errors: also a cell that is none of them.
func (t *Table) AddOrdered(name string, v, order []string) error {
	for i, cell := range v {
		if !slices.Contains(order, cell) {
			return fmt.Errorf("data: column %q, row %d: %q is none of the ordered categories %.200q", clip(name), i+1, cell, order)
		}
	}
	if err := t.AddTexts(name, v); err != nil {
		return err
	}
	c, err := t.all.Codes(name)
	if err != nil {
		return err
	}
	c.Declared = [][]string{slices.Clone(order)}
	return t.all.SetCodes(name, c)
}

// AddFactor adds a column of n finite numbers that is also held as categories
// (see LevelText), as CSVOptions.Factors does; v is kept, not copied.
// Errors as of AddNumeric.
func (t *Table) AddFactor(name string, v []float64) error {
	if err := t.AddNumeric(name, v); err != nil {
		return err
	}
	t.schema[len(t.schema)-1].Categorical = true
	text := make([]string, len(v))
	for i, x := range v {
		text[i] = LevelText(x)
	}
	_, err := t.all.SetTexts(name, text, nil)
	return err
}

// AddTensor adds a tensor of n rows of finite numbers, trailing axes flattened
// row-major; m is kept, not copied.
// Errors: a name that is empty or taken, wrong rows, no columns, NaN or Inf.
func (t *Table) AddTensor(name string, m *mat.Dense) error {
	rows, width := 0, 0
	if m != nil {
		rows, width = m.Dims()
	}
	if err := t.checkNew(name, "rows", rows); err != nil {
		return err
	}
	if width == 0 {
		return fmt.Errorf("data: tensor %q has no columns", clip(name))
	}
	for i := range rows {
		for j, v := range m.RawRowView(i) {
			if !finite(v) {
				return fmt.Errorf("data: tensor %q is %v at row %d, position %d: leave out or replace such rows first", clip(name), v, i, j)
			}
		}
	}
	t.schema = append(t.schema, Column{Name: name, Width: width})
	return t.all.SetTensor(name, m)
}

func (t *Table) checkNew(name, what string, n int) error {
	if name == "" {
		return fmt.Errorf("data: a column of a table needs a name")
	}
	if _, taken := t.schema.Lookup(name); taken {
		return fmt.Errorf("data: the table already has a column %q", clip(name))
	}
	if n != t.rows {
		return fmt.Errorf("data: column %q has %d %s, the table %d rows", clip(name), n, what, t.rows)
	}
	return nil
}

// Rows is the number of rows n.
func (t *Table) Rows() int { return t.rows }

// Schema lists the columns in the order in which they were added.
func (t *Table) Schema() Schema { return append(Schema(nil), t.schema...) }

// Batches yields views of the table's columns, BatchRows rows at a time. An
// unknown name is an error. The context is checked before every batch.
func (t *Table) Batches(ctx context.Context, columns []string) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		if err := t.schema.Require("the table", columns); err != nil {
			yield(nil, err)
			return
		}
		view := t.view(columns)
		step := t.BatchRows
		if step <= 0 {
			step = defaultBatchRows
		}
		for i := 0; i < t.rows; {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			j := i + min(step, t.rows-i)
			if !yield(view.Slice(i, j), nil) {
				return
			}
			i = j
		}
	}
}

// view is the whole table with the named columns only.
func (t *Table) view(columns []string) *Batch {
	v := NewBatch(t.rows, 0)
	for _, name := range columns {
		if x, ok := t.all.numeric[name]; ok {
			v.numeric[name] = x
		}
		if x, ok := t.all.codes[name]; ok {
			v.codes[name] = x
		}
		if x, ok := t.all.tensors[name]; ok {
			v.tensors[name] = x
		}
	}
	return v
}

func checkFinite(name string, v []float64) error {
	for i, x := range v {
		if !finite(x) {
			return fmt.Errorf("data: column %q is %v at row %d: leave out or replace such rows first", clip(name), x, i)
		}
	}
	return nil
}

func finite(v float64) bool { return v-v == 0 }
