package graph

import "fmt"

// Expansion collects the nodes that stand for one: an operator that joins a linear part
// and a response is told apart, so that what follows sees either.
type Expansion struct {
	c     *Check
	nodes []*Node
	err   error
}

// Expand begins the expansion of the node that is checked.
func (c *Check) Expand() *Expansion { return &Expansion{c: c} }

// Nodes are those added, in order.
func (e *Expansion) Nodes() ([]*Node, error) { return e.nodes, e.err }

// fresh is a value without a producer yet, named after the node's first output and what
// it is.
func (e *Expansion) fresh(what string) *Value {
	name := what
	for _, v := range e.c.Outputs {
		if v != nil {
			name = v.Name + "/" + what
			break
		}
	}
	return &Value{Name: e.c.unique(name), inner: true}
}

// Floats is a constant of type float, Integers one of type int64, Texts one of text: as
// many elements as the shape has.
func (e *Expansion) Floats(what string, shape []int, f []float64) *Value {
	return e.constant(what, &Tensor{Type: Float32, Shape: shape, F: f}, len(f))
}

// Integers is described at Floats.
func (e *Expansion) Integers(what string, shape []int, i []int64) *Value {
	return e.constant(what, &Tensor{Type: Int64, Shape: shape, I: i}, len(i))
}

// Strings is described at Floats.
func (e *Expansion) Strings(what string, shape []int, texts []string) *Value {
	t := &Tensor{Type: String, Shape: shape}
	if err := e.c.Node.Texts.numberAll(t, texts); err != nil && e.err == nil {
		e.err = err
	}
	return e.constant(what, t, len(t.I))
}

func (e *Expansion) constant(what string, t *Tensor, have int) *Value {
	v := e.fresh(what)
	v.Type, v.Shape, v.Const = t.Type, t.Shape, t
	n, ok := Elements(t.Shape)
	if e.err == nil && (!ok || n != have) {
		e.err = fmt.Errorf("%s has %d values, needs %v", what, have, t.Shape)
	}
	if err := e.c.budget.take(have, what, t.Shape); e.err == nil {
		e.err = err
	}
	return v
}

// Then adds a node of an operator of ai.onnx in its newest version, or of another domain,
// "domain.Name", and returns its output.
func (e *Expansion) Then(domain, op, what string, attrs map[string]Attr, inputs ...*Value) *Value {
	out := e.fresh(what)
	e.add(domain, op, attrs, out, inputs)
	return out
}

// Into is Then for a node that computes output i of the node expanded, if that is there.
func (e *Expansion) Into(i int, domain, op string, attrs map[string]Attr, inputs ...*Value) {
	if i < len(e.c.Outputs) && e.c.Outputs[i] != nil {
		e.add(domain, op, attrs, e.c.Outputs[i], inputs)
	}
}

func (e *Expansion) add(domain, op string, attrs map[string]Attr, out *Value, inputs []*Value) {
	if attrs == nil {
		attrs = map[string]Attr{}
	}
	n := &Node{Index: e.c.Index, Name: e.c.Name, Op: op, Domain: domain, Version: maxOpset, Inputs: inputs, Outputs: []*Value{out}, Attrs: attrs, Texts: e.c.Node.Texts}
	if domain == e.c.Domain {
		n.Version = e.c.Version
	}
	out.Producer = n
	e.nodes = append(e.nodes, n)
}
