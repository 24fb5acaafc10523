package command

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/data/npy"
	"github.com/pho-go/pho/internal/app/wiring"
)

// tensorInput is an input of a network that a NumPy file fills: NAME=@FILE.
type tensorInput struct{ name, path string }

// tensorInputs takes NAME=@FILE out of the values of --input.
func tensorInputs(inputs []string) (tensors []tensorInput, columns []string) {
	for _, input := range inputs {
		if name, path, ok := strings.Cut(input, "=@"); ok {
			tensors = append(tensors, tensorInput{name, path})
			continue
		}
		columns = append(columns, input)
	}
	return tensors, columns
}

// openRows opens the data files and joins the tensors to them, row by row. Without
// data files the tensors are all the data. Texts that the network knows are coded.
func openRows(paths []string, o *files.Options, tensors []tensorInput, g *onnx.Graph) (files.Source, error) {
	labels, err := g.Labels()
	if err != nil {
		return nil, err
	}
	src, err := openJoined(paths, o, tensors, g)
	if err != nil {
		return nil, err
	}
	return wiring.CodedBy(src, labels), nil
}

func openJoined(paths []string, o *files.Options, tensors []tensorInput, g *onnx.Graph) (files.Source, error) {
	var src files.Source
	var parts []data.Part
	if len(paths) > 0 {
		var err error
		if src, err = files.Open(paths, o); err != nil {
			return nil, err
		}
		if len(tensors) == 0 {
			return src, nil
		}
		parts = append(parts, data.Part{Name: strings.Join(paths, ", "), Source: src})
	}
	joined, err := joinTensors(parts, o, tensors, g)
	if err != nil {
		if src != nil {
			src.Close()
		}
		return nil, err
	}
	return &joinedRows{joined, src}, nil
}

func joinTensors(parts []data.Part, o *files.Options, tensors []tensorInput, g *onnx.Graph) (joined data.Source, err error) {
	for _, t := range tensors {
		at := slices.IndexFunc(g.Inputs(), func(v onnx.Tensor) bool { return v.Name == t.name })
		if at < 0 {
			var names []string
			for _, v := range g.Inputs() {
				names = append(names, v.Name)
			}
			return nil, fmt.Errorf("--input %q: the network has no input %q; it has %q", t.name+"=@"+t.path, t.name, names)
		}
		from, err := npy.OpenTensor(t.name, []string{t.path}, &npy.Options{BatchRows: o.BatchRows, NA: o.NA})
		if err != nil {
			return nil, err
		}
		column, _ := from.Schema().Lookup(t.name)
		names := onnx.Unbound(g)[at].Columns
		if width := max(column.Width, 1); width != len(names) {
			return nil, fmt.Errorf("--input %q: the array holds %d numbers a row, input %q takes %d", t.name+"=@"+t.path, width, t.name, len(names))
		}
		if turned := g.Inputs()[at].Turned(from.RowShape()); turned != "" {
			return nil, fmt.Errorf("--input %q: %s", t.name+"=@"+t.path, turned)
		}
		parts = append(parts, data.Part{Name: t.path, Source: &unrolled{from, t.name, names}})
	}
	for _, p := range parts[1:] { // where both are known beforehand
		a, b := wiring.Len(parts[0].Source), wiring.Len(p.Source)
		if a >= 0 && b >= 0 && a != b {
			return nil, fmt.Errorf("%q has %d rows, %q has %d: they are joined row by row and need equally many", parts[0].Name, a, p.Name, b)
		}
	}
	return data.Zip(parts...)
}

// joinedRows is what data files and tensors are together.
type joinedRows struct {
	data.Source
	files files.Source // nil: tensors alone
}

// Rows counts the rows of all that are joined.
func (j *joinedRows) Rows() (total, dropped int64) {
	return j.Source.(interface{ Rows() (int64, int64) }).Rows()
}

// Close closes the data files; arrays are open only while they are read.
func (j *joinedRows) Close() error {
	if j.files == nil {
		return nil
	}
	return j.files.Close()
}

// unrolled shows a tensor of width d as d columns of numbers, named as onnx.Unbound
// names the elements of an input.
type unrolled struct {
	*npy.Source
	tensor string
	names  []string
}

// Schema is the columns.
func (u *unrolled) Schema() data.Schema {
	var s data.Schema
	for _, name := range u.names {
		s = append(s, data.Column{Name: name, Numeric: true})
	}
	return s
}

// Batches reads the tensor and copies the columns asked for.
func (u *unrolled) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		at := make([]int, len(columns))
		for j, name := range columns {
			if at[j] = slices.Index(u.names, name); at[j] < 0 {
				yield(nil, fmt.Errorf("no column %q in the tensor %q", name, u.tensor))
				return
			}
		}
		for b, err := range u.Source.Batches(ctx, []string{u.tensor}) {
			var out *data.Batch
			if err == nil {
				out, err = u.unroll(b, columns, at)
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}

func (u *unrolled) unroll(b *data.Batch, columns []string, at []int) (*data.Batch, error) {
	m, err := u.values(b)
	if err != nil {
		return nil, err
	}
	n := b.Rows()
	out := data.NewBatch(n, b.Row(0))
	rows := make([]int64, n)
	for i := range rows {
		rows[i] = b.Row(i)
	}
	if err := out.SetRows(rows); err != nil {
		return nil, err
	}
	for j, name := range columns {
		v := mat.Col(nil, at[j], m)
		if err := out.SetNumeric(name, v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// values are the tensor's; of width 1 it may be held as a column.
func (u *unrolled) values(b *data.Batch) (*mat.Dense, error) {
	if v, err := b.Numeric(u.tensor); err == nil {
		return mat.NewDense(len(v), 1, v), nil
	}
	return b.Tensor(u.tensor)
}
