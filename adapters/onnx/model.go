package onnx

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/structure"
	"github.com/pho-go/pho/decompose"
)

// Model runs a network, and the additive structure discovered in it, as a
// decompose.Model: eta_k = intercept_k + sum_j Phi_j beta_j + zeta_k with
// zeta = U gamma. It is immutable and safe for concurrent use.
type Model struct {
	structure *Structure
	bind      Binding
	graph     *Graph
	evaluator Evaluator
	runner    *engine.Runner // the evaluator, if it is ours: its memory is looked into
	run       engine.Options // of ours
	want      []*graph.Value
	stride    []int         // width of each wanted tensor
	feed      [][]int       // data column of each element of each input, or its one tensor
	roundedTo []graph.DType // the type that each column enters as; 0: any
	largest   []float64     // that each column's inputs hold, if they hold fractions
	// termColumns are those of the graph's own terms but learned ones.
	termColumns []string
	text        []bool              // columns of text
	emptied     []bool              // of them those to which a missing text is an empty one
	levels      map[string][]string // texts that the file has numbers for, by column; nil: none
	tensor      []int               // by column: numbers a row of a tensor; 0: a column of numbers or text
	blockRows   int                 // that go through all layers together
	readsText   bool
	columns     []string
	derived     *Derived // what the columns are computed from; nil: the data have them
	column      map[string]int
	blocks      [][]decompose.Block
	widths      map[string]int
	pieces      map[*structure.Tap]*unitPieces // of learned terms that are such

	eta  []source
	zeta [][]share
	taps []tapSources

	buffers sync.Pool
}

// NewModel discovers the structure of g bound to data columns and prepares the
// evaluation of every tensor it needs, by Options.Engine. nil options are the defaults.
func NewModel(g *Graph, bind Binding, o *Options) (*Model, error) {
	s, err := Discover(g, bind, o)
	if err != nil {
		return nil, err
	}
	if s.found.Graph != g.g {
		split := *g
		split.g = s.found.Graph
		g = &split
	}
	m := &Model{structure: s, bind: bind, graph: g, columns: s.found.Columns, column: map[string]int{}, widths: map[string]int{}}
	m.feedInputs()
	if err := m.textColumns(); err != nil {
		return nil, err
	}
	if l, err := g.Labels(); err != nil {
		return nil, err
	} else if l != nil {
		m.levels = l.Columns
	}
	m.findSources()
	var e Engine = GoEngine{}
	if o != nil {
		m.derived = o.Derived
	}
	if o != nil && o.Engine != nil {
		e = o.Engine
	}
	if err := m.prepare(e); err != nil {
		return nil, err
	}
	if m.findPieces() {
		m.findSources()
		if err := m.prepare(e); err != nil {
			return nil, err
		}
	}
	m.makeBlocks()
	return m, nil
}

// WithEngine is m computed by e.
func (m *Model) WithEngine(e Engine) (*Model, error) {
	other := &Model{
		structure: m.structure, bind: m.bind, graph: m.graph, want: m.want, stride: m.stride, feed: m.feed, roundedTo: m.roundedTo, largest: m.largest,
		termColumns: m.termColumns, text: m.text, emptied: m.emptied, levels: m.levels, tensor: m.tensor, readsText: m.readsText, columns: m.columns, derived: m.derived, column: m.column, blocks: m.blocks, widths: m.widths,
		eta: m.eta, zeta: m.zeta, taps: m.taps,
	}
	if err := other.prepare(e); err != nil {
		return nil, err
	}
	return other, nil
}

// prepare makes e ready to compute what m wants.
func (m *Model) prepare(e Engine) (err error) {
	if own, ok := e.(GoEngine); ok {
		m.run = own.options()
	}
	var tensors []string
	for _, v := range m.want {
		tensors = append(tensors, v.Name)
	}
	if m.evaluator, err = e.Prepare(m.graph, tensors); err != nil {
		return err
	}
	if _, ok := m.evaluator.(TextEvaluator); m.readsText && !ok {
		return fmt.Errorf("onnx: the network reads text, which this engine does not take (onnx.TextEvaluator); run it with onnx.GoEngine")
	}
	m.runner, _ = m.evaluator.(*engine.Runner)
	m.blockRows = m.rowsOfBlock()
	return nil
}

