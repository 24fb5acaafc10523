package graph

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// checker infers every value's type and shape in topological order, following
// the batch axis, and folds what does not depend on the inputs.
type checker struct {
	b      *builder
	ops    Operators
	budget *budget
	sizes  map[*Value]Sizes // integer tensors that depend on the number of rows
	kept   []*Node          // that have to run: their outputs are not known
	expander

	first    error // of a node that cannot be computed
	refused  map[*Value]error
	declared []*onnxpb.ValueInfoProto // what the file says of the outputs that remain
	notes    []string
}

func newChecker(b *builder, ops Operators, s *shared, functions map[functionKey]*function) *checker {
	return &checker{b: b, ops: ops, budget: b.budget, sizes: map[*Value]Sizes{}, refused: map[*Value]error{}, expander: newExpander(s, functions)}
}

// Check is what an operator's check sees: its node, and the checker of the graph.
type Check struct {
	*checker
	*Node
	work int64 // multiply-adds of one row
}

func (c *checker) check(nodes []*Node) error {
	for i, n := range nodes {
		if err := c.node(n); err != nil {
			return err
		}
		nodes[i] = nil
	}
	return nil
}

// node checks n; control flow, a function or a sequence is expanded.
func (c *checker) node(n *Node) error {
	for i, v := range n.Inputs {
		n.Inputs[i] = c.resolve(v)
	}
	if done, err := c.expand(n); done || err != nil {
		return err
	}
	op, err := find(c.ops, n)
	if err != nil {
		return err
	}
	if err := c.attributes(n); err != nil {
		return err
	}
	n.file = nil
	if len(c.lifted) > 0 && c.anyLifted(n.Inputs) {
		return c.lift(n, op)
	}
	return c.plain(n, op)
}

// plain checks a node that is run as it is, or as those that its operator puts in its place.
func (c *checker) plain(n *Node, op *Operator) error {
	if len(n.Inputs) > 1 && c.bags[n.Inputs[0]] != nil && n.Inputs[0].Type == 0 {
		if done, err := c.lastEnds(n); done || err != nil {
			return err
		}
	}
	switch mask, err := c.maskOf(n); {
	case err != nil:
		return within(n, err)
	case mask != nil:
		return c.onChosen(n, op, mask)
	case c.anyOwnRow(n.Inputs):
		return c.ownRow(n, op)
	case n.Key() == "NonZero" && len(n.Inputs) == 1 && n.Inputs[0] != nil:
		if done, err := c.places(n); done || err != nil {
			return err
		}
	case n.Key() == "ReduceSum" && len(n.Inputs) > 0 && len(n.Outputs) == 1 && c.countChosen(n):
		return nil
	}
	err := c.ordinary(n, op)
	if err != nil && c.firstRow(n, op, err) {
		return nil
	}
	return err
}

// ordinary checks a node that reads no number of a row.
func (c *checker) ordinary(n *Node, op *Operator) error {
	c.withConstants(n)
	if op.Replace != nil {
		if done, err := c.replace(n, op); done || err != nil {
			return err
		}
	}
	return c.single(n, op)
}

// single checks a node that is run as it is.
func (c *checker) single(n *Node, op *Operator) error {
	keep, err := c.operator(n, op)
	if err != nil {
		return fmt.Errorf("onnx: %s: %w", n, err)
	}
	if keep {
		c.kept = append(c.kept, n)
		c.noteEachRow(n, op)
	}
	return nil
}

// replace checks the nodes that stand for n; done is false if there are none.
func (c *checker) replace(n *Node, op *Operator) (done bool, err error) {
	nc := &Check{checker: c, Node: n}
	var nodes []*Node
	if err = nc.takes(op); err == nil {
		nodes, err = op.Replace(nc)
	}
	if err != nil {
		return false, fmt.Errorf("onnx: %s: %w", n, err)
	}
	for _, part := range nodes {
		own, err := find(c.ops, part)
		if err != nil {
			return false, err
		}
		if err := c.single(part, own); err != nil {
			return false, err
		}
	}
	return nodes != nil, nil
}

// attributes decodes those of a plain node.
func (c *checker) attributes(n *Node) error {
	if err := c.decodeAttributes(n); err != nil {
		return err
	}
	for name, a := range n.Attrs {
		if a.graph != nil {
			return fmt.Errorf("onnx: %s: attribute %q holds a subgraph, which is not supported", n, name)
		}
	}
	return nil
}

