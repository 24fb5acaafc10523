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
	"github.com/pho-go/pho/internal/kernel"
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
	stride    []int     // width of each wanted tensor
	feed      [][]int   // data column of each element of each input
	entry     []DType   // what each column is rounded to; 0: not at all
	largest   []float64 // that each column's inputs hold, if they hold fractions
	// termColumns are those of the graph's own terms but learned ones.
	termColumns []string
	columns     []string
	column      map[string]int
	blocks      [][]decompose.Block
	widths      map[string]int

	eta  []source
	zeta [][]share
	taps []tapSources

	buffers sync.Pool
}

// source is where a number of one row comes from: element index of tensor want[tensor].
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
		if i := len(out) - 1; i >= 0 && out[i].tensor == s.tensor && out[i].index+out[i].n == s.index {
			out[i].n++
			continue
		}
		out = append(out, stretch{s, 1})
	}
	return out
}

// share is what a stretch adds to zeta.
type share struct {
	stretch
	gamma   []float64
	product *kernel.Weights[float64] // gamma, if there is enough of it
}

// longStretch is how many numbers of a row are worth a product; a block of rows gains
// from fewer, a single row does not.
const longStretch = 16

// shares splits sum gamma_j u_j at the stretches of u.
func shares(u []source, gamma []float64) []share {
	var out []share
	for _, s := range stretches(u) {
		p := share{stretch: s, gamma: gamma[:s.n]}
		if s.n >= longStretch {
			p.product = kernel.Pack(s.n, 1, p.gamma, false)
		}
		out, gamma = append(out, p), gamma[s.n:]
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
	m := &Model{structure: s, bind: bind, graph: g, columns: s.found.columns, column: map[string]int{}, widths: map[string]int{}}
	for i, c := range s.found.columns {
		m.column[c] = i
	}
	for _, c := range m.columns {
		m.entry, m.largest = append(m.entry, s.found.entry[c]), append(m.largest, math.MaxFloat64)
	}
	for i, in := range bind {
		var feed []int
		for _, c := range in.Columns {
			j := m.column[c]
			feed = append(feed, j)
			if v := g.Inputs[i]; v.Type.Floating() {
				m.largest[j] = v.EntryType().Largest()
			}
		}
		m.feed = append(m.feed, feed)
	}
	position := map[*Value]int{}
	from := func(el element) source {
		p, ok := position[el.value]
		if !ok {
			p = len(m.want)
			position[el.value] = p
			m.want, m.stride = append(m.want, el.value), append(m.stride, el.value.Width())
		}
		return source{p, el.index}
	}
	terms := map[*tap]*decompose.Tap{}
	for _, t := range s.found.taps {
		var sources []source
		for _, el := range t.elements {
			sources = append(sources, from(el))
		}
		m.taps = append(m.taps, tapSources{t.name, len(sources), stretches(sources)})
		m.widths[t.name] = len(t.elements)
		var features []string
		for _, c := range t.columns {
			features = append(features, s.found.columns[c])
		}
		terms[t] = &decompose.Tap{Tensor: t.name, Features: features, Width: len(t.elements)}
	}
	lines := map[int]*decompose.LinearTerm{}
	for _, p := range s.found.parts {
		m.eta = append(m.eta, from(p.eta))
		var deep []source
		for _, el := range p.deep {
			deep = append(deep, from(el))
		}
		m.zeta = append(m.zeta, shares(deep, p.gamma))
		blocks := []decompose.Block{}
		for _, l := range p.linear {
			if lines[l.column] == nil {
				lines[l.column] = &decompose.LinearTerm{Column: s.found.columns[l.column]}
			}
			blocks = append(blocks, decompose.Block{Term: lines[l.column], Coef: []float64{l.coef}})
		}
		blocks = append(blocks, p.declared...)
		for _, l := range p.learned {
			blocks = append(blocks, decompose.Block{Term: terms[l.tap], Coef: l.coef})
		}
		m.blocks = append(m.blocks, blocks)
		for _, b := range blocks {
			if b.Term.Kind() != decompose.Learned {
				m.termColumns = append(m.termColumns, b.Term.Columns()...)
			}
		}
	}
	slices.Sort(m.termColumns)
	m.termColumns = slices.Compact(m.termColumns)
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
func (m *Model) Intercept(k int) float64 { return m.structure.found.parts[k].intercept }

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
	p := m.structure.found.parts[k]
	tensors, _ := sources(p.deep)
	return DeepFeatures{Tensors: tensors, Width: len(p.deep), Gamma: slices.Clone(p.gamma)}
}

// forwardRows is the number of rows that go through all layers together; their
// activations stay in cache.
const forwardRows = 256

// buffer is the memory of one Forward.
type buffer struct {
	columns   [][]float64
	evaluator evaluator
	inputs    [][]float64 // the evaluator's views, where it has them
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
	in, out := len(m.graph.Inputs), len(m.want)
	return &buffer{
		columns:   make([][]float64, len(m.columns)),
		evaluator: m.runner.fresh(),
		inputs:    make([][]float64, in),
		want:      make([][]float64, out),
		ownIn:     make([][]float64, in),
		ownOut:    make([][]float64, out),
		zeta:      make([]float64, forwardRows),
		product:   make([]float64, forwardRows),
	}
}

// rows is the memory of v for n rows: the evaluator's, or else own, grown if need be.
func (b *buffer) rows(own *[]float64, v *Value, n int) []float64 {
	if x := b.evaluator.view(v); x != nil {
		return x
	}
	n *= v.Width()
	*own = slices.Grow((*own)[:0], n)[:n]
	return *own
}

// Memory is how many bytes one Forward works in, at most; each goroutine that
// calls it has as many.
func (m *Model) Memory() int64 {
	perRow := m.runner.perRow + 2*8 // zeta and a product
	for _, v := range slices.Concat(m.graph.Inputs, m.want) {
		if !m.runner.views(v) {
			perRow += 8 * int64(v.Width())
		}
	}
	return forwardRows * perRow
}

// Forward evaluates the network on the rows of b: eta is the network's own
// tensor, zeta = U gamma summed in float64, taps are its hidden units. Numbers
// enter the network rounded to the types of its inputs; what that does to its own
// terms, which are of b's numbers, is in zeta too, and is 0 for batches of Rows.
// Errors: a missing or textual column, a value that is not
// finite or beyond the input's type (column and data row named), a number that an
// integer input cannot hold, a predictor that is not finite, ctx.
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
		largest := m.largest[j]
		for i, v := range x {
			if !(math.Abs(v) <= largest) && !m.enters(v, j) {
				return m.refuse(v, j, b.Row(i)+1)
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
	v = m.entry[j].Round(v)
	return !math.IsNaN(v) && !math.IsInf(v, 0)
}

// refuse says why it has none.
func (m *Model) refuse(v float64, j int, row int64) error {
	why := ""
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		why = fmt.Sprintf(": its input is of type %s, whose largest number is %.6g", m.entry[j], m.largest[j])
	}
	return fmt.Errorf("onnx: column %q, data row %d: %g cannot enter the network%s; leave such rows out or replace the value", m.columns[j], row, v, why)
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

// evaluate runs the network on rows at to at+n-1 of the columns.
func (m *Model) evaluate(buf *buffer, at, n int) error {
	if err := buf.evaluator.cut(n); err != nil {
		return err
	}
	for i, v := range m.graph.Inputs {
		x, feed := buf.rows(&buf.ownIn[i], v, n), m.feed[i]
		for e, c := range feed {
			Enter(x[e:], len(feed), buf.columns[c][at:at+n], v.EntryType())
		}
		buf.inputs[i] = x
	}
	for i, v := range m.want {
		buf.want[i] = buf.rows(&buf.ownOut[i], v, n)
	}
	return buf.evaluator.run(buf.want, buf.inputs)
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
			for r := range n {
				copy(tap.RawRowView(at + r)[to:], x[r*stride:][:s.n])
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