// feedInputs finds the column of each number of each input, and what columns may hold.
func (m *Model) feedInputs() {
	found := m.structure.found
	for i, c := range m.columns {
		m.column[c] = i
		m.roundedTo, m.largest = append(m.roundedTo, found.RoundedTo[c]), append(m.largest, math.MaxFloat64)
	}
	m.tensor = make([]int, len(m.columns))
	for i, in := range m.bind {
		if v := m.graph.g.Inputs[i]; in.isTensor(v) {
			m.tensor[m.column[in.Columns[0]]] = v.Width()
		}
		var feed []int
		for _, c := range in.Columns {
			j := m.column[c]
			feed = append(feed, j)
			if v := m.graph.g.Inputs[i]; v.Type.Floating() {
				m.largest[j] = v.RoundedTo().Largest()
			}
		}
		m.feed = append(m.feed, feed)
	}
}

// findSources lists the tensors that predictors, taps and deep parts are elements of,
// and where.
func (m *Model) findSources() {
	m.want, m.stride, m.taps, m.eta, m.zeta = nil, nil, nil, nil, nil
	position := map[*graph.Value]int{}
	from := func(elements ...structure.Element) []source {
		var out []source
		for _, el := range elements {
			p, ok := position[el.Value]
			if !ok {
				p = len(m.want)
				position[el.Value] = p
				m.want, m.stride = append(m.want, el.Value), append(m.stride, el.Value.Width())
			}
			out = append(out, source{p, el.Index})
		}
		return out
	}
	for _, t := range slices.Concat(m.structure.found.Taps, m.structure.found.Features) {
		elements := t.Elements
		if p := m.pieces[t]; p != nil {
			elements = []structure.Element{p.of}
		}
		m.taps = append(m.taps, tapSources{t.Name, len(elements), stretches(from(elements...))})
		m.widths[t.Name] = len(elements)
	}
	for _, p := range m.structure.found.Parts {
		m.eta = append(m.eta, from(p.Eta)...)
		m.zeta = append(m.zeta, shares(from(p.Deep...), p.Gamma))
	}
}