func (c *checker) operator(n *Node, op *Operator) (keep bool, err error) {
	nc := &Check{checker: c, Node: n}
	if err := nc.takes(op); err != nil {
		return false, err
	}
	if done, err := nc.followSizes(op); err != nil || done {
		return false, err
	}
	for i, v := range n.Inputs {
		if v == nil {
			continue
		}
		if _, ok := c.sizes[v]; ok && !slices.Contains(op.SizeInputs, i) {
			return false, fmt.Errorf("the number of rows (tensor %q) enters a computation: the result of a row would depend on how many rows there are", v.Name)
		}
	}
	if err := nc.layouts(op); err != nil {
		return false, err
	}
	if err := op.Check(nc); err != nil {
		return false, err
	}
	for i, v := range n.Outputs {
		if v != nil && v.Type == String && !op.Texts {
			return false, fmt.Errorf("output %d (%q) would be text, which the operator is not computed of; encode the text before (LabelEncoder, OneHotEncoder)", i, v.Name)
		}
	}
	constant := nc.readInputs(op)
	if err := nc.checkOutputs(constant); err != nil {
		return false, err
	}
	if err := c.budget.spend(nc.work, constant); err != nil {
		return false, err
	}
	if constant {
		return false, nc.fold(op)
	}
	return true, nil
}

// layouts refuses a batch axis that holds each row several times where the operator
// counts on a plain one.
func (c *Check) layouts(op *Operator) error {
	if op.AnyLayout {
		return nil
	}
	for i, v := range c.Inputs {
		if v == nil {
			continue
		}
		if at := v.BatchAxis(); at >= 0 && v.Shape[at] != Batch {
			return fmt.Errorf("input %d (%q) of shape %s holds each row several times on its batch axis, which is not followed through this operator; put it before the Reshape that joins the axes, or after one that takes them apart", i, v.Name, ShapeText(v.Shape))
		}
	}
	return nil
}

// takes checks the number of inputs and outputs, and that inputs are there and no text
// where numbers are needed.
func (c *Check) takes(op *Operator) error {
	if err := arity(c.Node, op.Min, op.Max, op.Outputs); err != nil {
		return err
	}
	for i, v := range c.Inputs {
		switch {
		case v == nil:
		case v.Type == 0:
			return c.noTensor(i, v)
		case v.Type == String && !op.Texts:
			return fmt.Errorf("input %d (%q) is text, and the operator is computed of numbers alone; encode the text before (LabelEncoder, OneHotEncoder)", i, v.Name)
		}
	}
	return nil
}

// readInputs reports whether all inputs are constants. Reading counts as work, too.
func (c *Check) readInputs(op *Operator) (constant bool) {
	constant = true
	for i, v := range c.Inputs {
		if v == nil || slices.Contains(op.TypeInputs, i) {
			continue
		}
		constant = constant && v.Const != nil
		c.work += int64(v.Width())
	}
	return constant
}

// checkOutputs bounds the outputs and requires those that depend on the inputs to
// have a batch axis.
func (c *Check) checkOutputs(constant bool) error {
	for _, v := range c.Outputs {
		if v == nil {
			continue
		}
		if len(v.Shape) > MaxRank {
			return fmt.Errorf("output %q has %d axes; at most %d are supported", v.Name, len(v.Shape), MaxRank)
		}
		if !constant && v.BatchAxis() < 0 {
			return fmt.Errorf("output %q depends on the inputs but has no batch axis", v.Name)
		}
		size, ok := Elements(v.Shape)
		if !ok {
			return fmt.Errorf("output %q: shape %s overflows", v.Name, ShapeText(v.Shape))
		}
		if err := c.budget.fits(size, fmt.Sprintf("output %q", v.Name), v.Shape); err != nil {
			return err
		}
		c.work += int64(size)
	}
	return nil
}

func arity(n *Node, lo, hi, outs int) error {
	if len(n.Inputs) < lo || hi >= 0 && len(n.Inputs) > hi {
		return fmt.Errorf("has %d inputs, needs %s", len(n.Inputs), countText(lo, hi))
	}
	for i := range lo {
		if n.Inputs[i] == nil {
			return fmt.Errorf("input %d is left out", i)
		}
	}
	if len(n.Outputs) == 0 {
		return errors.New("has no output")
	}
	// What only training needs (BatchNormalization's running means) stays without a
	// type; whoever reads it is refused.
	if outs >= 0 && len(n.Outputs) > outs {
		n.Outputs = n.Outputs[:outs]
	}
	return nil
}

func countText(lo, hi int) string {
	switch {
	case hi < 0:
		return fmt.Sprintf("at least %d", lo)
	case lo == hi:
		return fmt.Sprint(lo)
	}
	return fmt.Sprintf("%d to %d", lo, hi)
}

// fold computes the node's outputs from constants. What only gives data another name
// or shape shares them; constants are never written.
func (c *Check) fold(op *Operator) error {
	if shared := c.shared(op); shared != nil {
		c.Outputs[0].Const, c.Outputs[0].Producer = shared, nil
		return nil
	}
	for _, v := range c.Outputs {
		if v == nil {
			continue
		}
		if v.BatchAxis() >= 0 {
			return fmt.Errorf("output %q has a batch axis but depends on no input", v.Name)
		}
		n := v.Width()
		if err := c.budget.take(n, fmt.Sprintf("folded constant %q", v.Name), v.Shape); err != nil {
			return err
		}
		v.Const, v.Producer = &Tensor{Type: v.Type, Shape: v.Shape}, nil
		v.Const.allocate(n)
	}
	return c.ops.Evaluate(c.Node)
}

