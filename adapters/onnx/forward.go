package onnx

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Rows that go through all layers together: so many, or fewer if they work in more memory than that,
// as those of pictures. Activations of small layers stay in cache.
const (
	forwardRows  = 256
	forwardBytes = 32 << 20
)

func (m *Model) rowsOfBlock() int {
	return int(max(4, min(forwardRows, forwardBytes/m.perRow())))
}

// buffer is the memory of one Forward.
type buffer struct {
	columns   [][]float64 // of a tensor: its rows, one after the other
	workspace engine.Workspace
	inputs    [][]float64 // the workspace's views, where it has them
	want      [][]float64
	ownIn     [][]float64 // inputs and want elsewhere
	ownOut    [][]float64
	zeta      []float64
	product   []float64 // of one share
}

func (m *Model) buffer() *buffer {
	if b, ok := m.buffers.Get().(*buffer); ok {
		return b
	}
	in, out := len(m.graph.g.Inputs), len(m.want)
	return &buffer{
		columns:   make([][]float64, len(m.columns)),
		workspace: m.workspace(),
		inputs:    make([][]float64, in),
		want:      make([][]float64, out),
		ownIn:     make([][]float64, in),
		ownOut:    make([][]float64, out),
		zeta:      make([]float64, m.blockRows),
		product:   make([]float64, m.blockRows),
	}
}

// workspace is memory to evaluate one block of rows at a time in.
func (m *Model) workspace() engine.Workspace {
	if m.runner != nil {
		return m.runner.NewWorkspace()
	}
	return &foreign{Evaluator: m.evaluator, inputs: m.graph.g.Inputs, texts: m.graph.g.Texts.Extend()}
}

// rows is the memory of v for n rows: the workspace's, or else own, grown if need be.
func (b *buffer) rows(own *[]float64, v *graph.Value, n int) []float64 {
	if x := b.workspace.View(v); x != nil {
		return x
	}
	n *= v.Width()
	*own = slices.Grow((*own)[:0], n)[:n]
	return *own
}

// Memory is how many bytes one Forward works in, at most; each goroutine that
// calls it has as many. What an engine other than GoEngine works in is not counted.
func (m *Model) Memory() int64 { return int64(m.blockRows) * m.perRow() }

// perRow is how many bytes a row works in.
func (m *Model) perRow() int64 {
	perRow := int64(2 * 8) // zeta and a product
	if m.runner != nil {
		perRow += m.runner.PerRow
	}
	for _, v := range slices.Concat(m.graph.g.Inputs, m.want) {
		if m.runner == nil || !m.runner.Views(v) {
			perRow += 8 * int64(v.Width())
		}
	}
	return perRow
}

// Forward evaluates the network on the rows of b: eta is the network's own
// tensor, zeta = U gamma summed in float64, taps are its hidden units. Numbers
// enter the network rounded to the types of its inputs; what that does to its own
// terms, which are of b's numbers, is in zeta too, and is 0 for batches of Rows.
// NaN, a missing value, enters where every way from its column to a predictor leads
// through a node that has a value for it (an imputer, a choice by IsNaN).
// Errors: a missing or textual column, another value that is not
// finite or beyond the input's type (column and data row named), a number that an
// integer input cannot hold, a predictor that is not finite, ctx. Texts that the file has
// numbers for (Labels) enter as these.
func (m *Model) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	if err := m.checkOutputs(dst, b.Rows()); err != nil {
		return err
	}
	if m.derived != nil {
		var err error
		if b, err = m.derived.Fill(ctx, b); err != nil {
			return err
		}
	}
	b, err := m.coded(b)
	if err != nil {
		return fmt.Errorf("onnx: input of the network: %w", err)
	}
	buf := m.buffer()
	defer m.release(buf)
	if m.readsText {
		buf.workspace.Texts().Forget()
	}
	for j, name := range m.columns {
		if m.text[j] {
			var err error
			if buf.columns[j], err = textNumbers(buf.workspace.Texts(), b, name, m.emptied[j]); err != nil {
				return err
			}
			continue
		}
		x, err := m.numbers(b, j)
		if err != nil {
			return fmt.Errorf("onnx: input of the network: %w", err)
		}
		largest := m.largest[j]
		for i, v := range x {
			if !(math.Abs(v) <= largest) && !m.enters(v, j) {
				return m.refuse(v, j, b, i)
			}
		}
		buf.columns[j] = x
	}
	if err := m.checkTypes(buf, b); err != nil {
		return err
	}
	for at := 0; at < b.Rows(); at += m.blockRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(m.blockRows, b.Rows()-at)
		if err := m.evaluate(buf, at, n); err != nil {
			return m.atRow(err, buf, b, at, n)
		}
		if err := m.collect(dst, buf, b, at, n); err != nil {
			return err
		}
	}
	if err := m.addRounding(dst.Zeta, b); err != nil {
		return err
	}
	return ctx.Err()
}

