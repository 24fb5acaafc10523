package engine

import (
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
	"github.com/pho-go/pho/adapters/onnx/internal/piecewise"
)

// A network of one number whose activations rectify, the part of an additive model, is a piecewise
// linear function: one piece is found and computed in place of all layers.

const (
	// piecesBudget bounds the multiply-adds that finding the pieces takes, at load.
	piecesBudget = 1 << 31
	// findingPiece and pieceOutput are how many multiply-adds of layers take as long as to find a
	// piece and to compute an output of it.
	findingPiece, pieceOutput = 500, 80
)

// pieces joins n, which takes one column, with all that follows it until more is read.
func (f *fusion) pieces(n *graph.Node) bool {
	first := layersOf(n)
	if first == nil || first[0].In != 1 {
		return false
	}
	p := &operator.Pieces{Functions: make([]*piecewise.Function, len(first))}
	p.Column, _ = n.Resolved.(operator.Column)
	nodes, layers := []*graph.Node{n}, [][]piecewise.Layer{first} // by layer and function
	joined, kept, most, dense := 0, 0, 0, first[0].Out
	for {
		v, last := nodes[len(nodes)-1].Outputs[0], layers[len(layers)-1]
		if gain := dense - findingPiece - pieceOutput*last[0].Out; gain > 0 && gain >= most {
			joined, kept, most = len(nodes), len(layers), gain
		}
		next := f.reader(v)
		if next == nil || len(next.Outputs) != 1 || next.Inputs[0] != v {
			break
		}
		if below, ok := rectifier(next); ok && last[0].Below == 1 {
			for i := range last {
				last[i].Below = below
			}
		} else if l := layersOf(next); len(l) == len(last) && l[0].In == last[0].Out {
			layers = append(layers, l)
			dense += l[0].In * l[0].Out
		} else {
			break
		}
		nodes = append(nodes, next)
	}
	if joined < 2 {
		return false
	}
	for i := range p.Functions {
		var own []piecewise.Layer
		for _, l := range layers[:kept] {
			own = append(own, l[i])
		}
		if p.Functions[i] = piecewise.New(own, &f.budget); p.Functions[i] == nil {
			return false
		}
	}
	last := nodes[joined-1]
	with := made(n, n.Op, n.Attrs, n.Inputs...)
	with.Resolved, with.Outputs = p, last.Outputs
	return f.replace(with, last, nodes[:joined-1]...)
}

// rectifier is what n multiplies numbers below 0 by, if that is all that it does.
func rectifier(n *graph.Node) (below float64, ok bool) {
	switch n.Key() {
	case "Relu":
		return 0, true
	case "LeakyRelu":
		return n.AttrFloat("alpha", 0.01), true
	}
	return 0, false
}

// layersOf reads a product of constant weights, or one in each group of a convolution; nil if n is
// something else.
func layersOf(n *graph.Node) []piecewise.Layer {
	out := n.Outputs[0]
	if operator.PiecesOf(n) != nil || len(n.Inputs) == 0 || n.Inputs[0] == nil || out == nil || out.Type != graph.Float32 && out.Type != graph.Float64 {
		return nil
	}
	in := n.Inputs[0].Shape
	if len(in) < 2 || in[0] != graph.Batch {
		return nil
	}
	if groups := operator.Pointwise(n); groups > 0 {
		return groupsOf(n, groups)
	}
	if p := productOf(n); p != nil && len(in) == 2 && !p.turned() && p.k*p.n > 0 {
		return []piecewise.Layer{{In: p.k, Out: p.n, W: p.rows(0, p.k), B: p.bias, Below: 1}}
	}
	return nil
}

// groupsOf are the groups of a pointwise convolution.
func groupsOf(n *graph.Node, groups int) []piecewise.Layer {
	w, bias := n.Inputs[1], make([]float64, n.Inputs[1].Shape[0])
	if len(n.Inputs) > 2 && n.Inputs[2] != nil {
		if n.Inputs[2].Const == nil {
			return nil
		}
		bias = n.Inputs[2].Const.F
	}
	k, cols := w.Shape[1], w.Shape[0]/groups
	layers := make([]piecewise.Layer, groups)
	for g := range layers {
		l := piecewise.Layer{In: k, Out: cols, B: bias[g*cols:][:cols], Below: 1, W: make([]float64, k*cols)}
		for j := range cols {
			for i := range k {
				l.W[i*cols+j] = w.Const.F[(g*cols+j)*k+i]
			}
		}
		layers[g] = l
	}
	return layers
}

// Pieces are the function that r computes v by, if it is a piecewise linear one of one number, with that number: element
// column of a row of z. Values of v are f's outputs from first on.
func (r *Runner) Pieces(v *graph.Value) (fs []*piecewise.Function, z *graph.Value, column int) {
	for _, n := range r.plan.nodes {
		if p := operator.PiecesOf(n); p != nil && len(n.Outputs) == 1 && n.Outputs[0] == v {
			return p.Functions, n.Inputs[0], int(p.Column)
		}
	}
	return nil, nil, 0
}
