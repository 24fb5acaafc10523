package graph

import "fmt"

// Replacement collects the nodes that Operator.Replace puts in the place of one: of an
// operator that joins a linear part and a response, say, so that what follows sees both.
// (An expander works on the file's subgraphs, functions and sequences, before operators
// are looked up.)
type Replacement struct {
	c     *Check
	nodes []*Node
	err   error
}

// Replacement begins one of the node that is checked.
func (c *Check) Replacement() *Replacement { return &Replacement{c: c} }

// Nodes are those added, in order.
func (r *Replacement) Nodes() ([]*Node, error) { return r.nodes, r.err }

// fresh is a value without a producer yet, named after the node's first output and what
// it is.
func (r *Replacement) fresh(what string) *Value {
	name := what
	for _, v := range r.c.Outputs {
		if v != nil {
			name = v.Name + "/" + what
			break
		}
	}
	return &Value{Name: r.c.unique(name), inner: true}
}

// Floats is a constant of type float, Integers one of type int64, Texts one of text: as
// many elements as the shape has.
func (r *Replacement) Floats(what string, shape []int, f []float64) *Value {
	return r.constant(what, &Tensor{Type: Float32, Shape: shape, F: f}, len(f))
}

// Integers is described at Floats.
func (r *Replacement) Integers(what string, shape []int, i []int64) *Value {
	return r.constant(what, &Tensor{Type: Int64, Shape: shape, I: i}, len(i))
}

// Strings is described at Floats.
func (r *Replacement) Strings(what string, shape []int, texts []string) *Value {
	t := &Tensor{Type: String, Shape: shape}
	if err := r.c.Node.Texts.numberAll(t, texts); err != nil && r.err == nil {
		r.err = err
	}
	return r.constant(what, t, len(t.I))
}

func (r *Replacement) constant(what string, t *Tensor, have int) *Value {
	v := r.fresh(what)
	v.Type, v.Shape, v.Const = t.Type, t.Shape, t
	n, ok := Elements(t.Shape)
	if r.err == nil && (!ok || n != have) {
		r.err = fmt.Errorf("%s has %d values, needs %v", what, have, t.Shape)
	}
	if err := r.c.budget.take(have, what, t.Shape); r.err == nil {
		r.err = err
	}
	return v
}

// Then adds a node of an operator of ai.onnx in its newest version, or of another domain,
// "domain.Name", and returns its output.
func (r *Replacement) Then(domain, op, what string, attrs map[string]Attr, inputs ...*Value) *Value {
	out := r.fresh(what)
	r.add(domain, op, attrs, out, inputs)
	return out
}

// Into is Then for a node that computes output i of the node replaced, if that is there.
func (r *Replacement) Into(i int, domain, op string, attrs map[string]Attr, inputs ...*Value) {
	if i < len(r.c.Outputs) && r.c.Outputs[i] != nil {
		r.add(domain, op, attrs, r.c.Outputs[i], inputs)
	}
}

func (r *Replacement) add(domain, op string, attrs map[string]Attr, out *Value, inputs []*Value) {
	if attrs == nil {
		attrs = map[string]Attr{}
	}
	n := &Node{Index: r.c.Index, Name: r.c.Name, Op: op, Domain: domain, Version: maxOpset, Inputs: inputs, Outputs: []*Value{out}, Attrs: attrs, Texts: r.c.Node.Texts}
	if domain == r.c.Domain {
		n.Version = r.c.Version
	}
	out.Producer = n
	r.nodes = append(r.nodes, n)
}
