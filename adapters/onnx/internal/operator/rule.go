package operator

import "github.com/pho-go/pho/adapters/onnx/internal/graph"

// Link receives one dependency of an output element: element ie of input in
// enters, in a linear rule with weight w, otherwise with w = 1. With in = Itself
// the node adds the constant w.
type Link func(in, ie int, w float64)

// Itself is the input number of a node's own constants.
const Itself = -1

// Rule says how the elements of a node's outputs depend on those of its inputs,
// on the shapes of one row. A linear rule is exact:
//
//	output[e] = sum over links of w * input[in][ie]
//
// constants included, as links to constant inputs. A nil Each means that every
// output element depends on every input element, non-linearly: sound for any
// operator.
type Rule struct {
	Linear bool
	Cost   int // links of one output element, at most
	Each   func(out, e int, yield Link)
}

// opaque is the rule of which nothing is known but that rows stay apart.
func opaque(*graph.Node) Rule { return Rule{} }

// sameOrderRule: a copy of the first input in the same row-major order, whatever
// the shape (a reshape that keeps rows apart does not reorder a row).
func sameOrderRule(n *graph.Node) Rule {
	if n.Inputs[0] == nil || n.Inputs[0].Width() != n.Outputs[0].Width() {
		return opaque(n)
	}
	return Rule{Linear: true, Cost: 1, Each: func(_, e int, yield Link) { yield(0, e, 1) }}
}

// indices broadcasts every input to the first output.
func indices(n *graph.Node) ([]func(int) int, bool) {
	out := n.Outputs[0].RowShape()
	at := make([]func(int) int, len(n.Inputs))
	for i, v := range n.Inputs {
		if v == nil {
			continue
		}
		var ok bool
		if at[i], ok = broadcastIndex(v.RowShape(), out); !ok {
			return nil, false
		}
	}
	return at, true
}

// elementwiseRule: non-linear, element by element with broadcasting.
func elementwiseRule(n *graph.Node) Rule {
	at, ok := indices(n)
	if !ok || len(n.Outputs) != 1 {
		return opaque(n)
	}
	return Rule{Cost: len(at), Each: func(_, e int, yield Link) {
		for i, f := range at {
			if f != nil {
				yield(i, f(e), 1)
			}
		}
	}}
}

// weightedRule is the sum of the broadcast inputs with the given weights, the last
// of which counts for all further inputs.
func weightedRule(n *graph.Node, w ...float64) Rule {
	r := elementwiseRule(n)
	if r.Each == nil || !n.Outputs[0].Type.Floating() {
		return r
	}
	at, _ := indices(n)
	return Rule{Linear: true, Cost: len(at), Each: func(_, e int, yield Link) {
		for i, f := range at {
			if f != nil {
				yield(i, f(e), w[min(i, len(w)-1)])
			}
		}
	}}
}

// intsInput reads integers that older opsets hold in an attribute and newer
// ones in a constant input. found is false when both are absent; known is false
// when the input is not a constant.
func intsInput(n *graph.Node, attr string, input int) (v []int, found, known bool) {
	if a, ok := n.Attrs[attr]; ok {
		for _, x := range a.Ints {
			v = append(v, int(x))
		}
		return v, true, true
	}
	if input >= len(n.Inputs) || n.Inputs[input] == nil {
		return nil, false, true
	}
	c := n.Inputs[input].Const
	if c == nil {
		return nil, true, false
	}
	for _, x := range c.I {
		v = append(v, int(x))
	}
	return v, true, true
}

// lineRule: each line of size elements of input 0, inner apart, leads to a line of kept
// elements of the output, of which each depends on all of them.
func lineRule(size, kept, inner int) Rule {
	return Rule{Cost: size, Each: func(_, e int, yield Link) {
		first := e/(kept*inner)*(size*inner) + e%inner
		for k := range size {
			yield(0, first+k*inner, 1)
		}
	}}
}
