// Package onnxfile writes a trained predictor as an ONNX file whose graph still shows its
// terms: what native.Model.WriteONNX promises.
package onnxfile

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/pho-go/pho/adapters/internal/onnxbasis"
	"github.com/pho-go/pho/adapters/native/internal/network"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Model is what is written.
type Model struct {
	Columns    []string // inputs of the graph
	Predictors []Predictor
	Towers     []*network.Tower[float64]
	Levels     map[string][]string    // of the text columns, in the order of their numbers
	Ranges     map[string]onnx.Domain // of the formula's columns
	Labels     *onnx.Labels           // nil: no text
	Response   *onnx.Response         // nil: the file does not say
	Softmax    bool                   // the predictors are those of classes
}

// Predictor is one output of the graph: a constant and terms. The deep part and the bases
// of learned terms come from the towers.
type Predictor struct {
	Name      string
	Intercept float64
	Blocks    []decompose.Block // formula terms, then learned ones
}

// Write writes the file (opset 17), in float64 if double, else in float32. Formula terms
// are computed in float64 in either case.
func Write(out io.Writer, m *Model, double bool) error {
	if len(m.Columns) == 0 {
		return errors.New("native: the model reads no column, only its intercepts are left: a network without inputs has no rows to predict")
	}
	w := newWriter(m, double)
	if err := w.terms(m); err != nil {
		return err
	}
	for k := range m.Predictors {
		if err := w.output(m, k); err != nil {
			return err
		}
	}
	if m.Softmax {
		w.softmax(m)
	}
	if err := w.metadata(m); err != nil {
		return fmt.Errorf("native: %w", err)
	}
	file, err := w.b.Marshal()
	if err != nil {
		return fmt.Errorf("native: %w", err)
	}
	_, err = out.Write(file)
	return err
}

// terms writes all terms and deep parts, and reports all that cannot be written at once.
func (w *writer) terms(m *Model) error {
	if err := w.features(m.Towers); err != nil {
		return fmt.Errorf("native: %w", err)
	}
	var faults []error
	add := func(err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("native: %w", err))
		}
	}
	for k, p := range m.Predictors {
		for _, block := range p.Blocks {
			add(w.term(k, block))
		}
	}
	for _, t := range m.Towers {
		if t.Plan.Deep { // the terms of others are in the blocks
			add(w.deep(t))
		}
	}
	return errors.Join(faults...)
}

// output writes predictor k: the sum of its intercept and its terms.
func (w *writer) output(m *Model, k int) error {
	p := &m.Predictors[k]
	name := w.outputs[k]
	terms := append([]string{w.constant("intercept."+p.Name, []int{1}, p.Intercept)}, w.sums[k]...)
	if at := slices.IndexFunc(m.Columns, func(c string) bool { return c == name || m.Softmax && (c == probability || c == logits) }); at >= 0 {
		return fmt.Errorf("native: a column is called %q like a predictor: rename it to export the network", m.Columns[at])
	}
	if len(terms) == 1 { // a predictor without terms is constant, but has rows
		terms = append(terms, w.node("Mul", p.Name+".rows", []string{m.Columns[0], w.constant(p.Name+".zero", []int{1}, 0)}))
	}
	w.b.AddNode("Sum", terms, name)
	if !m.Softmax {
		w.b.Output(name, w.kind, onnxpb.Rows, 1)
	}
	return nil
}

// The tensors that classes have in common: the output and what enters its softmax.
const probability, logits = "probability", "logits"

// outputsOf are the names of the predictors' tensors.
func outputsOf(m *Model) (names []string) {
	for _, p := range m.Predictors {
		if m.Softmax {
			names = append(names, "logit."+p.Name)
		} else {
			names = append(names, p.Name)
		}
	}
	return names
}

// softmax ends the network of classes.
func (w *writer) softmax(m *Model) {
	x := w.node("Concat", logits, w.outputs, onnxpb.Int("axis", 1))
	w.b.AddNode("Softmax", []string{x}, probability, onnxpb.Int("axis", 1))
	w.b.Output(probability, w.kind, onnxpb.Rows, len(m.Predictors))
}

// writer writes nodes and remembers the tensors that it has written.
type writer struct {
	b       *onnxpb.Builder
	outputs []string // tensors of the predictors
	kind    onnxpb.TensorProto_DataType
	sums    [][]string        // effects that make up each predictor
	bases   map[string]string // of feature networks, by term name: predictors share them
	shares  map[string]string // bases of formula terms, by all that decides their columns
	// declared are the formula terms that the graph cannot tell, by predictor.
	declared  [][]onnx.DeclaredTerm
	deepParts [][]string          // tensors of U, by predictor
	levels    map[string][]string // of the text columns
	doubles   map[string]string   // float64 copies of columns
	splines   *onnxbasis.Writer   // bases of splines
}

func newWriter(m *Model, double bool) *writer {
	k := len(m.Predictors)
	w := &writer{
		b: onnxpb.NewBuilder(17), outputs: outputsOf(m), kind: onnxpb.TensorProto_FLOAT, levels: m.Levels,
		sums: make([][]string, k), declared: make([][]onnx.DeclaredTerm, k), deepParts: make([][]string, k),
		bases: map[string]string{}, shares: map[string]string{}, doubles: map[string]string{},
	}
	if double {
		w.kind = onnxpb.TensorProto_DOUBLE
	}
	w.splines = newSplines(w)
	for _, name := range m.Columns {
		w.b.AddInput(name, w.kind, onnxpb.Rows, 1)
	}
	return w
}

// constant adds an initializer and returns its name.
func (w *writer) constant(name string, shape []int, values ...float64) string {
	if w.kind == onnxpb.TensorProto_DOUBLE {
		w.b.AddDouble(name, shape, values...)
	} else {
		w.b.AddInit(name, shape, values...)
	}
	return name
}

func (w *writer) node(op, output string, inputs []string, attrs ...onnxpb.Attr) string {
	w.b.AddNode(op, inputs, output, attrs...)
	return output
}

// effect adds basis (N x q) times coef to predictor k.
func (w *writer) effect(k int, name, basis string, coef []float64) {
	c := w.constant(name+".coef", []int{len(coef), 1}, coef...)
	w.sums[k] = append(w.sums[k], w.node("MatMul", name+".effect", []string{basis, c}))
}

// standardised is (columns - mean)/sd, N x len(columns); 0 where a number is missing, if some may be.
func (w *writer) standardised(name string, columns []string, mean, sd []float64, missing bool) string {
	x := columns[0]
	if len(columns) > 1 {
		x = w.node("Concat", name+".columns", columns, onnxpb.Int("axis", 1))
	}
	d := []int{len(columns)}
	at := w.constant(name+".mean", d, mean...)
	if missing {
		x = w.node("Where", name+".known", []string{w.node("IsNaN", name+".missing", []string{x}), at, x})
	}
	x = w.node("Sub", name+".centred", []string{x, at})
	return w.node("Div", name+".scaled", []string{x, w.constant(name+".sd", d, sd...)})
}
