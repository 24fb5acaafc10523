package engine

import (
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// lookups joins the lookups of embeddings that a Concat puts side by side with it.
func (f *fusion) lookups(n *graph.Node) bool {
	at, ok := n.Resolved.(int)
	if !ok || at != 1 || !n.Outputs[0].Type.Floating() {
		return false
	}
	var inputs []*graph.Value
	var parts operator.Lookups
	var gathers []*graph.Node
	for _, v := range n.Inputs {
		if len(v.Shape) != 2 || v.Shape[0] != graph.Batch {
			return false
		}
		g := f.into(v, "Gather")
		if g != nil && !isLookup(g) {
			g = nil
		}
		if parts = append(parts, g); g == nil {
			inputs = append(inputs, v)
			continue
		}
		inputs, gathers = append(inputs, g.Inputs...), append(gathers, g)
	}
	if len(gathers) == 0 {
		return false
	}
	with := made(n, "Concat", n.Attrs, inputs...)
	with.Resolved = parts
	return f.replace(with, n, gathers...)
}

// isLookup: a row of a constant table for each row.
func isLookup(g *graph.Node) bool {
	at, ok := g.Resolved.(int)
	table, index := g.Inputs[0], g.Inputs[1]
	return ok && at == 0 && table.Const != nil && len(table.Shape) == 2 && len(index.Shape) == 1 && index.Shape[0] == graph.Batch && running(index)
}
