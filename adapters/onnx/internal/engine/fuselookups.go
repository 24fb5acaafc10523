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
		if of, in, nodes := f.embeddings(v); of != nil {
			found = true
			parts, inputs, gone = append(parts, of...), append(inputs, in...), append(gone, nodes...)
			continue
		}
		part := operator.Lookup{Width: v.Shape[1]}
		if s := f.into(v, "Slice"); s != nil {
			if from, ok := operator.FirstColumn(s); ok {
				v, part.Column, gone = s.Inputs[0], from, append(gone, s)
			}
		}
		inputs, parts = append(inputs, v), append(parts, part)
	}
	if !found {
		return false
	}
	with := made(n, "Concat", n.Attrs, inputs...)
	with.Resolved = parts
	return f.replace(with, n, gone...)
}

// embeddings are the lookups whose rows v has side by side, with their inputs, and the nodes that they
// stand for; none if v is something else.
func (f *fusion) embeddings(v *graph.Value) (parts operator.Lookups, in []*graph.Value, gone []*graph.Node) {
	if g := f.into(v, "Gather"); g != nil && isLookup(g, 1) {
		part, codes, gone := operator.Lookup{Gather: g, Width: width(v)}, g.Inputs[1], []*graph.Node{g}
		if c := f.into(codes, "Gather"); c != nil && isColumn(c) {
			codes, part.Column, gone = c.Inputs[0], int(c.Inputs[1].Const.I[0]), append(gone, c)
			if part.Column < 0 {
				part.Column += codes.Shape[1]
			}
		}
		return operator.Lookups{part}, []*graph.Value{g.Inputs[0], codes}, gone
	}
	for _, op := range []string{"Reshape", "Flatten", "Squeeze"} { // rows of each column of codes, one behind the other
		n := f.into(v, op)
		if n == nil {
			continue
		}
		g := f.into(n.Inputs[0], "Gather")
		if g == nil || !isLookup(g, 2) || width(v) != n.Inputs[0].Width() {
			continue
		}
		table, codes := g.Inputs[0], g.Inputs[1]
		for j := range codes.Shape[1] {
			parts, in = append(parts, operator.Lookup{Gather: g, Column: j, Width: table.Shape[1]}), append(in, table, codes)
		}
		return parts, in, []*graph.Node{n, g}
	}
	return nil, nil, nil
}

// isLookup: rows of a constant table for each row, by codes of so many axes.
func isLookup(g *graph.Node, axes int) bool {
	at, ok := g.Resolved.(int)
	table, codes := g.Inputs[0], g.Inputs[1]
	return ok && at == 0 && table.Const != nil && len(table.Shape) == 2 && len(codes.Shape) == axes && codes.Shape[0] == graph.Batch && running(codes)
}

// isColumn: one column of a matrix of codes.
func isColumn(g *graph.Node) bool {
	at, ok := g.Resolved.(int)
	codes, j := g.Inputs[0], g.Inputs[1]
	return ok && at == 1 && j.Const != nil && len(j.Shape) == 0 && len(codes.Shape) == 2 && codes.Shape[0] == graph.Batch && running(codes)
}