// makeBlocks makes the terms, those that predictors share once.
func (m *Model) makeBlocks() {
	found := m.structure.found
	terms := map[*structure.Tap]*decompose.Tap{}
	for _, t := range found.Taps {
		terms[t] = m.tap(t)
		if p := m.pieces[t]; p != nil {
			terms[t].Pieces = p.functions
		}
	}
	lines := map[int]*decompose.LinearTerm{}
	for _, p := range found.Parts {
		blocks := []decompose.Block{}
		for _, l := range p.Linear {
			if lines[l.Column] == nil {
				lines[l.Column] = &decompose.LinearTerm{Column: found.Columns[l.Column]}
			}
			blocks = append(blocks, decompose.Block{Term: lines[l.Column], Coef: []float64{l.Coef}})
		}
		blocks = append(blocks, p.Declared...)
		for _, l := range p.Learned {
			blocks = append(blocks, decompose.Block{Term: terms[l.Tap], Coef: l.Coef})
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
}

func (m *Model) tap(t *structure.Tap) *decompose.Tap {
	var features []string
	for _, c := range t.Columns {
		features = append(features, m.structure.found.Columns[c])
	}
	return &decompose.Tap{Tensor: t.Name, Features: features, Width: len(t.Elements)}
}

// Features are taps, no term's, with the features of deep parts that Options.Learned names by their array, one for each name
// (decompose.Options.DeepFeatures).
func (m *Model) Features() (all []*decompose.Tap) {
	for _, t := range m.structure.found.Features {
		all = append(all, m.tap(t))
	}
	return all
}

// Structure is what discovery found, with its reasons.
func (m *Model) Structure() *Structure { return m.structure }

// Graph is the network that m runs: the one that it was made of, or, if that has ensembles
// of trees, the same with their parts as tensors of their own.
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

// Columns names the bound data columns, or those that they are computed from (Options.Derived).
func (m *Model) Columns() []string {
	if m.derived != nil {
		return slices.Clone(m.derived.Columns)
	}
	return slices.Clone(m.columns)
}

// Cuts are, by column, the numbers at which trees and comparisons of the network tell values of the column, as it is, apart,
// increasing: its functions may jump there. A column without any has none.
func (m *Model) Cuts() (map[string][]float64, error) {
	columns, err := m.bind.fits(m.graph)
	if err != nil {
		return nil, err
	}
	return structure.Cuts(m.graph.g, columns), nil
}

// Tensors are the columns that are tensors, with the numbers that a row of each holds.
func (m *Model) Tensors() map[string]int {
	widths := map[string]int{}
	for j, width := range m.tensor {
		if width > 0 {
			widths[m.columns[j]] = width
		}
	}
	return widths
}

// Missing lists the columns that may hold NaN for a missing value: the network has a value
// for it wherever a predictor depends on them (an imputer, a choice by IsNaN).
func (m *Model) Missing() []string {
	var names []string
	for j, may := range m.structure.found.Missing {
		if may {
			names = append(names, m.columns[j])
		}
	}
	return names
}

// Intercept is the constant of predictor k's linear form.
func (m *Model) Intercept(k int) float64 { return m.structure.found.Parts[k].Intercept }

// Blocks are the terms found in the graph: linear ones in column order, those that
// the file declares (Options.Decode), then learned ones. A term that several
// predictors use is one Term value.
func (m *Model) Blocks(k int) []decompose.Block { return slices.Clone(m.blocks[k]) }

// Taps names the learned bases, and Features, with their widths.
func (m *Model) Taps() map[string]int {
	w := make(map[string]int, len(m.widths))
	for name, n := range m.widths {
		w[name] = n
	}
	return w
}

// Head is the response function that was peeled off predictor k: "sigmoid", "softmax",
// "logsoftmax", "ordinal" (see OrdinalInfo), "exp", "softplus", with a number added as in "softplus+0.1", or sharper as
// in "softplus(beta=2)", which is log(1 + exp(2 eta))/2; "" for none.
func (m *Model) Head(k int) string { return m.structure.Predictors[k].Head }

// Element is a number of each row of a tensor: the one at Index in row-major order of
// the axes that are not the batch axis.
type Element struct {
	Tensor string
	Index  int
}

func elementsOf(found []structure.Element) []Element {
	var out []Element
	for _, el := range found {
		out = append(out, Element{el.Value.Name, el.Index})
	}
	return out
}

// Predictor is where the network holds predictor k.
func (m *Model) Predictor(k int) Element {
	return elementsOf([]structure.Element{m.structure.found.Parts[k].Eta})[0]
}

// Tap lists where the network holds the columns of a learned basis, in order; nil for a
// name that is not among Taps.
func (m *Model) Tap(name string) []Element {
	for _, t := range slices.Concat(m.structure.found.Taps, m.structure.found.Features) {
		if t.Name == name {
			return elementsOf(t.Elements)
		}
	}
	return nil
}

// DeepFeatures describes U of a predictor, n x q: zeta = U gamma.
type DeepFeatures struct {
	Elements []Element // that hold its q columns
	Gamma    []float64 // length q
}

// DeepFeatures describes the deep part of predictor k; without elements: zeta = 0.
func (m *Model) DeepFeatures(k int) DeepFeatures {
	p := m.structure.found.Parts[k]
	return DeepFeatures{Elements: elementsOf(p.Deep), Gamma: slices.Clone(p.Gamma)}
}
