package native

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// Distil trains a network, the student, on eta of another model, the teacher, at the rows
// of src: on the link scale, by least squares. A neural additive model as student finds
// bases for a black box, through which nam.Surrogate shows it.
//
// cfg is as for Train, without response (formulas have no left side either), offset and
// family. The teacher must have one predictor, whose name no column of src has.
func Distil(ctx context.Context, teacher decompose.Model, cfg Config, src data.Source) (*Model, *Fit, error) {
	names := teacher.Predictors()
	var f faults
	if len(names) != 1 {
		f.add("the teacher has %d predictors, %q: a student learns one", len(names), names)
	}
	if cfg.Response != "" || cfg.Event != "" || cfg.Offset != "" {
		f.add("response %q, events %q, offset %q: a student's response is the teacher's eta", cfg.Response, cfg.Event, cfg.Offset)
	}
	if cfg.Family != nil && cfg.Family.Name() != (family.Gaussian{}).Name() {
		f.add("family %s: a student fits the teacher's eta by least squares", cfg.Family.Name())
	}
	if err := f.err(); err != nil {
		return nil, nil, err
	}
	cfg.Response = names[0]
	rows, err := newTaught(teacher, names[0], src)
	if err != nil {
		return nil, nil, err
	}
	if cfg.Training.Validation != nil {
		if cfg.Training.Validation, err = newTaught(teacher, names[0], cfg.Training.Validation); err != nil {
			return nil, nil, err
		}
	}
	return Train(ctx, cfg, rows)
}

// taught is a source with the teacher's eta as a further column.
type taught struct {
	data.Source
	teacher decompose.Model
	name    string
}

func newTaught(teacher decompose.Model, name string, src data.Source) (*taught, error) {
	if src == nil {
		return nil, errors.New("native: there are no rows to train on")
	}
	if _, taken := src.Schema().Lookup(name); taken {
		return nil, fmt.Errorf("native: the data have a column %q, which is the name of the teacher's predictor: rename the column", name)
	}
	return &taught{src, teacher, name}, nil
}

func (t *taught) Schema() data.Schema {
	return append(slices.Clone(t.Source.Schema()), data.Column{Name: t.name, Numeric: true})
}

func (t *taught) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		reads := unique(append(slices.Clone(columns), t.teacher.Columns()...))
		reads = slices.DeleteFunc(reads, func(name string) bool { return name == t.name })
		for b, err := range t.Source.Batches(ctx, reads) {
			if err == nil {
				b, err = t.teach(ctx, b)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// teach is b with the teacher's eta.
func (t *taught) teach(ctx context.Context, b *data.Batch) (*data.Batch, error) {
	n := b.Rows()
	if n == 0 {
		return b, nil
	}
	out, err := forward(ctx, t.teacher, b)
	if err != nil {
		return nil, fmt.Errorf("native: the teacher: %w", err)
	}
	with := b.Slice(0, n)
	return with, with.SetNumeric(t.name, mat.Col(nil, 0, out.Eta))
}
