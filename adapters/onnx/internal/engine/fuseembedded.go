package engine

import (
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// A row of an embedding times its part of a layer's weights is one of as few rows as the embedding
// has: all are computed at load, and one is looked up in place of the product.

const (
	// tablesRoom is how many numbers of tables a graph may have: 8 MB in float64, a part of a third
	// cache. From memory they take longer than products.
	tablesRoom = 1 << 20
	// lookedUp is how many multiply-adds take as long as to look up and add a number.
	lookedUp = 3
	// leastLookedUp is the number of columns of a product from which on whole vectors are looked up.
	leastLookedUp = 16
)

// embedded has product n look up what the embeddings among its rows contribute.
func (f *fusion) embedded(n *graph.Node) bool {
	if operator.PiecesOf(n) != nil || operator.EmbeddedOf(n) != nil {
		return false
	}
	if _, column := n.Resolved.(operator.Column); column {
		return false
	}
	parts, in, gone := f.beside(n.Inputs[0])
	if parts == nil { // most products: their weights need not be copied
		return false
	}
	p := productOf(n)
	if p == nil || p.turned() || len(p.x.Shape) != 2 || p.n < leastLookedUp {
		return false
	}
	t := &operator.Embedded{}
	var rest operator.Lookups
	var w []float64
	var inputs, codes []*graph.Value // of the rest; of tables
	from := 0
	for _, part := range parts {
		own := in[:1]
		if part.Gather != nil {
			own = in[:2]
		}
		share := p.rows(from, part.Width)
		if table := f.contribution(part, own, share, p.n); table != nil && len(t.Parts) < operator.MostEmbeddings {
			t.Parts, codes = append(t.Parts, *table), append(codes, own[1])
			f.room -= len(table.Rows)
		} else {
			rest, inputs, w = append(rest, part), append(inputs, own...), append(w, share...)
		}
		in, from = in[len(own):], from+part.Width
	}
	if len(t.Parts) == 0 {
		return false
	}
	x := codes[0] // nothing is read of it
	switch {
	case len(rest) == 1 && rest[0].Gather == nil:
		x, t.Rest = inputs[0], rest[0]
	case len(rest) > 0:
		t.Rest.Width = len(w) / p.n
		all := gone[0]
		some := made(all, "Concat", all.Attrs, inputs...)
		x = graph.NewInner(p.x.Name, p.x.Type, graph.Batch, t.Rest.Width)
		some.Resolved, some.Outputs = rest, []*graph.Value{x}
		f.enter(f.at[all], some)
	}
	with := made(n, n.Op, nil, append([]*graph.Value{x, constant(n.Inputs[1], w, t.Rest.Width, p.n), constant(n.Inputs[1], p.bias, p.n)}, codes...)...)
	with.Resolved = t
	return f.replace(with, n, gone...)
}

// beside is what v puts side by side, if embeddings are among that: their inputs, and the nodes that do
// so for one product alone.
func (f *fusion) beside(v *graph.Value) (parts operator.Lookups, in []*graph.Value, gone []*graph.Node) {
	if c := f.into(v, "Concat"); c != nil {
		parts, _ = c.Resolved.(operator.Lookups)
		return parts, c.Inputs, []*graph.Node{c}
	}
	return f.embeddings(v)
}

// contribution is what part times its share of n columns of weights is, nil if that is not worth it. in are the
// embedding and its positions.
func (f *fusion) contribution(part operator.Lookup, in []*graph.Value, share []float64, n int) *operator.Embedding {
	if part.Gather == nil || part.Width <= lookedUp {
		return nil
	}
	size := in[0].Shape[0]
	if size == 0 || size > f.room/n {
		return nil
	}
	rows := times(in[0].Const.F, share, size, part.Width, n)
	if !f.moderate(rows) {
		return nil
	}
	return &operator.Embedding{Lookup: part, Size: size, Rows: rows}
}
