// Package rows holds the rows of a source in memory, for passes in any order, and codes
// their texts: ONNX networks take numbers.
package rows

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/pho-go/pho/data"
)

// Frame holds columns of a source in memory, and is a source itself.
type Frame struct {
	Columns data.Schema
	Batch   *data.Batch
}

// Read reads all rows of the named columns of src. A tensor column is refused.
func Read(ctx context.Context, src data.Source, columns []string) (*Frame, error) {
	f := &Frame{}
	numeric, codes := map[string][]float64{}, map[string]data.Codes{}
	var rows []int64
	for _, name := range columns {
		c, ok := src.Schema().Lookup(name)
		switch {
		case !ok:
			return nil, fmt.Errorf("native: no column %q in the data, which has %q", name, src.Schema().Names())
		case c.Width > 0:
			return nil, fmt.Errorf("native: column %q holds %d numbers a row: networks trained here read columns of one", name, c.Width)
		}
		f.Columns = append(f.Columns, c)
	}
	for b, err := range src.Batches(ctx, columns) {
		if err != nil {
			return nil, err
		}
		for i := range b.Rows() {
			rows = append(rows, b.Row(i))
		}
		for _, c := range f.Columns {
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
				codes[c.Name] = data.Codes{Index: append(codes[c.Name].Index, v.Index...), Levels: v.Levels, Declared: data.JoinDeclared(codes[c.Name].Declared, v.Declared)}
			}
		}
	}
	f.Batch = data.NewBatch(len(rows), 0)
	return f, f.fill(rows, numeric, codes)
}

// fill sets the batch's columns in the order of the schema.
func (f *Frame) fill(rows []int64, numeric map[string][]float64, codes map[string]data.Codes) error {
	if err := f.Batch.SetRows(rows); err != nil {
		return err
	}
	for _, c := range f.Columns {
		if c.Numeric {
			if err := f.Batch.SetNumeric(c.Name, numeric[c.Name]); err != nil {
				return err
			}
		}
		if c.Categorical {
			if err := f.Batch.SetCodes(c.Name, codes[c.Name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Rows is the number of rows.
func (f *Frame) Rows() int { return f.Batch.Rows() }

// Subset copies the rows at the given places, in that order.
func (f *Frame) Subset(index []int) (*Frame, error) {
	s := &Frame{Columns: f.Columns, Batch: data.NewBatch(len(index), 0)}
	numeric, codes := map[string][]float64{}, map[string]data.Codes{}
	rows := make([]int64, len(index))
	for i, r := range index {
		rows[i] = f.Batch.Row(r)
	}
	for _, c := range f.Columns {
		if c.Numeric {
			v, err := f.Batch.Numeric(c.Name)
			if err != nil {
				return nil, err
			}
			numeric[c.Name] = pick(v, index)
		}
		if c.Categorical {
			v, err := f.Batch.Codes(c.Name)
			if err != nil {
				return nil, err
			}
			codes[c.Name] = data.Codes{Index: pick(v.Index, index), Levels: v.Levels, Declared: v.Declared}
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

// With is the frame with further numeric columns: values[i] are those of names[i], one
// for each row. The columns that are there already are shared, not copied.
func (f *Frame) With(names []string, values [][]float64) (*Frame, error) {
	g := &Frame{Columns: slices.Clone(f.Columns), Batch: f.Batch.Slice(0, f.Rows())}
	for i, name := range names {
		g.Columns = append(g.Columns, data.Column{Name: name, Numeric: true})
		if err := g.Batch.SetNumeric(name, values[i]); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// Schema lists the columns.
func (f *Frame) Schema() data.Schema { return f.Columns }

// Batches yields the rows in blocks, with all columns.
func (f *Frame) Batches(ctx context.Context, _ []string) iter.Seq2[*data.Batch, error] {
	const step = 4096
	return func(yield func(*data.Batch, error) bool) {
		for i := 0; i < f.Rows(); i += step {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(f.Batch.Slice(i, min(i+step, f.Rows())), nil) {
				return
			}
		}
	}
}
