package engine

import (
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// product is rows times constant weights, plus a number for each column.
type product struct {
	node  *graph.Node
	x     *graph.Value
	k, n  int
	w     []float64 // of the operator's own layout
	trans bool      // n x k, not k x n
	bias  []float64
}

// productOf reads a Gemm or MatMul with constant weights whose addend, if any, is the same
// in every row.
func productOf(n *graph.Node) *product {
	if n == nil || len(n.Inputs) < 2 || n.Inputs[0] == nil || n.Inputs[1] == nil || n.Inputs[1].Const == nil || len(n.Inputs[1].Shape) != 2 || !n.Outputs[0].Type.Floating() {
		return nil
	}
	alpha, beta := 1.0, 1.0
	p := &product{node: n, x: n.Inputs[0], k: n.Inputs[1].Shape[0], n: n.Inputs[1].Shape[1]}
	switch n.Key() {
	case "MatMul":
		if len(n.Inputs[0].Shape) < 2 {
			return nil
		}
	case "Gemm":
		alpha, beta = n.AttrFloat("alpha", 1), n.AttrFloat("beta", 1)
		if p.trans = n.AttrInt("transB", 0) != 0; p.trans {
			p.k, p.n = p.n, p.k
		}
	default:
		return nil
	}
	p.w, p.bias = scaled(n.Inputs[1].Const.F, alpha), make([]float64, p.n)
	if len(n.Inputs) > 2 && n.Inputs[2] != nil {
		c := columns(n.Inputs[2], p.n)
		if c == nil {
			return nil
		}
		p.bias = scaled(c, beta)
	}
	return p
}

// weight is the place of weight l, j in w.
func (p *product) weight(l, j int) int {
	if p.trans {
		return j*p.k + l
	}
	return l*p.n + j
}

// into is the node that computes out, of the place where last was.
func (p *product) into(last *graph.Node) *graph.Node {
	from, attrs := p.node, map[string]graph.Attr{}
	if a, ok := from.Attrs["transA"]; ok {
		attrs["transA"] = a
	}
	shape := []int{p.k, p.n}
	if p.trans {
		shape, attrs["transB"] = []int{p.n, p.k}, graph.Attr{Int: 1}
	}
	n := made(from, from.Op, attrs, p.x, constant(from.Inputs[1], p.w, shape...), constant(from.Inputs[1], p.bias, p.n))
	n.Resolved, n.Outputs = from.Resolved, last.Outputs
	return n
}

// columns are the numbers that a constant has for each of n columns, which are the last
// axis; nil if it is none or not the same in every row.
func columns(v *graph.Value, n int) []float64 {
	if v == nil || v.Const == nil || v.Const.F == nil {
		return nil
	}
	size := graph.Product(v.Shape)
	if size != 1 && (size != n || v.Shape[len(v.Shape)-1] != n) {
		return nil
	}
	out := make([]float64, n)
	for j := range out {
		out[j] = v.Const.F[min(j, size-1)]
	}
	return out
}

func scaled(v []float64, a float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = a * x
	}
	return out
}

// bias joins a product and the addition of a constant behind it, which is what nn.Linear
// exports for tensors of three axes.
func (f *fusion) bias(n *graph.Node) bool {
	for i, v := range n.Inputs {
		p := productOf(f.into(v, "MatMul"))
		if p == nil || len(p.node.Inputs) > 2 {
			continue
		}
		other := n.Inputs[1-i]
		if c := columns(other, p.n); c != nil && len(other.Shape) <= len(v.Shape) {
			p.bias = c
			return f.replace(p.into(n), n, p.node)
		}
	}
	return false
}

// norm is what a batch norm makes of channel c: factor[c] x + shift[c].
type norm struct{ factor, shift []float64 }

// normOf reads a batch norm of constants, nil if they are none.
func normOf(n *graph.Node) *norm {
	var of [5][]float64
	for i := 1; i < 5; i++ {
		if v := n.Inputs[i]; v.Const == nil || v.Const.F == nil {
			return nil
		}
		of[i] = n.Inputs[i].Const.F
	}
	scale, bias, mean, variance, eps := of[1], of[2], of[3], of[4], n.AttrFloat("epsilon", 1e-5)
	m := &norm{make([]float64, len(scale)), make([]float64, len(scale))}
	for c := range scale {
		m.factor[c] = scale[c] / math.Sqrt(variance[c]+eps)
		m.shift[c] = bias[c] - m.factor[c]*mean[c]
	}
	return m
}

// normBehind folds a batch norm into the product or convolution before it.
func (f *fusion) normBehind(n *graph.Node) bool {
	m, x := normOf(n), n.Inputs[0]
	if m == nil {
		return false
	}
	if p := productOf(f.into(x, "Gemm")); p != nil && len(x.Shape) == 2 {
		return f.replace(p.normed(m).into(n), n, p.node)
	}
	if p := productOf(f.into(x, "MatMul")); p != nil && len(x.Shape) == 2 {
		return f.replace(p.normed(m).into(n), n, p.node)
	}
	if c := f.into(x, "Conv"); c != nil && c.Inputs[1].Const != nil && (len(c.Inputs) < 3 || c.Inputs[2] == nil || c.Inputs[2].Const != nil) {
		return f.replace(convNormed(c, n, m), n, c)
	}
	return false
}

// normed is p with its columns scaled and shifted.
func (p *product) normed(m *norm) *product {
	for j := range p.n {
		for l := range p.k {
			p.w[p.weight(l, j)] *= m.factor[j]
		}
		p.bias[j] = p.bias[j]*m.factor[j] + m.shift[j]
	}
	return p
}

// convNormed is convolution c with the channels of its output scaled and shifted.
func convNormed(c, last *graph.Node, m *norm) *graph.Node {
	v := c.Inputs[1]
	w, bias := scaled(v.Const.F, 1), make([]float64, len(m.shift))
	each := len(w) / len(bias)
	for j := range bias {
		for i := range each {
			w[j*each+i] *= m.factor[j]
		}
		if bias[j] = m.shift[j]; len(c.Inputs) > 2 && c.Inputs[2] != nil {
			bias[j] += c.Inputs[2].Const.F[j] * m.factor[j]
		}
	}
	n := made(c, "Conv", c.Attrs, c.Inputs[0], constant(v, w, v.Shape...), constant(v, bias, len(bias)))
	n.Resolved, n.Outputs = c.Resolved, last.Outputs
	return n
}

// normBefore folds a batch norm of columns into the product that alone reads them.
func (f *fusion) normBefore(n *graph.Node) bool {
	m, y := normOf(n), n.Outputs[0]
	if m == nil || len(y.Shape) != 2 {
		return false
	}
	p := productOf(f.reader(y))
	if p == nil || p.x != y || p.turned() {
		return false
	}
	for j := range p.n {
		for l := range p.k {
			w := &p.w[p.weight(l, j)]
			p.bias[j] += m.shift[l] * *w
			*w *= m.factor[l]
		}
	}
	p.x = n.Inputs[0]
	return f.replace(p.into(p.node), p.node, n)
}

// column joins a product with the Slice of one column before it, where networks of one column each
// begin.
func (f *fusion) column(n *graph.Node) bool {
	p, s := productOf(n), f.into(n.Inputs[0], "Slice")
	if p == nil || p.k != 1 || s == nil || p.turned() {
		return false
	}
	c, ok := operator.ColumnOf(s)
	if !ok {
		return false
	}
	p.x = s.Inputs[0]
	with := p.into(n)
	with.Resolved = c
	return f.replace(with, n, s)
}
