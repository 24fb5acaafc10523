package native

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/pho-go/pho/data"
)

// frame holds columns of a source in memory, and is one.
type frame struct {
	schema data.Schema
	batch  *data.Batch
}

// readFrame reads all rows of the named columns.
func readFrame(ctx context.Context, src data.Source, columns []string) (*frame, error) {
	f := &frame{}
	numeric, codes := map[string][]float64{}, map[string]data.Codes{}
	var rows []int64
	for _, name := range columns {
		c, ok := src.Schema().Lookup(name)
		switch {
		case !ok:
			return nil, fmt.Errorf("native: no column %q in the data, which has %q", name, src.Schema().Names())
		case c.Width > 0:
			return nil, fmt.Errorf("native: column %q is a tensor of width %d: networks trained here read ordinary columns", name, c.Width)
		}
		f.schema = append(f.schema, c)
	}
	for b, err := range src.Batches(ctx, columns) {
		if err != nil {
			return nil, err
		}
		for i := range b.Rows() {
			rows = append(rows, b.Row(i))
		}
		for _, c := range f.schema {
			if c.Numeric {
				v, err := b.Numeric(c.Name)
				if err != nil {
					return nil, err
				}
				numeric[c.Name] = append(numeric[c.Name], v...)
			}
			if c.Categorical {
				v, err := b.Codes(c.Name)
				if err != nil {
					return nil, err
				}
				codes[c.Name] = data.Codes{Index: append(codes[c.Name].Index, v.Index...), Levels: v.Levels}
			}
		}
	}
	f.batch = data.NewBatch(len(rows), 0)
	return f, f.fill(rows, numeric, codes)
}

// fill sets the batch's columns in the order of the schema.
func (f *frame) fill(rows []int64, numeric map[string][]float64, codes map[string]data.Codes) error {
	if err := f.batch.SetRows(rows); err != nil {
		return err
	}
	for _, c := range f.schema {
		if c.Numeric {
			if err := f.batch.SetNumeric(c.Name, numeric[c.Name]); err != nil {
				return err
			}
		}
		if c.Categorical {
			if err := f.batch.SetCodes(c.Name, codes[c.Name]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *frame) rows() int { return f.batch.Rows() }

// subset copies the given rows.
func (f *frame) subset(index []int) (*frame, error) {
	s := &frame{schema: f.schema, batch: data.NewBatch(len(index), 0)}
	numeric, codes := map[string][]float64{}, map[string]data.Codes{}
	rows := make([]int64, len(index))
	for i, r := range index {
		rows[i] = f.batch.Row(r)
	}
	for _, c := range f.schema {
		if c.Numeric {
			v, err := f.batch.Numeric(c.Name)
			if err != nil {
				return nil, err
			}
			numeric[c.Name] = pick(v, index)
		}
		if c.Categorical {
			v, err := f.batch.Codes(c.Name)
			if err != nil {
				return nil, err
			}
			codes[c.Name] = data.Codes{Index: pick(v.Index, index), Levels: v.Levels}
		}
	}
	return s, s.fill(rows, numeric, codes)
}

func pick[T any](v []T, index []int) []T {
	out := make([]T, len(index))
	for i, r := range index {
		out[i] = v[r]
	}
	return out
}

// with returns the frame with further numeric columns; names and values in turn.
func (f *frame) with(names []string, values [][]float64) (*frame, error) {
	g := &frame{schema: slices.Clone(f.schema), batch: f.batch.Slice(0, f.rows())}
	for i, name := range names {
		g.schema = append(g.schema, data.Column{Name: name, Numeric: true})
		if err := g.batch.SetNumeric(name, values[i]); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// Schema lists the columns.
func (f *frame) Schema() data.Schema { return f.schema }

// Batches yields the rows in blocks.
func (f *frame) Batches(ctx context.Context, _ []string) iter.Seq2[*data.Batch, error] {
	const step = 4096
	return func(yield func(*data.Batch, error) bool) {
		for i := 0; i < f.rows(); i += step {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(f.batch.Slice(i, min(i+step, f.rows())), nil) {
				return
			}
		}
	}
}

// levels returns the text of each row's level of a column, categorical or not.
func levels(b *data.Batch, column string) (func(i int) string, error) {
	if b.Categorical(column) {
		c, err := b.Codes(column)
		return func(i int) string { return c.Levels[c.Index[i]] }, err
	}
	v, err := b.Numeric(column)
	return func(i int) string { return data.LevelText(v[i]) }, err
}
