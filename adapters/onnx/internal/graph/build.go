package graph

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

const (
	minOpset = 7
	maxOpset = 28
)

// build turns the decoded messages into a checked graph.
func build(m *onnxpb.ModelProto, l Limits, ops Operators) (*Graph, error) {
	switch {
	case m.Graph == nil:
		return nil, fmt.Errorf("onnx: not an ONNX model: the file has no graph")
	case len(m.TrainingInfo) > 0:
		return nil, fmt.Errorf("onnx: the model holds training information, which is not supported; export it for inference")
	}
	opsets, err := readOpsets(m.OpsetImport)
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	if len(opsets) == 0 {
		return nil, fmt.Errorf("onnx: not an ONNX model: the file imports no opset")
	}
	functions, err := readFunctions(m)
	if err != nil {
		return nil, err
	}
	b := &builder{pb: m.Graph, opsets: opsets, budget: newBudget(l), values: map[string]*Value{}, given: l.Constants}
	if err := b.initializers(); err != nil {
		return nil, err
	}
	if err := b.inputs(); err != nil {
		return nil, err
	}
	s := b.scope()
	nodes, err := s.connect(m.Graph.Node)
	if err != nil {
		return nil, err
	}
	if err := b.findOutputs(); err != nil {
		return nil, err
	}
	if nodes, err = order(nodes, b.outs); err != nil {
		return nil, err
	}
	c := newChecker(b, ops, s.shared, functions)
	if err := c.checkAll(nodes); err != nil {
		return nil, err
	}
	if err := c.outputs(b.outs); err != nil {
		return nil, err
	}
	g, err := b.graph(c.needed(b.outs), c.declared)
	if err != nil {
		return nil, err
	}
	g.Texts, g.Notes, g.Refused = b.budget.texts, c.notes, map[string]error{}
	for v, err := range c.refused {
		g.Refused[v.Name] = err
	}
	g.settleRounding(ops)
	g.Origin, g.ClassLabels = origin(m, opsets), classLabels(m.Graph, ops)
	for _, e := range m.MetadataProps {
		g.metadata = append(g.metadata, metadata{e.Key, e.Value})
	}
	return g, nil
}

func readOpsets(imports []*onnxpb.OperatorSetIdProto) (map[string]int, error) {
	opsets := map[string]int{}
	for _, s := range imports {
		d := domain(s.Domain)
		if d == "" && (s.Version < minOpset || s.Version > maxOpset) {
			return nil, fmt.Errorf("opset %d of ai.onnx is not supported; export with opset %d to %d", s.Version, minOpset, maxOpset)
		}
		if have, ok := opsets[d]; ok && have != int(s.Version) {
			return nil, fmt.Errorf("the model imports opsets %d and %d of domain %q", have, s.Version, s.Domain)
		}
		opsets[d] = int(s.Version)
	}
	return opsets, nil
}

// domain is "" for both names of the main domain.
func domain(d string) string {
	if d == "ai.onnx" {
		return ""
	}
	return d
}

// builder assembles the graph: values by name, nodes by what they read.
type builder struct {
	pb       *onnxpb.GraphProto
	opsets   map[string]int
	budget   *budget
	values   map[string]*Value
	ins      []*Value
	outs     []*Value
	fixedOne bool                 // the batch axis was declared with size 1
	given    map[string][]float64 // see Limits.Constants
}

// scope is that of the main graph.
func (b *builder) scope() *scope {
	s := &shared{budget: b.budget, names: map[string]int{}, free: map[*onnxpb.GraphProto][]string{}}
	for name := range b.values {
		s.names[name] = 1
	}
	return &scope{opsets: b.opsets, values: b.values, shared: s}
}

// findOutputs finds the outputs of the main graph.
func (b *builder) findOutputs() error {
	if len(b.pb.Output) == 0 {
		return fmt.Errorf("onnx: the graph has no outputs")
	}
	seen := map[*Value]bool{}
	for _, p := range b.pb.Output {
		v, ok := b.values[p.Name]
		if !ok {
			return fmt.Errorf("onnx: graph output %q is produced by nothing", p.Name)
		}
		if seen[v] {
			return fmt.Errorf("onnx: two graph outputs are named %q", p.Name)
		}
		seen[v] = true
		b.outs = append(b.outs, v)
	}
	return nil
}

