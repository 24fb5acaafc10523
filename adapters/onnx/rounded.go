package onnx

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Rounded lists the columns that the network's inputs round and that its own terms
// read, learned ones aside, in alphabetical order.
func (m *Model) Rounded() []string {
	return slices.DeleteFunc(slices.Clone(m.termColumns), func(c string) bool { return !graph.Narrows(graph.Float64, m.structure.found.RoundedTo[c]) })
}

// Rows is src with the columns, some of Rounded, as the network sees them: rounded to
// the types of its inputs. Decomposed on these rows, a network that is additive in
// such columns has no deep part, to the last digit; of other rows Forward has in zeta
// what the rounding does to the network's own terms. Terms of a formula are best
// evaluated on the data's own numbers: leave out the columns that they read. Order,
// row numbers and levels are src's.
func (m *Model) Rows(src data.Source, columns []string) data.Source {
	types := map[string]graph.DType{}
	for _, c := range columns {
		types[c] = m.structure.found.RoundedTo[c]
	}
	return &roundedRows{src, m, types}
}

// Rounding is b with the columns as the network sees them: one batch of Rows; b itself if that
// changes nothing.
func (m *Model) Rounding(b *data.Batch, columns []string) (*data.Batch, error) {
	out, _, err := rounded(b, columns, m.structure.found.RoundedTo)
	return out, err
}

type roundedRows struct {
	data.Source
	model *Model
	types map[string]graph.DType
}

// Batches rounds the columns asked for. Tensors whose axes have another order than their inputs' are an error.
func (r *roundedRows) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		for i, in := range r.model.bind {
			c, _ := r.Schema().Lookup(in.Columns[0])
			if err := unturned(c, r.model.graph.g.Inputs[i]); err != nil {
				yield(nil, err)
				return
			}
		}
		for b, err := range r.Source.Batches(ctx, columns) {
			if err == nil {
				b, _, err = rounded(b, columns, r.types)
			}
			err = r.model.shaped(err)
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// shaped adds to the error of a row of another shape the input that the column is bound to.
func (m *Model) shaped(err error) error {
	var cell *data.CellError
	if !errors.Is(err, data.ErrShape) || !errors.As(err, &cell) {
		return err
	}
	for i, in := range m.bind {
		if slices.Contains(in.Columns, cell.Column) {
			return fmt.Errorf("%w; input %q takes %s", err, in.Input, graph.ShapeText(m.graph.g.Inputs[i].Shape))
		}
	}
	return err
}

// rounded is b with the columns rounded to their types, b itself if that changes
// nothing, and the columns that it changes. A number beyond its type stays, for Forward
// to refuse by name.
func rounded(b *data.Batch, columns []string, types map[string]graph.DType) (*data.Batch, []string, error) {
	out, changed := b, []string(nil)
	for _, name := range columns {
		t := types[name]
		if !graph.Narrows(graph.Float64, t) {
			continue
		}
		x, err := b.Numeric(name)
		if err != nil {
			return nil, nil, err
		}
		own := roundAll(t, x)
		if own == nil {
			continue
		}
		if changed == nil {
			out = b.Slice(0, b.Rows())
		}
		changed = append(changed, name)
		if err := out.SetNumeric(name, own); err != nil {
			return nil, nil, err
		}
	}
	return out, changed, nil
}

// roundAll is a copy of x rounded to t; nil if that changes nothing.
func roundAll(t graph.DType, x []float64) []float64 {
	if isRounded(t, x) {
		return nil
	}
	own := make([]float64, len(x))
	engine.Enter(own, 1, x, t)
	if _, _, finite := kernel.Bounds(own); finite {
		return own
	}
	for i, v := range own {
		if math.IsInf(v, 0) {
			own[i] = x[i]
		}
	}
	return own
}

// isRounded tells whether rounding x to t changes nothing, a few numbers at a time.
func isRounded(t graph.DType, x []float64) bool {
	var own [64]float64
	for some := range slices.Chunk(x, len(own)) {
		engine.Enter(own[:len(some)], 1, some, t)
		if !slices.Equal(own[:len(some)], some) {
			return false
		}
	}
	return true
}

// addRounding adds to zeta what the graph's own terms make of the rounding: with x' the
// rounded numbers, eta = Phi(x') beta + U gamma, and so zeta = eta - Phi(x) beta is
// U gamma + (Phi(x') - Phi(x)) beta.
func (m *Model) addRounding(zeta *mat.Dense, b *data.Batch) error {
	near, changed, err := rounded(b, m.termColumns, m.structure.found.RoundedTo)
	if err != nil || len(changed) == 0 {
		return err
	}
	var d mat.VecDense
	for k, blocks := range m.blocks {
		for _, block := range blocks {
			t := block.Term
			if l, ok := t.(*decompose.LinearTerm); ok { // most are: one column, nothing to evaluate
				if err := addMoved(zeta, k, block.Coef[0], l.Column, b, near); err != nil {
					return err
				}
				continue
			}
			if t.Kind() == decompose.Learned || !slices.ContainsFunc(t.Columns(), func(c string) bool { return slices.Contains(changed, c) }) {
				continue
			}
			exact, entered := mat.NewDense(b.Rows(), t.Dim(), nil), mat.NewDense(b.Rows(), t.Dim(), nil)
			if err := errors.Join(t.Eval(exact, b), t.Eval(entered, near)); err != nil {
				return err
			}
			entered.Sub(entered, exact)
			d.MulVec(entered, mat.NewVecDense(t.Dim(), block.Coef))
			for i := range b.Rows() {
				zeta.Set(i, k, zeta.At(i, k)+d.AtVec(i))
			}
		}
	}
	return nil
}

// addMoved adds to column k of zeta what a coefficient makes of the difference between a
// column in two batches.
func addMoved(zeta *mat.Dense, k int, coef float64, column string, b, near *data.Batch) error {
	exact, err := b.Numeric(column)
	if err != nil {
		return err
	}
	entered, err := near.Numeric(column)
	if err != nil || len(exact) == 0 || &exact[0] == &entered[0] { // it is not rounded
		return err
	}
	for i, v := range entered {
		zeta.Set(i, k, zeta.At(i, k)+(v-exact[i])*coef)
	}
	return nil
}
