package graph

import (
	"fmt"
	"slices"
)

// Rewrite is a graph in the making that computes the same as another in other nodes.
type Rewrite struct {
	g      *Graph
	ops    Operators
	copies map[*Value]*Value
}

// NewRewrite begins one of g, without its nodes. g is not changed.
func NewRewrite(g *Graph, ops Operators) *Rewrite {
	r := &Rewrite{&Graph{Values: map[string]*Value{}, Texts: g.Texts, Refused: g.Refused, Notes: g.Notes, ClassLabels: g.ClassLabels, Origin: g.Origin, Parts: g.Parts, metadata: g.metadata}, ops, map[*Value]*Value{}}
	r.g.Inputs = r.Values(g.Inputs)
	return r
}

// Extend adds nodes to the end of g, which is changed.
func Extend(g *Graph, ops Operators) *Rewrite { return &Rewrite{g: g, ops: ops} }

// Value is the copy of a value of the graph that is rewritten; a constant is its own.
func (r *Rewrite) Value(v *Value) *Value {
	if v == nil || v.Const != nil {
		return v
	}
	if r.copies[v] == nil {
		c := *v
		c.Producer = nil
		r.copies[v] = &c
	}
	return r.copies[v]
}

// Values are the copies of several.
func (r *Rewrite) Values(list []*Value) []*Value {
	out := make([]*Value, len(list))
	for i, v := range list {
		out[i] = r.Value(v)
	}
	return out
}

// Keep adds a node as it is, with the outputs that are not nil.
func (r *Rewrite) Keep(n *Node, outputs []*Value) {
	c := *n
	c.Inputs, c.Outputs = r.Values(n.Inputs), r.Values(outputs)
	r.Append(&c)
}

// Append adds a node that is checked.
func (r *Rewrite) Append(n *Node) {
	n.Index, n.Texts = len(r.g.Nodes), r.g.Texts
	r.g.Nodes = append(r.g.Nodes, n)
	for _, v := range n.Outputs {
		if v != nil {
			v.Producer = n
		}
	}
	for _, v := range slices.Concat(n.Inputs, n.Outputs) {
		if v != nil {
			r.g.Values[v.Name] = v
		}
	}
}

// Add checks a node and adds it.
func (r *Rewrite) Add(n *Node) error {
	op := r.ops.Find(n.Key())
	if op == nil {
		return fmt.Errorf("onnx: %s is of no known operator", n)
	}
	l := Limits{}
	l.setDefaults()
	b := &builder{budget: newBudget(l)}
	c := &Check{checker: &checker{b: b, ops: r.ops, budget: b.budget, sizes: map[*Value]Sizes{}}, Node: n}
	if err := op.Check(c); err != nil {
		return fmt.Errorf("onnx: %s: %w", n, err)
	}
	r.Append(n)
	return nil
}

// Graph ends the rewriting; outputs are those of the graph that is rewritten.
func (r *Rewrite) Graph(outputs []*Value) *Graph {
	r.g.Outputs = r.Values(outputs)
	for _, v := range slices.Concat(r.g.Inputs, r.g.Outputs) {
		r.g.Values[v.Name] = v
	}
	return r.g
}
