package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// checker infers every value's type and shape in topological order, following
// the batch axis, and folds what does not depend on the inputs.
type checker struct {
	b      *builder
	table  table[float64]
	budget *budget
	dims   map[*Value]dims // integer tensors that depend on the number of rows
}

func newChecker(b *builder) *checker {
	return &checker{b: b, table: operators[float64](), budget: b.budget, dims: map[*Value]dims{}}
}

// nodeCheck is the checker's view of one node: what an operator's infer sees.
type nodeCheck struct {
	*checker
	*Node
	work int64 // multiply-adds of one row
}

func (c *checker) check(nodes []*Node) ([]*Node, error) {
	var kept []*Node
	for i, n := range nodes {
		keep, err := c.node(n, c.b.pb.Node[n.Index].Attribute)
		if err != nil {
			return nil, err
		}
		nodes[i] = nil
		if keep {
			kept = append(kept, n)
		}
	}
	return kept, nil
}

func (c *checker) node(n *Node, attrs []*attrProto) (keep bool, err error) {
	fail := func(err error) (bool, error) { return false, fmt.Errorf("onnx: %s: %w", describe(n), err) }
	op, ok := c.table[opKey(n)]
	if !ok {
		return false, c.unsupported(n)
	}
	n.Attrs = map[string]Attr{}
	for _, p := range attrs {
		if _, dup := n.Attrs[p.Name]; dup {
			return fail(fmt.Errorf("attribute %q is given twice", p.Name))
		}
		a, err := decodeAttr(p, describe(n), c.budget)
		if err != nil {
			return false, err
		}
		n.Attrs[p.Name] = a
	}
	if err := arity(n, op.min, op.max, op.outputs); err != nil {
		return fail(err)
	}
	for i, v := range n.Inputs {
		if v != nil && v.Type == 0 {
			return fail(fmt.Errorf("input %d (%q) is not computed at inference", i, v.Name))
		}
	}
	nc := &nodeCheck{checker: c, Node: n}
	if done, err := nc.symbolic(); err != nil {
		return fail(err)
	} else if done {
		return false, nil
	}
	for i, v := range n.Inputs {
		if v == nil {
			continue
		}
		if _, ok := c.dims[v]; ok && !slices.Contains(op.shapes, i) {
			return fail(fmt.Errorf("the number of rows (tensor %q) enters a computation: the result of a row would depend on how many rows there are", v.Name))
		}
	}
	if err := op.infer(nc); err != nil {
		return fail(err)
	}
	constant := true
	for _, v := range n.Inputs {
		if v == nil {
			continue
		}
		if n.Op == "CastLike" && v != n.Inputs[0] {
			continue // only its type matters
		}
		constant = constant && v.Const != nil
		size, _ := elements(v.Shape) // reading counts as work, too
		nc.work += int64(size)
	}
	for _, v := range n.Outputs {
		if v == nil {
			continue
		}
		if len(v.Shape) > maxRank {
			return fail(fmt.Errorf("output %q has %d axes; at most %d are supported", v.Name, len(v.Shape), maxRank))
		}
		if !constant && v.BatchAxis() < 0 {
			return fail(fmt.Errorf("output %q depends on the inputs but has no batch axis", v.Name))
		}
		size, ok := elements(v.Shape)
		if !ok {
			return fail(fmt.Errorf("output %q: shape %v overflows", v.Name, v.Shape))
		}
		if err := c.budget.fits(size, fmt.Sprintf("output %q", v.Name), v.Shape); err != nil {
			return fail(err)
		}
		nc.work += int64(size)
	}
	left := &c.budget.rowWork
	if constant {
		left = &c.budget.foldWork
	}
	if *left -= nc.work; *left < 0 {
		return fail(fmt.Errorf("the graph needs more than %d multiply-adds for one row (MaxWork)", c.budget.workMax))
	}
	if !constant {
		return true, nil
	}
	if err := nc.fold(op); err != nil {
		return fail(err)
	}
	return false, nil
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

func (c *checker) unsupported(n *Node) error {
	switch n.Op {
	case "If", "Loop", "Scan":
		return fmt.Errorf("onnx: %s: control flow (operator %s) is not supported; export the model by tracing, without it", describe(n), opName(n.Op))
	}
	name := n.Domain
	if name == "" {
		name = "ai.onnx"
	}
	return fmt.Errorf("onnx: %s: operator %q of domain %s (version %d) is not supported; supported are %s",
		describe(n), n.Op, opName(name), n.Version, strings.Join(c.table.names(), ", "))
}

// fold computes the node's outputs from constants.
func (c *nodeCheck) fold(op operator[float64]) error {
	if shared, ok, err := c.sharedConstant(op); err != nil || ok {
		if ok {
			v := c.Outputs[0]
			v.Const, v.Producer = shared, nil
		}
		return err
	}
	run, err := op.compile(c.Node)
	if err != nil {
		return err
	}
	x := &exec[float64]{rows: 1, scratch: new([]float64)}
	for _, v := range c.Inputs {
		var t tensor[float64]
		if v != nil && v.Const != nil {
			t = tensor[float64]{shape: v.Shape, f: v.Const.F, i: v.Const.I}
		}
		x.in = append(x.in, t)
	}
	for _, v := range c.Outputs {
		if v == nil {
			x.out = append(x.out, tensor[float64]{})
			continue
		}
		if v.BatchAxis() >= 0 {
			return fmt.Errorf("output %q has a batch axis but depends on no input", v.Name)
		}
		n, _ := elements(v.Shape)
		if err := c.budget.take(n, fmt.Sprintf("folded constant %q", v.Name), v.Shape); err != nil {
			return err
		}
		t := &Tensor{Type: v.Type, Shape: v.Shape}
		if v.Type.Floating() {
			t.F = make([]float64, n)
		} else {
			t.I = make([]int64, n)
		}
		x.out = append(x.out, tensor[float64]{shape: v.Shape, f: t.F, i: t.I})
		v.Const = t
		v.Producer = nil
	}
	return run(x)
}

// sharedConstant folds without copying what only gives data another name or
// shape; constants are never written.
func (c *nodeCheck) sharedConstant(op operator[float64]) (*Tensor, bool, error) {
	v := c.Outputs[0]
	switch {
	case v == nil:
		return nil, false, nil
	case c.Op == "Constant" && c.Domain == "":
		t, err := constantOf(c.Node)
		return t, err == nil, err
	case op.view != nil && op.view(c.Node):
		in := c.Inputs[0].Const
		return &Tensor{Type: v.Type, Shape: v.Shape, F: in.F, I: in.I}, true, nil
	}
	return nil, false, nil
}

// What an operator's infer uses.

// set gives output i its type and shape.
func (c *nodeCheck) set(i int, t DType, shape []int) error {
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

func (c *nodeCheck) has(i int) bool { return i < len(c.Inputs) && c.Inputs[i] != nil }

// ints reads input i, which must be a constant vector or scalar of integers.
func (c *nodeCheck) ints(i int) ([]int64, error) {
	v := c.Inputs[i]
	if v.Const == nil {
		return nil, fmt.Errorf("input %d (%q) must be a constant", i, v.Name)
	}
	if v.Type.Floating() || len(v.Shape) > 1 {
		return nil, fmt.Errorf("input %d (%q) must be a vector of integers, is %s %v", i, v.Name, v.Type, v.Shape)
	}
	return v.Const.I, nil
}

// floating requires input i to be float or double.
func (c *nodeCheck) floating(i int) error {
	if v := c.Inputs[i]; !v.Type.Floating() {
		return fmt.Errorf("input %d (%q) must be float or double, is %s", i, v.Name, v.Type)
	}
	return nil
}

// same requires all inputs given to have the same type.
func (c *nodeCheck) same() error {
	for i, v := range c.Inputs {
		if v != nil && v.Type != c.Inputs[0].Type {
			return fmt.Errorf("inputs 0 (%q) and %d (%q) have types %s and %s", c.Inputs[0].Name, i, v.Name, c.Inputs[0].Type, v.Type)
		}
	}
	return nil
}

// axes reads a list of axes from an attribute, or from input i if the operator
// has it there since the given opset.
func (c *nodeCheck) axes(i, since int) (axes []int64, given bool, err error) {
	if c.Version >= since {
		if !c.has(i) {
			return nil, false, nil
		}
		axes, err = c.ints(i)
		return axes, true, err
	}
	a, ok := c.Attrs["axes"]
	return a.Ints, ok, nil
}

// axis makes an axis of a tensor of the given rank non-negative.
func axis(a int64, rank int) (int, error) {
	if a < int64(-rank) || a >= int64(rank) {
		return 0, fmt.Errorf("axis %d is outside a tensor of %d axes", a, rank)
	}
	if a < 0 {
		a += int64(rank)
	}
	return int(a), nil
}

// axisSet marks the axes given; repeated ones are an error.
func axisSet(axes []int64, rank int) ([]bool, error) {
	set := make([]bool, rank)
	for _, a := range axes {
		i, err := axis(a, rank)
		if err != nil {
			return nil, err
		}
		if set[i] {
			return nil, fmt.Errorf("axis %d is given twice", i)
		}
		set[i] = true
	}
	return set, nil
}

// broadcast is the shape of two tensors under NumPy's rule; a batch axis meets
// a batch axis or a size of 1.
func broadcast(a, b []int) ([]int, error) {
	n := max(len(a), len(b))
	out := make([]int, n)
	for i := range n {
		x, y := 1, 1
		if j := i - n + len(a); j >= 0 {
			x = a[j]
		}
		if j := i - n + len(b); j >= 0 {
			y = b[j]
		}
		switch {
		case x == y || y == 1:
			out[i] = x
		case x == 1:
			out[i] = y
		case x == Batch || y == Batch:
			return nil, fmt.Errorf("the batch axis meets a fixed size of %d (shapes %v and %v); export the model with a dynamic batch axis", max(x, y), a, b)
		default:
			return nil, fmt.Errorf("shapes %v and %v do not broadcast", a, b)
		}
	}
	return out, nil
}
