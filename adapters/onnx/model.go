package onnx

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

// Model runs a network, and the additive structure discovered in it, as a
// decompose.Model: eta_k = intercept_k + sum_j Phi_j beta_j + zeta_k with
// zeta = U gamma. It is immutable and safe for concurrent use.
type Model struct {
	structure *Structure
	bind      Binding
	graph     *Graph
	runner    *Runner
	run       RunOptions
	want      []*Value
	stride    []int   // width of each wanted tensor
	feed      [][]int // data column of each element of each input
	columns   []string
	column    map[string]int
	blocks    [][]decompose.Block
	widths    map[string]int

	eta   []source
	zeta  [][]stretch
	gamma [][]float64
	taps  []tapSources

	buffers sync.Pool
}

// source is where a number of one row comes from: element index of tensor
// want[tensor], or, if tensor is -1, data column index.
type source struct{ tensor, index int }

// stretch is n neighbouring numbers of one row, from s on.
type stretch struct {
	source
	n int
}

// stretches joins neighbours, so that whole layers are copied at once.
func stretches(from []source) []stretch {
	var out []stretch
	for _, s := range from {
		if i := len(out) - 1; i >= 0 && s.tensor >= 0 && out[i].tensor == s.tensor && out[i].index+out[i].n == s.index {
			out[i].n++
			continue
		}
		out = append(out, stretch{s, 1})
	}
	return out
}

type tapSources struct {
	name  string
	width int
	from  []stretch
}

// NewModel discovers the structure of g bound to data columns and prepares the
// evaluation of every tensor it needs. nil options are the defaults.
func NewModel(g *Graph, bind Binding, o *Options) (*Model, error) {
	s, err := Discover(g, bind, o)
	if err != nil {
		return nil, err
	}
	m := &Model{structure: s, bind: bind, graph: g, columns: s.columns, column: map[string]int{}, widths: map[string]int{}}
	for i, c := range s.columns {
		m.column[c] = i
	}
	for _, in := range bind {
		var feed []int
		for _, c := range in.Columns {
			feed = append(feed, m.column[c])
		}
		m.feed = append(m.feed, feed)
	}
	position := map[*Value]int{}
	from := func(el element) source {
		if i := slices.Index(g.Inputs, el.value); i >= 0 {
			return source{-1, m.feed[i][el.index]}
		}
		p, ok := position[el.value]
		if !ok {
			p = len(m.want)
			position[el.value] = p
			m.want, m.stride = append(m.want, el.value), append(m.stride, el.value.Width())
		}
		return source{p, el.index}
	}
	terms := map[*tap]*decompose.Tap{}
	for _, t := range s.taps {
		var sources []source
		for _, el := range t.elements {
			sources = append(sources, from(el))
		}
		m.taps = append(m.taps, tapSources{t.name, len(sources), stretches(sources)})
		m.widths[t.name] = len(t.elements)
		var features []string
		for _, c := range t.columns {
			features = append(features, s.columns[c])
		}
		terms[t] = &decompose.Tap{Tensor: t.name, Features: features, Width: len(t.elements)}
	}
	lines := map[int]*decompose.LinearTerm{}
	for _, p := range s.predictors {
		m.eta = append(m.eta, from(p.eta))
		var deep []source
		for _, el := range p.deep {
			deep = append(deep, from(el))
		}
		m.zeta, m.gamma = append(m.zeta, stretches(deep)), append(m.gamma, p.gamma)
		blocks := []decompose.Block{}
		for _, l := range p.linear {
			if lines[l.column] == nil {
				lines[l.column] = &decompose.LinearTerm{Column: s.columns[l.column]}
			}
			blocks = append(blocks, decompose.Block{Term: lines[l.column], Coef: []float64{l.coef}})
		}
		blocks = append(blocks, p.declared...)
		for _, l := range p.learned {
			blocks = append(blocks, decompose.Block{Term: terms[l.tap], Coef: l.coef})
		}
		m.blocks = append(m.blocks, blocks)
	}
	if o != nil {
		m.run = o.Run
	}
	m.runner, err = NewRunner(g, m.want, m.run)
	return m, err
}

// Structure is what discovery found, with its reasons.
func (m *Model) Structure() *Structure { return m.structure }