func (b *builder) initializers() error {
	for _, p := range b.pb.Initializer {
		if p.Name == "" {
			return fmt.Errorf("onnx: an initializer has no name")
		}
		if _, ok := b.values[p.Name]; ok {
			return fmt.Errorf("onnx: two initializers are named %q", p.Name)
		}
		t, err := decodeTensor(p, fmt.Sprintf("initializer %q", p.Name), b.budget)
		if err != nil {
			return err
		}
		b.values[p.Name] = constant(p.Name, t)
	}
	for i, raw := range b.pb.SparseInitializer {
		name, t, err := decodeSparse(raw, fmt.Sprintf("sparse initializer %d", i), b.budget)
		if err != nil {
			return err
		}
		if _, ok := b.values[name]; ok || name == "" {
			return fmt.Errorf("onnx: sparse initializer %d has no name of its own (%q)", i, name)
		}
		b.values[name] = constant(name, t)
	}
	return nil
}

func constant(name string, t *Tensor) *Value {
	return &Value{Name: name, Type: t.Type, Shape: t.Shape, Const: t}
}

// inputs reads the graph inputs and decides which axis of each holds the rows.
// Initializers listed as inputs (IR version 3) are constants.
func (b *builder) inputs() (err error) {
	seen := map[string]bool{}
	dynamic, ones := 0, 0
	for _, p := range b.pb.Input {
		if p.Name == "" || seen[p.Name] {
			return fmt.Errorf("onnx: two graph inputs are named %q", p.Name)
		}
		seen[p.Name] = true
		if _, ok := b.values[p.Name]; ok {
			continue
		}
		if x, ok := b.given[p.Name]; ok {
			if b.values[p.Name], err = b.givenConstant(p, x); err != nil {
				return err
			}
			continue
		}
		v, err := b.input(p)
		if err != nil {
			return err
		}
		b.values[p.Name] = v
		b.ins = append(b.ins, v)
		if v.BatchAxis() >= 0 {
			dynamic++
		} else if v.Shape[0] == 1 {
			ones++
		} else {
			return fmt.Errorf("onnx: graph input %q has the fixed shape %v: no axis is left for the rows; export the model again with a dynamic batch axis (PyTorch: dynamic_shapes, or dynamic_axes with dynamo=False; Keras: batch size None)", v.Name, v.Shape)
		}
	}
	if len(b.ins) == 0 {
		return fmt.Errorf("onnx: the graph has no inputs")
	}
	for _, name := range slices.Sorted(maps.Keys(b.given)) {
		if v := b.values[name]; !seen[name] || v.Const == nil {
			return fmt.Errorf("onnx: Constants names %q, which is no input of the graph; its inputs are %s", name, QuotedList(slices.Sorted(maps.Keys(seen))))
		}
	}
	if ones > 0 && dynamic > 0 {
		for _, v := range b.ins {
			if v.BatchAxis() < 0 {
				return fmt.Errorf("onnx: graph input %q has the fixed shape %v while other inputs have a dynamic batch axis; if it is a constant that the exporter left without its values (the mean of a Normalization, say), give them with LoadOptions.Constants, else export the model again with a dynamic batch axis on every input", v.Name, v.Shape)
			}
		}
	}
	if ones > 0 {
		b.fixedOne = true
		for _, v := range b.ins {
			v.Shape[0] = Batch
		}
	}
	return nil
}

// tableOf refuses the lookup whose table the graph input of that name stands for; nil: it
// stands for none.
func (b *builder) tableOf(input string) error {
	for i, p := range b.pb.Node {
		n := &Node{Index: i, Name: p.Name, Op: p.OpType, Domain: domain(p.Domain), Version: b.opsets[domain(p.Domain)]}
		if slices.Contains(p.Input, input) && n.kerasLayer() != "" {
			return n.ofTensorFlow()
		}
	}
	return nil
}

