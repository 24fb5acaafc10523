package engine

import (
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Linear maps with nothing nonlinear in between are composed where that takes fewer
// multiplications: of two layers in a row (xV + c)W = x(VW) + cW, and of the last residual block
// and the output behind it (rV + c + x)W = r(VW) + xW + cW, where V is square and W narrow.
// Weights are composed in float64 and rounded once, so both ways err by some eps
// (|r||V| + |c| + |x|)|W|. A sum on the way that overflows in the file does not here; weights are
// moderate, so that it is one of numbers as large as their bound, too.

// way is how a value times some columns of weights is computed.
type way struct {
	cost  int // multiplications, with those of nodes that compute this value alone
	parts []part
	gone  []*graph.Node // nodes that it does without
}

// part of a sum meets k rows of the weights, from the given one on: a value as it is, a product,
// or a row of constants.
type part struct {
	from, k int
	value   *graph.Value
	product *product
	row     []float64
}

// mostToCompose bounds the multiplications that composing takes, at load: those of two square
// matrices of 1024 rows.
const mostToCompose = 1 << 30

// computed is how many columns kernels compute for n: whole vectors, or one.
func computed(n int) int {
	if n == 1 {
		return 1
	}
	return (n + 15) / 16 * 16
}

// width is the size of v's last axis.
func width(v *graph.Value) int { return v.Shape[len(v.Shape)-1] }

// compose folds two linear layers into one: n, and the other products that read the same value, multiply the inputs of
// the linear layer that computes the value.
func (f *fusion) compose(n *graph.Node) bool {
	layers := f.layers(n)
	if layers == nil {
		return false
	}
	cols := 0
	for _, p := range layers {
		cols += computed(p.n)
	}
	v := layers[0].x
	alone, around := f.around(v, 0, cols)
	if around == nil || around.cost >= alone+width(v)*cols {
		return false
	}
	sums := make([][]*product, len(layers))
	for i, p := range layers {
		if sums[i] = f.sum(p, around.parts); sums[i] == nil {
			return false
		}
	}
	for i, p := range layers {
		f.put(sums[i], p.node)
	}
	for _, n := range around.gone {
		f.leave(n)
	}
	return true
}

// layers are the products of a sum that n reads first, if nobody else wants that.
func (f *fusion) layers(n *graph.Node) (all []*product) {
	v := n.Inputs[0]
	if f.wanted[v] || f.readers[v][0] != n || !f.linear(v) {
		return nil
	}
	for _, r := range f.readers[v] {
		p := productOf(r)
		if p == nil || p.x != v || p.k != width(v) {
			return nil
		}
		all = append(all, p)
	}
	return all
}

// linear reports whether there may be a way around v.
func (f *fusion) linear(v *graph.Value) bool {
	n := f.from[v]
	return n != nil && f.table.Is(n, graph.Adding)
}

// best is the cheapest way for v and so many columns of weights, of which it meets the rows from
// the given one on; alone are the multiplications of nodes that compute v alone.
func (f *fusion) best(v *graph.Value, from, cols int) (alone int, w way) {
	k := width(v)
	w = way{cost: k * cols, parts: []part{{from: from, k: k, value: v}}}
	if !f.linear(v) || f.reader(v) == nil {
		return 0, w
	}
	alone, around := f.around(v, from, cols)
	if w.cost += alone; around != nil && around.cost < w.cost {
		w = *around
	}
	return alone, w
}

// around is the way that does without v itself, nil if there is none.
func (f *fusion) around(v *graph.Value, from, cols int) (alone int, w *way) {
	n := f.from[v]
	if f.multiplies(n) {
		p := productOf(n)
		if p == nil || p.turned() || p.k == 0 || p.n == 0 || p.k*p.n > mostToCompose/max(1, cols) || !f.moderate(p.w) {
			return 0, nil
		}
		return p.k * computed(p.n), &way{p.k * cols, []part{{from: from, k: p.n, product: p}}, []*graph.Node{n}}
	}
	if !v.Type.Floating() {
		return 0, nil
	}
	at, aside := n.Resolved.(int)
	if aside = aside && n.Key() == "Concat"; aside != (n.Key() == "Concat") || aside && at != len(v.Shape)-1 {
		return 0, nil
	}
	w = &way{gone: []*graph.Node{n}}
	for _, u := range n.Inputs {
		k := width(v)
		if aside {
			k = width(u)
		}
		row := columns(u, k)
		switch {
		case row != nil:
			w.parts = append(w.parts, part{from: from, k: k, row: row})
		case !aside && !slices.Equal(u.Shape, v.Shape):
			return 0, nil
		default:
			a, b := f.best(u, from, cols)
			alone, w.cost = alone+a, w.cost+b.cost
			w.parts, w.gone = append(w.parts, b.parts...), append(w.gone, b.gone...)
		}
		if aside {
			from += k
		}
	}
	return alone, w
}

// sum is p of what the parts are: products, of which the first adds all constants; nil if weights
// are not moderate.
func (f *fusion) sum(p *product, parts []part) (all []*product) {
	bias := slices.Clone(p.bias)
	for _, a := range parts {
		w, q, row := p.rows(a.from, a.k), *p, a.row
		switch {
		case a.value != nil:
			q.x, q.k, q.w = a.value, a.k, w
		case a.product != nil:
			q, row = *a.product, a.product.bias
			q.w = times(a.product.rows(0, q.k), w, q.k, a.k, p.n)
		}
		if row != nil {
			for j, b := range times(row, w, 1, a.k, p.n) {
				bias[j] += b
			}
		}
		if a.row == nil {
			q.n, q.trans, q.bias = p.n, false, make([]float64, p.n)
			all = append(all, &q)
		}
	}
	if len(all) > 0 {
		all[0].bias = bias
	}
	for _, q := range all {
		if !f.moderate(q.w) || !f.moderate(q.bias) {
			return nil
		}
	}
	return all
}

// moderate: no number is beyond the root of the largest in the type that is computed in.
func (f *fusion) moderate(v []float64) bool {
	most := 0x1p64
	if f.double {
		most = 0x1p512
	}
	return !slices.ContainsFunc(v, func(x float64) bool { return !(math.Abs(x) <= most) })
}

// put has products, each where the node is that it is made of, and their sum take the place of
// last.
func (f *fusion) put(sum []*product, last *graph.Node) {
	f.leave(last)
	var terms []*graph.Value
	for _, p := range sum {
		n := p.into(last)
		if out := last.Outputs[0]; len(sum) > 1 {
			n.Outputs = []*graph.Value{graph.NewInner(out.Name, out.Type, out.Shape...)}
		}
		f.enter(f.at[p.node], n)
		terms = append(terms, n.Outputs...)
	}
	if len(sum) > 1 {
		f.enter(f.at[last], made(last, "Sum", nil, terms...))
	}
}

// turned reports whether it is the columns of x that p multiplies.
func (p *product) turned() bool { return p.node.AttrInt("transA", 0) != 0 }

// rows are k rows of p's weights, one after the other.
func (p *product) rows(from, k int) []float64 {
	w := make([]float64, 0, k*p.n)
	for l := range k {
		for j := range p.n {
			w = append(w, p.w[p.weight(from+l, j)])
		}
	}
	return w
}

// times is a, m x k, times b, k x n.
func times(a, b []float64, m, k, n int) []float64 {
	c := make([]float64, m*n)
	kernel.Gemm(c, a, b, m, n, k)
	return c
}