// shared is an output that needs no memory of its own; nil if it does.
func (c *Check) shared(op *Operator) *Tensor {
	v := c.Outputs[0]
	if v == nil {
		return nil
	}
	if t, ok := c.Resolved.(*Tensor); ok {
		return t
	}
	if op.View != nil && op.View(c.Node) {
		in := c.Inputs[0].Const
		return &Tensor{Type: v.Type, Shape: v.Shape, F: in.F, I: in.I}
	}
	return nil
}

// What an operator's check uses.

// Set gives output i its type and shape.
func (c *Check) Set(i int, t DType, shape []int) error {
	if i >= len(c.Outputs) || c.Outputs[i] == nil {
		return nil
	}
	batch := 0
	for _, d := range shape {
		if IsRows(d) {
			batch++
		} else if d < 0 {
			return fmt.Errorf("negative size in output shape %s", ShapeText(shape))
		}
	}
	if batch > 1 {
		return fmt.Errorf("mixes rows: its output would have two batch axes (every row paired with every row)")
	}
	c.Outputs[i].Type, c.Outputs[i].Shape = t, shape
	return nil
}

// Has reports whether input i is given.
func (c *Check) Has(i int) bool { return i < len(c.Inputs) && c.Inputs[i] != nil }

// IsOutput reports whether output i is one of the graph.
func (c *Check) IsOutput(i int) bool {
	return i < len(c.Outputs) && c.Outputs[i] != nil && slices.Contains(c.b.outs, c.Outputs[i])
}

// Ints reads input i, which must be a constant vector or scalar of integers.
func (c *Check) Ints(i int) ([]int64, error) {
	v := c.Inputs[i]
	if v.Const == nil {
		return nil, fmt.Errorf("input %d (%q) must be a constant", i, v.Name)
	}
	if v.Type.Floating() || v.Type == String || len(v.Shape) > 1 {
		return nil, fmt.Errorf("input %d (%q) must be a vector of integers, is %s %s", i, v.Name, v.Type, ShapeText(v.Shape))
	}
	return v.Const.I, nil
}

// Floating requires input i to be of a floating type.
func (c *Check) Floating(i int) error {
	if v := c.Inputs[i]; !v.Type.Floating() {
		return fmt.Errorf("input %d (%q) must be floating point, is %s", i, v.Name, v.Type)
	}
	return nil
}

// SameType requires all inputs given to have the same type.
func (c *Check) SameType() error {
	for i, v := range c.Inputs {
		if v != nil && v.Type != c.Inputs[0].Type {
			return fmt.Errorf("inputs 0 (%q) and %d (%q) have types %s and %s", c.Inputs[0].Name, i, v.Name, c.Inputs[0].Type, v.Type)
		}
	}
	return nil
}

// Axes reads a list of axes from an attribute, or from input i if the operator
// has it there since the given opset.
func (c *Check) Axes(i, since int) (axes []int64, given bool, err error) {
	if c.Version >= since {
		if !c.Has(i) {
			return nil, false, nil
		}
		axes, err = c.Ints(i)
		return axes, true, err
	}
	a, ok := c.Attrs["axes"]
	return a.Ints, ok, nil
}

// ReadOnlyBy reports whether all nodes that read v are of that operator of ai.onnx, and
// the graph does not give v out.
func (c *Check) ReadOnlyBy(v *Value, op string) bool {
	for _, out := range c.b.pb.Output {
		if out.Name == v.Name {
			return false
		}
	}
	for _, n := range c.b.pb.Node {
		if slices.Contains(n.Input, v.Name) && (n.OpType != op || n.Domain != "" && n.Domain != "ai.onnx") {
			return false
		}
	}
	return true
}

// MultiplyAdds accounts for elements of out times k.
func (c *Check) MultiplyAdds(out []int, k int) error {
	size, ok := Elements(append([]int{k}, out...))
	if !ok {
		return fmt.Errorf("output shape %s with %d terms each overflows", ShapeText(out), k)
	}
	c.work += int64(size)
	return nil
}

// Spend accounts for work that the check of a node whose inputs are constants is about to
// do itself; it is an error if none is left.
func (c *Check) Spend(work int64) error { return c.budget.spend(work, true) }

// Fits reports an error if n elements of that shape are more than memory may hold.
func (c *Check) Fits(n int, what string, shape []int) error { return c.budget.fits(n, what, shape) }

// Note is a remark on the graph for its users.
func (c *Check) Note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// TracedWithOneRow reports whether the batch axis of the inputs was declared with size 1.
func (c *Check) TracedWithOneRow() bool { return c.b.fixedOne }