// coded is b with the numbers of texts that the file codes, where b has none.
func (m *Model) coded(b *data.Batch) (*data.Batch, error) {
	var texts []string
	for _, name := range m.columns {
		if m.levels[name] == nil || !b.Categorical(name) {
			continue
		}
		if _, err := b.Numeric(name); err != nil {
			texts = append(texts, name)
		}
	}
	if texts == nil {
		return b, nil
	}
	return CodeTexts(b, texts, m.levels)
}

// numbers are those of column j at the rows of b: one a row, or of a tensor one row after the other.
func (m *Model) numbers(b *data.Batch, j int) ([]float64, error) {
	width := m.tensor[j]
	if width == 0 {
		return b.Numeric(m.columns[j])
	}
	t, err := b.Tensor(m.columns[j])
	if err != nil {
		return nil, err
	}
	if _, w := t.Dims(); w != width && b.Rows() > 0 {
		return nil, fmt.Errorf("the tensor %q holds %d numbers a row, its input takes %d", m.columns[j], w, width)
	}
	if raw := t.RawMatrix(); raw.Stride == width {
		return raw.Data[:b.Rows()*width], nil
	}
	return mat.DenseCopyOf(t).RawMatrix().Data, nil
}

// release drops what points into the caller's batch.
func (m *Model) release(b *buffer) {
	clear(b.columns)
	m.buffers.Put(b)
}

func (m *Model) checkOutputs(dst *decompose.Outputs, rows int) error {
	fits := func(d *mat.Dense, width int) bool {
		if d == nil {
			return false
		}
		r, c := d.Dims()
		return r == rows && c == width
	}
	fault := func(d *mat.Dense, width int, what, tap string) error {
		if tap != "" {
			tap = fmt.Sprintf(" %q", tap)
		}
		if d == nil {
			return fmt.Errorf("onnx: Forward into nil %s%s", what, tap)
		}
		r, c := d.Dims()
		return fmt.Errorf("onnx: Forward of %d rows into a %d x %d %s%s, want %d x %d", rows, r, c, what, tap, rows, width)
	}
	if dst == nil {
		return fmt.Errorf("onnx: Forward into nil outputs")
	}
	if rows == 0 {
		return nil
	}
	if !fits(dst.Zeta, len(m.eta)) {
		return fault(dst.Zeta, len(m.eta), "Zeta", "")
	}
	if !fits(dst.Eta, len(m.eta)) {
		return fault(dst.Eta, len(m.eta), "Eta", "")
	}
	for i := range m.taps {
		if t := &m.taps[i]; !fits(dst.Taps[t.name], t.width) {
			return fault(dst.Taps[t.name], t.width, "tap", t.name)
		}
	}
	return nil
}

// enters reports whether the network's inputs have a finite number for v of column j.
func (m *Model) enters(v float64, j int) bool {
	if math.IsNaN(v) {
		return m.structure.found.Missing[j]
	}
	v = m.roundedTo[j].Round(v)
	return !math.IsNaN(v) && !math.IsInf(v, 0)
}

// refuse says why it has none for number i of column j.
func (m *Model) refuse(v float64, j int, b *data.Batch, i int) error {
	why := ""
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		why = fmt.Sprintf(": its input is of type %s, whose largest number is %.6g", m.roundedTo[j], m.largest[j])
	}
	return fmt.Errorf("onnx: %s: %g cannot enter the network%s; leave such rows out or replace the value", m.place(j, b, i), v, why)
}

