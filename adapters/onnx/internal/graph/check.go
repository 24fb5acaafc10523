package graph

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pho-go/pho/internal/onnxpb"
)

// checker infers every value's type and shape in topological order, following
// the batch axis, and folds what does not depend on the inputs.
type checker struct {
	b      *builder
	ops    Operators
	budget *budget
	sizes  map[*Value]Sizes // integer tensors that depend on the number of rows

	first    error // of a node that cannot be computed
	refused  map[*Value]error
	declared []*onnxpb.ValueInfoProto // what the file says of the outputs that remain
	notes    []string
}

func newChecker(b *builder, ops Operators) *checker {
	return &checker{b: b, ops: ops, budget: b.budget, sizes: map[*Value]Sizes{}, refused: map[*Value]error{}}
}

// Check is what an operator's check sees: its node, and the checker of the graph.
type Check struct {
	*checker
	*Node
	work int64 // multiply-adds of one row
}

func (c *checker) check(nodes []*Node) ([]*Node, error) {
	var kept []*Node
	for i, n := range nodes {
		own, err := c.node(n)
		if err != nil {
			c.refuse(n, err)
		}
		nodes[i] = nil
		kept = append(kept, own...)
	}
	return c.prune(kept)
}

// node checks n and lists what has to run for it: nothing if its outputs are known.
func (c *checker) node(n *Node) ([]*Node, error) {
	if err := c.refusedInput(n); err != nil {
		return nil, err
	}
	op, err := find(c.ops, n)
	if err != nil {
		return nil, err
	}
	if err := c.attributes(n, c.b.pb.Node[n.Index].Attribute); err != nil {
		return nil, err
	}
	if op.Expand == nil {
		return c.named(n, op)
	}
	nc := &Check{checker: c, Node: n}
	err = nc.takes(op)
	var nodes, kept []*Node
	if err == nil {
		nodes, err = op.Expand(nc)
	}
	if err != nil {
		return nil, fmt.Errorf("onnx: %s: %w", n, err)
	}
	if nodes == nil {
		return c.named(n, op)
	}
	for _, part := range nodes {
		own, err := c.part(part)
		if err != nil {
			return nil, err
		}
		kept = append(kept, own...)
	}
	return kept, nil
}

// part checks a node that stands for a part of another.
func (c *checker) part(n *Node) ([]*Node, error) {
	op, err := find(c.ops, n)
	if err != nil {
		return nil, err
	}
	return c.named(n, op)
}

// named checks n and says its name in errors.
func (c *checker) named(n *Node, op *Operator) ([]*Node, error) {
	keep, err := c.operator(n, op)
	if err != nil {
		return nil, fmt.Errorf("onnx: %s: %w", n, err)
	}
	if !keep {
		return nil, nil
	}
	return []*Node{n}, nil
}

func (c *checker) attributes(n *Node, attrs []*onnxpb.AttributeProto) error {
	n.Attrs = map[string]Attr{}
	for _, p := range attrs {
		if _, dup := n.Attrs[p.Name]; dup {
			return fmt.Errorf("onnx: %s: attribute %q is given twice", n, p.Name)
		}
		a, err := decodeAttr(p, n.String(), c.budget)
		if err != nil {
			return err
		}
		n.Attrs[p.Name] = a
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
			return fmt.Errorf("input %d (%q) is not computed at inference", i, v.Name)
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
			return fmt.Errorf("output %q: shape %v overflows", v.Name, v.Shape)
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
	// What only training needs (Dropout's mask) stays without a type; whoever
	// reads it is refused.
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
		if v.Type.Floating() {
			v.Const.F = make([]float64, n)
		} else {
			v.Const.I = make([]int64, n)
		}
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
		if d == Batch {
			batch++
		} else if d < 0 {
			return fmt.Errorf("negative size in output shape %v", shape)
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

// Ints reads input i, which must be a constant vector or scalar of integers.
func (c *Check) Ints(i int) ([]int64, error) {
	v := c.Inputs[i]
	if v.Const == nil {
		return nil, fmt.Errorf("input %d (%q) must be a constant", i, v.Name)
	}
	if v.Type.Floating() || v.Type == String || len(v.Shape) > 1 {
		return nil, fmt.Errorf("input %d (%q) must be a vector of integers, is %s %v", i, v.Name, v.Type, v.Shape)
	}
	return v.Const.I, nil
}

// Floating requires input i to be float or double.
func (c *Check) Floating(i int) error {
	if v := c.Inputs[i]; !v.Type.Floating() {
		return fmt.Errorf("input %d (%q) must be float or double, is %s", i, v.Name, v.Type)
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

// MultiplyAdds accounts for elements of out times k.
func (c *Check) MultiplyAdds(out []int, k int) error {
	size, ok := Elements(append([]int{k}, out...))
	if !ok {
		return fmt.Errorf("output shape %v with %d terms each overflows", out, k)
	}
	c.work += int64(size)
	return nil
}

// Fits reports an error if n elements of that shape are more than memory may hold.
func (c *Check) Fits(n int, what string, shape []int) error { return c.budget.fits(n, what, shape) }

// Note is a remark on the graph for its users.
func (c *Check) Note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// TracedWithOneRow reports whether the batch axis of the inputs was declared with size 1.
func (c *Check) TracedWithOneRow() bool { return c.b.fixedOne }
