package engine

import (
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// lookups joins the lookups of embeddings that a Concat puts side by side with it, and the columns
// that it takes of matrices.
func (f *fusion) lookups(n *graph.Node) bool {
	at, ok := n.Resolved.(int)
	if !ok || at != 1 || !n.Outputs[0].Type.Floating() {
		return false
	}
	var inputs []*graph.Value
	var parts operator.Lookups
	var gone []*graph.Node
	found := false
	for _, v := range n.Inputs {
		if len(v.Shape) != 2 || v.Shape[0] != graph.Batch {
			return false
		}
		g := f.into(v, "Gather")
		if g != nil && !isLookup(g) {
			g = nil
		}
		if g == nil {
			part := operator.Lookup{Width: v.Shape[1]}
			if s := f.into(v, "Slice"); s != nil {
				if from, ok := operator.FirstColumn(s); ok {
					v, part.Column, gone = s.Inputs[0], from, append(gone, s)
				}
			}
			inputs, parts = append(inputs, v), append(parts, part)
			continue
		}
		found = true
		inputs, gone = append(inputs, g.Inputs[0]), append(gone, g)
		codes, column := g.Inputs[1], 0
		if c := f.into(codes, "Gather"); c != nil && isColumn(c) {
			gone = append(gone, c)
			codes, column = c.Inputs[0], int(c.Inputs[1].Const.I[0])
			if column < 0 {
				column += codes.Shape[1]
			}
		}
		inputs, parts = append(inputs, codes), append(parts, operator.Lookup{Gather: g, Column: column, Width: v.Shape[1]})
	}
	if !found {
		return false
	}
	with := made(n, "Concat", n.Attrs, inputs...)
	with.Resolved = parts
	return f.replace(with, n, gone...)
}

// isLookup: a row of a constant table for each row.
func isLookup(g *graph.Node) bool {
	at, ok := g.Resolved.(int)
	table, index := g.Inputs[0], g.Inputs[1]
	return ok && at == 0 && table.Const != nil && len(table.Shape) == 2 && len(index.Shape) == 1 && index.Shape[0] == graph.Batch && running(index)
}

// isColumn: one column of a matrix of codes.
func isColumn(g *graph.Node) bool {
	at, ok := g.Resolved.(int)
	codes, j := g.Inputs[0], g.Inputs[1]
	return ok && at == 1 && j.Const != nil && len(j.Shape) == 0 && len(codes.Shape) == 2 && codes.Shape[0] == graph.Batch && running(codes)
}