// place names number i of column j.
func (m *Model) place(j int, b *data.Batch, i int) string {
	if width := m.tensor[j]; width > 0 {
		return fmt.Sprintf("column %q, data row %d, number %d of %d", m.columns[j], b.Row(i/width)+1, i%width+1, width)
	}
	return fmt.Sprintf("column %q, data row %d", m.columns[j], b.Row(i)+1)
}

// checkTypes refuses numbers that an input of integer or boolean type cannot
// hold.
func (m *Model) checkTypes(buf *buffer, b *data.Batch) error {
	for i, v := range m.graph.g.Inputs {
		if v.Type.Floating() || v.Type == graph.String {
			continue
		}
		for _, c := range m.feed[i] {
			for r, x := range buf.columns[c] {
				if _, err := engine.Integer(x, v); err != nil {
					return fmt.Errorf("onnx: %s: %w", m.place(c, b, r), err)
				}
			}
		}
	}
	return nil
}

// evaluate runs the network on rows at to at+n-1 of the columns.
func (m *Model) evaluate(buf *buffer, at, n int) error {
	if err := buf.workspace.Cut(n); err != nil {
		return err
	}
	for i, v := range m.graph.g.Inputs {
		x, feed := buf.rows(&buf.ownIn[i], v, n), m.feed[i]
		if m.bind[i].isTensor(v) {
			w := v.Width()
			engine.Enter(x, 1, buf.columns[feed[0]][at*w:(at+n)*w], v.RoundedTo())
			buf.inputs[i] = x
			continue
		}
		for e, c := range feed {
			engine.Enter(x[e:], len(feed), buf.columns[c][at:at+n], v.RoundedTo())
		}
		buf.inputs[i] = x
	}
	for i, v := range m.want {
		buf.want[i] = buf.rows(&buf.ownOut[i], v, n)
	}
	return buf.workspace.Run(buf.want, buf.inputs)
}

// at is where s lies in the block of rows that was evaluated: row r's number is
// x[r*stride], with its neighbours after it.
func (m *Model) at(s source, buf *buffer) (x []float64, stride int) {
	return buf.want[s.tensor][s.index:], m.stride[s.tensor]
}

// collect moves what was evaluated to rows at to at+n-1 of the outputs.
func (m *Model) collect(dst *decompose.Outputs, buf *buffer, b *data.Batch, at, n int) error {
	for k, s := range m.eta {
		x, stride := m.at(s, buf)
		for r := range n {
			dst.Eta.Set(at+r, k, x[r*stride])
		}
	}
	for r := range n {
		for k, eta := range dst.Eta.RawRowView(at + r) {
			if math.IsNaN(eta) || math.IsInf(eta, 0) {
				return m.notFinite(k, eta, b, at+r)
			}
		}
	}
	for k := range m.zeta {
		m.deep(buf, k, n)
		for r, z := range buf.zeta[:n] {
			dst.Zeta.Set(at+r, k, z)
		}
	}
	for _, t := range m.taps {
		tap, to := dst.Taps[t.name], 0
		for _, s := range t.from {
			x, stride := m.at(s.source, buf)
			if s.n == 1 {
				raw := tap.RawMatrix()
				for r, k := 0, at*raw.Stride+to; r < n; r, k = r+1, k+raw.Stride {
					raw.Data[k] = x[r*stride]
				}
			} else {
				for r := range n {
					copy(tap.RawRowView(at + r)[to:], x[r*stride:][:s.n])
				}
			}
			to += s.n
		}
	}
	return nil
}

// deep sums zeta of predictor k on the n rows evaluated, in the same order whatever n.
func (m *Model) deep(buf *buffer, k, n int) {
	zeta, product := buf.zeta[:n], buf.product[:n]
	clear(zeta)
	for _, s := range m.zeta[k] {
		x, stride := m.at(s.source, buf)
		if s.product != nil {
			s.product.Mul(product, 1, x, stride, n, nil)
			kernel.Add(zeta, zeta, product)
			continue
		}
		for r, sum := range zeta {
			for j, u := range x[r*stride:][:s.n] {
				sum += s.gamma[j] * u
			}
			zeta[r] = sum
		}
	}
}
