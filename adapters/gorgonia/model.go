// Package gorgonia opens gorgonia graphs: New makes a decompose.Model of an ExprGraph, and
// Engine runs ONNX networks by onnx-go, which evaluates them as gorgonia graphs.
//
// gorgonia v0.9.18 needs go4.org/unsafe/assume-no-moving-gc at the version of this
// module's go.mod on current releases of Go. Neither project is maintained any more; onnx
// and native are what pho uses itself.
package gorgonia

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// Model is a decompose.Model of gorgonia graphs of one network. It is safe for concurrent
// use: each evaluation has a graph of its own.
type Model struct {
	build     func(rows int) (*Network, error)
	structure Structure
	rows      int
	columns   []string
	taps      map[string]int
	pool      sync.Pool // of *instance
}

// instance is one graph with its memory.
type instance struct {
	*Network
	*program
	inputs []*matrix
}

// New makes a Model of what build returns for a number of rows: a new graph in each call,
// of the same network. Shapes are fixed in a gorgonia graph, so all graphs are for the
// same rows (0: 256): blocks are cut to it, and the last one is filled up with copies of
// a row, so that a row alone gives what it gives among others. Weights are copied for
// each graph. Errors: shapes that do not fit, random nodes, a panic of gorgonia.
func New(build func(rows int) (*Network, error), s Structure, rows int) (*Model, error) {
	if rows < 0 {
		return nil, fmt.Errorf("gorgonia: %d rows", rows)
	}
	if rows == 0 {
		rows = 256
	}
	k := len(s.Predictors)
	if k == 0 || s.Intercepts != nil && len(s.Intercepts) != k || s.Blocks != nil && len(s.Blocks) != k {
		return nil, fmt.Errorf("gorgonia: %d predictors with %d intercepts and the blocks of %d", k, len(s.Intercepts), len(s.Blocks))
	}
	m := &Model{build: build, structure: s, rows: rows, taps: map[string]int{}}
	in, err := m.newInstance()
	if err != nil {
		return nil, err
	}
	for _, input := range in.Inputs {
		for _, c := range input.Columns {
			if !slices.Contains(m.columns, c) {
				m.columns = append(m.columns, c)
			}
		}
	}
	for _, b := range slices.Concat(s.Blocks...) {
		for _, c := range b.Term.Columns() {
			if !slices.Contains(m.columns, c) {
				m.columns = append(m.columns, c)
			}
		}
	}
	for name, n := range in.Taps {
		m.taps[name] = width(n)
	}
	m.pool.Put(in)
	return m, nil
}

func (m *Model) newInstance() (in *instance, err error) {
	building.Lock()
	defer building.Unlock()
	defer recovered(&err, "building the graph")
	n, err := m.build(m.rows)
	if err != nil {
		return nil, fmt.Errorf("gorgonia: building the graph: %w", err)
	}
	if err := n.check(&m.structure, m.rows); err != nil {
		return nil, err
	}
	wanted := append(nodes{n.Eta, n.Zeta}, tapNodes(n)...).withoutNil()
	p, err := newProgram(wanted...)
	if err != nil {
		return nil, err
	}
	in = &instance{Network: n, program: p}
	for _, i := range n.Inputs {
		x := newMatrix(i.Node.Shape(), i.Node.Dtype())
		p.set(i.Node, x.tensor)
		in.inputs = append(in.inputs, x)
	}
	return in, nil
}

// Predictors is decompose.Model's.
func (m *Model) Predictors() []string { return m.structure.Predictors }

// Columns is decompose.Model's: those of the inputs and of the blocks' terms.
func (m *Model) Columns() []string { return m.columns }

// Intercept is decompose.Model's.
func (m *Model) Intercept(k int) float64 {
	if m.structure.Intercepts == nil {
		return 0
	}
	return m.structure.Intercepts[k]
}

// Blocks is decompose.Model's.
func (m *Model) Blocks(k int) []decompose.Block {
	if m.structure.Blocks == nil {
		return nil
	}
	return m.structure.Blocks[k]
}