// Graph is the network that m runs.
func (m *Model) Graph() *Graph { return m.graph }

// Binding is the assignment of columns to inputs that the model was made with.
func (m *Model) Binding() Binding { return m.bind }

// Predictors names the K predictors: "eta" if K = 1, else by graph output.
func (m *Model) Predictors() []string {
	var names []string
	for _, p := range m.structure.Predictors {
		names = append(names, p.Name)
	}
	return names
}

// Columns names the bound data columns.
func (m *Model) Columns() []string { return slices.Clone(m.columns) }

// Intercept is the constant of predictor k's linear form.
func (m *Model) Intercept(k int) float64 { return m.structure.predictors[k].intercept }

// Blocks are the terms found in the graph: linear ones in column order, those that
// the file declares (Options.Decode), then learned ones. A term that several
// predictors use is one Term value.
func (m *Model) Blocks(k int) []decompose.Block { return slices.Clone(m.blocks[k]) }

// Taps names the learned bases with their widths.
func (m *Model) Taps() map[string]int {
	w := make(map[string]int, len(m.widths))
	for name, n := range m.widths {
		w[name] = n
	}
	return w
}

// Head is the response function that was peeled off predictor k: "sigmoid",
// "softmax", "logsoftmax", "exp", "softplus", or "" for none.
func (m *Model) Head(k int) string { return m.structure.Predictors[k].Head }

// DeepFeatures describes U of predictor k.
type DeepFeatures struct {
	Tensors []string  // that hold its columns
	Width   int       // q
	Gamma   []float64 // length q: zeta = U gamma
}

// DeepFeatures describes the deep part of predictor k; Width 0: zeta = 0.
func (m *Model) DeepFeatures(k int) DeepFeatures {
	p := m.structure.predictors[k]
	tensors, _ := sources(p.deep)
	return DeepFeatures{Tensors: tensors, Width: len(p.deep), Gamma: slices.Clone(p.gamma)}
}

// forwardRows is the number of rows that go through all layers together; their
// activations stay in cache.
const forwardRows = 256

// buffer is the memory of one Forward.
type buffer struct {
	columns [][]float64
	inputs  [][]float64
	want    [][]float64
	backIn  [][]float64 // full-length backing of inputs and want
	backOut [][]float64
	taps    []*mat.Dense
}

func (m *Model) buffer() *buffer {
	if b, ok := m.buffers.Get().(*buffer); ok {
		return b
	}
	b := &buffer{columns: make([][]float64, len(m.columns)), taps: make([]*mat.Dense, len(m.taps))}
	for _, v := range m.graph.Inputs {
		b.backIn = append(b.backIn, make([]float64, forwardRows*v.Width()))
	}
	for _, w := range m.stride {
		b.backOut = append(b.backOut, make([]float64, forwardRows*w))
	}
	b.inputs, b.want = slices.Clone(b.backIn), slices.Clone(b.backOut)
	return b
}

// Memory is how many bytes one Forward works in, at most; each goroutine that
// calls it has as many.
func (m *Model) Memory() int64 {
	perRow := m.runner.perRow
	for _, v := range m.graph.Inputs {
		perRow += 8 * int64(v.Width())
	}
	for _, w := range m.stride {
		perRow += 8 * int64(w)
	}
	return forwardRows * perRow
}

// Forward evaluates the network on the rows of b: eta is the network's own
// tensor, zeta = U gamma summed in float64, taps are its hidden units. Errors:
// a missing or textual column, a value that is not finite (column and data row
// named), a number that an integer input cannot hold, a predictor that is not
// finite, ctx.
func (m *Model) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	if err := m.checkOutputs(dst, b.Rows()); err != nil {
		return err
	}
	buf := m.buffer()
	defer m.release(buf)
	for j, name := range m.columns {
		x, err := b.Numeric(name)
		if err != nil {
			return fmt.Errorf("onnx: input of the network: %w", err)
		}
		for i, v := range x {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("onnx: column %q, data row %d: %g cannot enter the network; leave such rows out or replace the value", name, b.Row(i)+1, v)
			}
		}
		buf.columns[j] = x
	}
	if err := m.checkTypes(buf, b); err != nil {
		return err
	}
	for at := 0; at < b.Rows(); at += forwardRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(forwardRows, b.Rows()-at)
		m.fill(buf, at, n)
		if err := m.runner.Run(buf.want, buf.inputs, n); err != nil {
			return m.atRow(err, buf, b, at, n)
		}
		if err := m.collect(dst, buf, b, at, n); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// release drops what points into the caller's batch.