// givenConstant is a graph input whose values somebody gave, as a constant: of the declared
// shape, in which one size may be open.
func (b *builder) givenConstant(p *onnxpb.ValueInfoProto, x []float64) (*Value, error) {
	tt := p.GetType().GetTensorType()
	t, err := TypeOf(tt.GetElemType())
	if err != nil || !t.Floating() && !t.Integer() {
		return nil, fmt.Errorf("onnx: graph input %q is given as a constant of numbers, and is none", p.Name)
	}
	shape, open, n := []int{}, -1, 1
	for i, d := range tt.GetShape().GetDim() {
		size := int(d.GetDimValue())
		if size <= 0 && open < 0 {
			open, size = i, 1
		}
		if size <= 0 || size > len(x) {
			return nil, fmt.Errorf("onnx: graph input %q takes a tensor of shape %v..., and %d values are given as a constant", p.Name, append(shape, size), len(x))
		}
		shape, n = append(shape, size), n*size
	}
	if open >= 0 && len(x)%n == 0 {
		shape[open], n = len(x)/n, len(x)
	}
	if n != len(x) {
		return nil, fmt.Errorf("onnx: graph input %q has the shape %v, and %d values are given as a constant", p.Name, shape, len(x))
	}
	if err := b.budget.take(n, fmt.Sprintf("constant %q", p.Name), shape); err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	c := &Tensor{Type: t, Shape: shape}
	c.allocate(n)
	for i, v := range x {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0) || t.Integer() && v != math.Trunc(v):
			return nil, fmt.Errorf("onnx: value %d of graph input %q, which is given as a constant, is %v: it takes finite numbers of type %s", i+1, p.Name, v, t)
		case t.Floating():
			c.F[i] = t.Round(v)
		default:
			c.I[i] = int64(v)
		}
	}
	return constant(p.Name, c), nil
}

func (b *builder) input(p *onnxpb.ValueInfoProto) (*Value, error) {
	tt := p.GetType().GetTensorType()
	if tt == nil {
		return nil, fmt.Errorf("onnx: graph input %q is not a tensor", p.Name)
	}
	t, err := TypeOf(tt.ElemType)
	if err != nil {
		return nil, fmt.Errorf("onnx: graph input %q: %w", p.Name, err)
	}
	if tt.Shape == nil {
		return nil, fmt.Errorf("onnx: graph input %q declares no shape; export the model with input shapes", p.Name)
	}
	n := len(tt.Shape.Dim)
	if err := b.tableOf(p.Name); n == 0 && err != nil {
		return nil, err
	}
	if n == 0 || n > MaxRank {
		return nil, fmt.Errorf("onnx: graph input %q has %d axes; 1 to %d are supported, one of them for the rows", p.Name, n, MaxRank)
	}
	v := &Value{Name: p.Name, Type: t}
	for i, d := range tt.Shape.Dim {
		size := d.GetDimValue()
		if size <= 0 {
			if v.BatchAxis() >= 0 {
				return nil, fmt.Errorf("onnx: graph input %q has two axes of unknown size (%d and %d); only the batch axis may be dynamic: export the model with fixed feature sizes", p.Name, v.BatchAxis(), i)
			}
			size = Batch
		} else if size > 1<<40 {
			return nil, fmt.Errorf("onnx: graph input %q: axis %d has impossible size %d", p.Name, i, size)
		}
		v.Shape = append(v.Shape, int(size))
	}
	n, ok := Elements(v.Shape)
	if !ok {
		return nil, fmt.Errorf("onnx: graph input %q: shape %v overflows", p.Name, v.Shape)
	}
	if err := b.budget.fits(n, fmt.Sprintf("graph input %q", p.Name), v.Shape); err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	return v, nil
}

// graph collects what remains after checking and folding.
func (b *builder) graph(nodes []*Node, declared []*onnxpb.ValueInfoProto) (*Graph, error) {
	g := &Graph{Inputs: b.ins, Outputs: b.outs, Nodes: nodes, Values: map[string]*Value{}}
	add := func(v *Value) {
		if v != nil {
			g.Values[v.Name] = v
		}
	}
	for _, v := range b.ins {
		add(v)
	}
	for i, n := range nodes {
		n.Index = i
		for _, v := range n.Inputs {
			add(v)
		}
		for _, v := range n.Outputs {
			add(v)
		}
	}
	for i, v := range b.outs {
		add(v)
		if want := declared[i].GetType().GetTensorType(); want != nil && want.ElemType != 0 {
			if t, err := TypeOf(want.ElemType); err == nil && t != v.Type {
				return nil, fmt.Errorf("onnx: graph output %q is declared as %s but computed as %s", v.Name, t, v.Type)
			}
		}
	}
	return g, nil
}