// Taps is decompose.Model's.
func (m *Model) Taps() map[string]int { return m.taps }

// Forward is decompose.Model's. Errors: a column that is missing or text, a value or a
// predictor that is not finite (column and data row named), what gorgonia reports or
// panics with, ctx.
func (m *Model) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	if err := m.checkOutputs(dst, b.Rows()); err != nil {
		return err
	}
	in, ok := m.pool.Get().(*instance)
	if !ok {
		var err error
		if in, err = m.newInstance(); err != nil {
			return err
		}
	}
	defer m.pool.Put(in)
	for at := 0; at < b.Rows(); at += m.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(m.rows, b.Rows()-at)
		if err := m.enter(in, b, at, n); err != nil {
			return err
		}
		if err := in.run(); err != nil {
			return fmt.Errorf("%w (data rows %d to %d)", err, b.Row(at)+1, b.Row(at+n-1)+1)
		}
		if err := m.leave(dst, in, b, at, n); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// enter writes rows at to at+n-1 of b to the inputs and fills the rest with the last.
func (m *Model) enter(in *instance, b *data.Batch, at, n int) error {
	for i, input := range in.Inputs {
		for j, c := range input.Columns {
			x, err := b.Numeric(c)
			if err != nil {
				return fmt.Errorf("gorgonia: input of the network: %w", err)
			}
			for r := range m.rows {
				v := x[at+min(r, n-1)]
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return fmt.Errorf("gorgonia: column %q, data row %d: %g cannot enter the network; leave such rows out or replace the value", c, b.Row(at+r)+1, v)
				}
				in.inputs[i].set(r*len(input.Columns)+j, v)
			}
		}
	}
	return nil
}

// leave reads rows at to at+n-1 of the outputs.
func (m *Model) leave(dst *decompose.Outputs, in *instance, b *data.Batch, at, n int) error {
	if err := copyRows(dst.Eta, at, in.value(in.Eta), n); err != nil {
		return fmt.Errorf("gorgonia: predictor: %w", err)
	}
	for r := range n {
		for k, v := range dst.Eta.RawRowView(at + r) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("gorgonia: predictor %q, data row %d, is %g; compare the row's values with those it was trained on", m.structure.Predictors[k], b.Row(at+r)+1, v)
			}
		}
	}
	if in.Zeta != nil {
		if err := copyRows(dst.Zeta, at, in.value(in.Zeta), n); err != nil {
			return fmt.Errorf("gorgonia: deep part: %w", err)
		}
	} else {
		for r := range n {
			for k, v := range dst.Eta.RawRowView(at + r) {
				dst.Zeta.Set(at+r, k, v-m.Intercept(k))
			}
		}
	}
	for name, node := range in.Taps {
		if err := copyRows(dst.Taps[name], at, in.value(node), n); err != nil {
			return fmt.Errorf("gorgonia: tap %q: %w", name, err)
		}
	}
	return nil
}

func (m *Model) checkOutputs(dst *decompose.Outputs, rows int) error {
	if dst == nil {
		return fmt.Errorf("gorgonia: Forward into nil outputs")
	}
	fits := func(d *mat.Dense, width int, what string) error {
		if d == nil {
			return fmt.Errorf("gorgonia: Forward into nil %s", what)
		}
		if r, c := d.Dims(); r != rows || c != width {
			return fmt.Errorf("gorgonia: Forward of %d rows into a %d x %d %s, want %d x %d", rows, r, c, what, rows, width)
		}
		return nil
	}
	if rows == 0 {
		return nil
	}
	k := len(m.structure.Predictors)
	if err := fits(dst.Eta, k, "Eta"); err != nil {
		return err
	}
	if err := fits(dst.Zeta, k, "Zeta"); err != nil {
		return err
	}
	for name, w := range m.taps {
		if err := fits(dst.Taps[name], w, fmt.Sprintf("tap %q", name)); err != nil {
			return err
		}
	}
	return nil
}