func (m *Model) release(b *buffer) {
	clear(b.columns)
	clear(b.taps)
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

// checkTypes refuses numbers that an input of integer or boolean type cannot
// hold.
func (m *Model) checkTypes(buf *buffer, b *data.Batch) error {
	for i, v := range m.graph.Inputs {
		if v.Type.Floating() {
			continue
		}
		for _, c := range m.feed[i] {
			for r, x := range buf.columns[c] {
				if _, err := integer(x, v.Type); err != nil {
					return fmt.Errorf("onnx: column %q, data row %d: input %q takes %s, and %g is none", m.columns[c], b.Row(r)+1, v.Name, v.Type, x)
				}
			}
		}
	}
	return nil
}

// fill copies rows at to at+n-1 of the columns into the inputs.
func (m *Model) fill(buf *buffer, at, n int) {
	for i, feed := range m.feed {
		x := buf.backIn[i][:n*len(feed)]
		buf.inputs[i] = x
		for e, c := range feed {
			for r, v := range buf.columns[c][at : at+n] {
				x[r*len(feed)+e] = v
			}
		}
	}
	for i, w := range m.stride {
		buf.want[i] = buf.backOut[i][:n*w]
	}
}

// collect moves the evaluated tensors to rows at, at+1, ... of the outputs.
func (m *Model) collect(dst *decompose.Outputs, buf *buffer, b *data.Batch, at, n int) error {
	values := func(s source, n, r int) []float64 {
		if s.tensor < 0 {
			return buf.columns[s.index][at+r : at+r+1]
		}
		i := r*m.stride[s.tensor] + s.index
		return buf.want[s.tensor][i : i+n]
	}
	for i, t := range m.taps {
		buf.taps[i] = dst.Taps[t.name]
	}
	for r := range n {
		eta, zeta := dst.Eta.RawRowView(at+r), dst.Zeta.RawRowView(at+r)
		for k, s := range m.eta {
			eta[k] = values(s, 1, r)[0]
			if math.IsNaN(eta[k]) || math.IsInf(eta[k], 0) {
				return m.notFinite(k, eta[k], b, at+r)
			}
			gamma, sum := m.gamma[k], 0.0
			for _, s := range m.zeta[k] {
				for j, u := range values(s.source, s.n, r) {
					sum += gamma[j] * u
				}
				gamma = gamma[s.n:]
			}
			zeta[k] = sum
		}
		for i, t := range m.taps {
			row := buf.taps[i].RawRowView(at + r)
			for _, s := range t.from {
				copy(row, values(s.source, s.n, r))
				row = row[s.n:]
			}
		}
	}
	return nil
}

// evaluateOnes returns the elements' values on a row of ones, or, where the
// network refuses it (an index beyond a table), of zeros.
func evaluateOnes(g *Graph, elements []element) ([]float64, error) {
	var want []*Value
	for _, el := range elements {
		if !slices.Contains(want, el.value) {
			want = append(want, el.value)
		}
	}
	r, err := NewRunner(g, want, RunOptions{})
	if err != nil {
		return nil, err
	}
	for _, x := range []float64{1, 0} {
		var inputs, dst [][]float64
		for _, v := range g.Inputs {
			in := make([]float64, v.Width())
			for i := range in {
				in[i] = x
			}
			inputs = append(inputs, in)
		}
		for _, v := range want {
			dst = append(dst, make([]float64, v.Width()))
		}
		if err = r.Run(dst, inputs, 1); err != nil {
			continue
		}
		out := make([]float64, len(elements))
		for i, el := range elements {
			out[i] = dst[slices.Index(want, el.value)][el.index]
			if math.IsNaN(out[i]) || math.IsInf(out[i], 0) {
				err = fmt.Errorf("tensor %q is %g", el.value.Name, out[i])
			}
		}
		if err == nil {
			return out, nil
		}
	}
	return nil, err
}
