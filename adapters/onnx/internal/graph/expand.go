package graph

import (
	"fmt"
	"strconv"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// expander replaces nodes that hold subgraphs, call functions or handle sequences by the
// nodes that they come to, so that those who run a graph or look for its structure know
// none of these. (What an operator puts in its own place is a Replacement.)
type expander struct {
	*shared
	functions  map[functionKey]*function
	calls      []*function                           // those being expanded
	alias      map[*Value]*Value                     // an output of an expanded node: what it is
	sequences  map[*Value]*sequence                  // values that are no tensors
	lifted     map[*Value]bool                       // see lift
	rowNumbers map[*Value]bool                       // see rowNumber
	ownRows    map[*Value]*ownRow                    // tensors that the number of the row is in
	chosen     map[*Value]*Value                     // tensors of rows that a mask chooses: which mask
	each       map[*Value]*Tensor                    // see ofEachRow
	bags       map[*Value]*Value                     // see bagEnds: where the bags begin
	attrs      map[*onnxpb.NodeProto]map[string]Attr // of nodes that stand in subgraphs
	constants  map[*onnxpb.GraphProto][]*Value       // initializers of subgraphs
}

func newExpander(s *shared, functions map[functionKey]*function) expander {
	return expander{
		shared: s, functions: functions, alias: map[*Value]*Value{}, sequences: map[*Value]*sequence{},
		lifted: map[*Value]bool{}, rowNumbers: map[*Value]bool{}, ownRows: map[*Value]*ownRow{}, chosen: map[*Value]*Value{}, each: map[*Value]*Tensor{}, bags: map[*Value]*Value{},
		attrs: map[*onnxpb.NodeProto]map[string]Attr{}, constants: map[*onnxpb.GraphProto][]*Value{},
	}
}

// maxScopes bounds how deep subgraphs and functions nest.
const maxScopes = 64

// expandable is an operator that is expanded: the opset of ai.onnx since which it is
// there, how many inputs it has (most < 0: any number), and what it does.
type expandable struct {
	since, least, most int
	do                 func(c *checker, n *Node) error
}

func expansionOf(n *Node) (e expandable, ok bool) {
	if n.Domain != "" {
		return expandable{}, false
	}
	switch n.Op {
	case "If":
		return expandable{1, 1, 1, (*checker).branch}, true
	case "Loop":
		return expandable{1, 2, -1, (*checker).loop}, true
	case "Scan":
		return expandable{8, 1, -1, (*checker).scan}, true
	case "SequenceEmpty":
		return expandable{11, 0, 0, (*checker).sequenceEmpty}, true
	case "SequenceConstruct":
		return expandable{11, 1, -1, (*checker).sequenceConstruct}, true
	case "SequenceInsert":
		return expandable{11, 2, 3, (*checker).sequenceInsert}, true
	case "SequenceErase":
		return expandable{11, 1, 2, (*checker).sequenceErase}, true
	case "SequenceAt":
		return expandable{11, 2, 2, (*checker).sequenceAt}, true
	case "SequenceLength":
		return expandable{11, 1, 1, (*checker).sequenceLength}, true
	case "SequenceMap":
		return expandable{17, 1, -1, (*checker).sequenceMap}, true
	case "ConcatFromSequence":
		return expandable{11, 1, 1, (*checker).concatFromSequence}, true
	case "SplitToSequence":
		return expandable{11, 1, 2, (*checker).splitToSequence}, true
	case "Optional":
		return expandable{15, 0, 1, (*checker).optional}, true
	case "OptionalHasElement":
		return expandable{15, 0, 1, (*checker).optionalHasElement}, true
	case "OptionalGetElement":
		return expandable{15, 1, 1, (*checker).optionalGetElement}, true
	case "Dropout":
		return expandable{7, 1, 3, (*checker).dropout}, true
	case "Range":
		return expandable{11, 3, 3, (*checker).rangeOfRows}, true
	case "Identity":
		return expandable{1, 1, 1, (*checker).sequenceIdentity}, true
	}
	return expandable{}, false
}

// expand expands n; done is false if it is a plain node.
func (c *checker) expand(n *Node) (done bool, err error) {
	if f := c.function(n); f != nil {
		if err := c.call(n, f); err != nil {
			return false, err
		}
		return true, nil
	}
	if done, err := c.pickRow(n); done || err != nil {
		return done, err
	}
	e, ok := expansionOf(n)
	if !ok || n.Op == "Identity" && !c.isSequence(n.Inputs) || n.Op == "Range" && !c.numbersRows(n) || n.Op == "Dropout" && !n.masks() {
		return false, nil
	}
	if n.Version < e.since {
		return false, tooEarly(n, e.since)
	}
	if mask, _ := c.maskOf(n); mask != nil {
		return false, within(n, fmt.Errorf("mixes rows: it depends on how many the mask %q chooses", mask.Name))
	}
	if err := c.decodeAttributes(n); err != nil {
		return false, err
	}
	err = arity(n, 0, e.most, -1)
	if err == nil && len(n.Inputs) < e.least {
		err = fmt.Errorf("has %d inputs, needs %s", len(n.Inputs), countText(e.least, e.most))
	}
	if err == nil {
		err = e.do(c, n)
	}
	if err != nil {
		return false, within(n, err)
	}
	n.file = nil
	return true, nil
}

// resolve is the value that v is.
func (c *checker) resolve(v *Value) *Value {
	if to, ok := c.alias[v]; ok {
		return to
	}
	return v
}

// bind makes output i of an expanded node the value v (nil: it is left out). A value of a
// subgraph takes the name of the output, which the file knows.
func (c *checker) bind(n *Node, i int, v *Value) {
	if v == nil || i >= len(n.Outputs) || n.Outputs[i] == nil {
		return
	}
	out := n.Outputs[i]
	v = c.resolve(v)
	if v.inner && v.Producer != nil {
		v.Name, v.inner = out.Name, out.inner
	}
	out.Producer = nil
	c.alias[out] = v
}

// subgraph is that attribute of n.
func (c *checker) subgraph(n *Node, name string) (*onnxpb.GraphProto, error) {
	if g := n.Attrs[name].graph; g != nil {
		return g, nil
	}
	return nil, fmt.Errorf("has no subgraph %q", name)
}

// body expands a subgraph of n whose inputs are args, and returns its outputs. label
// tells apart the names of several passes.
func (c *checker) body(n *Node, g *onnxpb.GraphProto, label string, args []*Value) ([]*Value, error) {
	outer := n.file.scope
	if len(args) != len(g.Input) {
		return nil, fmt.Errorf("its subgraph has %d inputs, needs %d", len(g.Input), len(args))
	}
	s := &scope{outer: outer, path: n.Name + "/" + label, depth: outer.depth + 1, opsets: outer.opsets, values: map[string]*Value{}, shared: c.shared}
	initializers, err := c.initializers(n, g)
	if err != nil {
		return nil, err
	}
	if err := c.budget.expand(len(initializers) + len(args)); err != nil {
		return nil, err
	}
	for i, p := range g.Initializer {
		s.values[p.Name] = initializers[i]
	}
	for i, p := range g.Input {
		s.values[p.Name] = args[i]
	}
	var outputs []string
	for _, p := range g.Output {
		outputs = append(outputs, p.Name)
	}
	return c.run(s, g.Node, outputs)
}

// initializers decodes the constants of a subgraph, once.
func (c *checker) initializers(n *Node, g *onnxpb.GraphProto) ([]*Value, error) {
	if known, ok := c.constants[g]; ok {
		return known, nil
	}
	if len(g.SparseInitializer) > 0 {
		return nil, fmt.Errorf("its subgraph holds sparse initializers, which are not supported; export it with dense ones")
	}
	list := make([]*Value, len(g.Initializer))
	for i, p := range g.Initializer {
		t, err := decodeTensor(p, fmt.Sprintf("%s: initializer %q", n, p.Name), c.budget)
		if err != nil {
			return nil, err
		}
		list[i] = constant(c.unique(n.Name+"/"+p.Name), t)
		list[i].inner = true
	}
	c.constants[g] = list
	return list, nil
}

// run checks the nodes of a subgraph or function in its scope, and returns its outputs.
func (c *checker) run(s *scope, file []*onnxpb.NodeProto, outputs []string) ([]*Value, error) {
	if s.depth > maxScopes {
		return nil, fmt.Errorf("subgraphs and functions nest deeper than %d levels", maxScopes)
	}
	parts := 1
	for _, p := range file {
		parts += 1 + len(p.Input) + len(p.Output)
		for _, a := range p.Attribute {
			parts += len(c.freeNames(a.G))
		}
	}
	if err := c.budget.expand(parts); err != nil {
		return nil, err
	}
	nodes, err := s.connect(file)
	if err != nil {
		return nil, err
	}
	outs := make([]*Value, len(outputs))
	for i, name := range outputs {
		v, ok := s.find(name)
		if !ok {
			return nil, fmt.Errorf("its output %q is produced by nothing", name)
		}
		outs[i] = v
	}
	if nodes, err = order(nodes, outs); err != nil {
		return nil, err
	}
	if err := c.check(nodes); err != nil {
		return nil, err
	}
	for i, v := range outs {
		outs[i] = c.resolve(v)
	}
	return outs, nil
}

// decodeAttributes decodes those of n as the file has them, once for a node that is
// expanded several times.
func (c *checker) decodeAttributes(n *Node) error {
	if n.file == nil { // one of apply
		return nil
	}
	if n.Attrs = c.attrs[n.file.NodeProto]; n.Attrs != nil {
		return nil
	}
	n.Attrs = map[string]Attr{}
	for _, p := range n.file.Attribute {
		if _, dup := n.Attrs[p.Name]; dup {
			return fmt.Errorf("onnx: %s: attribute %q is given twice", n, p.Name)
		}
		a, err := decodeAttr(p, n.String(), c.budget)
		if err != nil {
			return err
		}
		n.Attrs[p.Name] = a
	}
	if n.file.scope.depth > 0 {
		c.attrs[n.file.NodeProto] = n.Attrs
	}
	return nil
}

// ownVersion is the opset of the nodes that expanding adds.
const ownVersion = 13

// apply adds a node of operator op on behalf of n and returns its output.
func (c *checker) apply(n *Node, op string, attrs map[string]Attr, inputs ...*Value) (*Value, error) {
	return c.add(n, op, attrs, inputs, c.node)
}

// applyPlain is apply with all axes of lifted inputs in sight.
func (c *checker) applyPlain(n *Node, op string, attrs map[string]Attr, inputs ...*Value) (*Value, error) {
	return c.add(n, op, attrs, inputs, func(own *Node) error { return c.plain(own, c.ops.Find(op)) })
}

func (c *checker) add(n *Node, op string, attrs map[string]Attr, inputs []*Value, check func(*Node) error) (*Value, error) {
	if err := c.budget.expand(2 + len(inputs)); err != nil {
		return nil, err
	}
	name := c.unique(n.Name + "/" + op)
	own := &Node{Name: name, Op: op, Version: ownVersion, Inputs: inputs, Attrs: attrs, Texts: c.budget.texts}
	own.Outputs = []*Value{{Name: name, Producer: own, inner: true}}
	if err := check(own); err != nil {
		return nil, err
	}
	return c.resolve(own.Outputs[0]), nil
}

// integers is a constant vector; scalar one without axes.
func (c *checker) integers(n *Node, v ...int64) *Value {
	return c.own(n, &Tensor{Type: Int64, Shape: []int{len(v)}, I: v})
}

func (c *checker) scalar(n *Node, t DType, v int64) *Value {
	return c.own(n, &Tensor{Type: t, Shape: []int{}, I: []int64{v}})
}

func (c *checker) own(n *Node, t *Tensor) *Value {
	v := constant(c.unique(n.Name+"/constant"), t)
	v.inner = true
	return v
}

// join stacks tensors along a new axis, or appends them along one that they have.
func (c *checker) join(n *Node, parts []*Value, axis int64, stack bool) (*Value, error) {
	if !stack && len(parts) == 1 {
		return parts[0], nil
	}
	if stack {
		at := c.integers(n, axis)
		stacked := make([]*Value, len(parts))
		for i, v := range parts {
			var err error
			if stacked[i], err = c.apply(n, "Unsqueeze", nil, v, at); err != nil {
				return nil, err
			}
		}
		if parts = stacked; len(parts) == 1 {
			return parts[0], nil
		}
	}
	return c.apply(n, "Concat", map[string]Attr{"axis": {Int: axis}}, parts...)
}

// pick is element i of v along an axis, which it drops.
func (c *checker) pick(n *Node, v *Value, axis int, i int) (*Value, error) {
	return c.apply(n, "Gather", map[string]Attr{"axis": {Int: int64(axis)}}, v, c.scalar(n, Int64, int64(i)))
}

// outputs settles the outputs of the main graph: one that an expanded node computes is
// what it is expanded to, under its own name.
func (c *checker) outputs(outs []*Value) error {
	for i, out := range outs {
		v := c.resolve(out)
		switch {
		case v == out:
			continue
		case v.Type == 0 || v.Name == out.Name:
		case v.Const != nil:
			v = &Value{Name: out.Name, Type: v.Type, Shape: v.Shape, Const: v.Const}
		default:
			n := &Node{Name: out.Name, Op: "Identity", Version: ownVersion, Inputs: []*Value{v}, Texts: c.budget.texts}
			n.Outputs = []*Value{{Name: out.Name, Producer: n}}
			if err := c.node(n); err != nil {
				return err
			}
			v = c.resolve(n.Outputs[0])
		}
		outs[i] = v
	}
	return nil
}

// needed lists the nodes kept that the outputs need: those of a subgraph may not be.
func (c *checker) needed(outs []*Value) []*Node {
	if len(c.alias) == 0 && len(c.refused) == 0 {
		return c.kept
	}
	need := needed(c.kept, outs)
	var nodes []*Node
	for _, n := range c.kept {
		if need[n] {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// passLabel is the label of a pass of a loop.
func passLabel(i int) string { return strconv.Itoa(i) + "/" }
