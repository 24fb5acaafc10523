package engine

import (
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// other is what n, of the operator op, combines with v.
func other(n *graph.Node, v *graph.Value) *graph.Value {
	if n.Inputs[0] == v {
		return n.Inputs[1]
	}
	return n.Inputs[0]
}

// scalar is the number that a constant is, NaN if it is none.
func scalar(v *graph.Value) float64 {
	if v == nil || v.Const == nil || len(v.Const.F) != 1 {
		return math.NaN()
	}
	return v.Const.F[0]
}

// about tells whether a constant is x, up to what a number is rounded by here: the root of 2
// that a file has in float32 is another number in float64.
func (f *fusion) about(v *graph.Value, x float64) bool {
	eps := 0x1p-23
	if f.double {
		eps = 0x1p-52
	}
	return math.Abs(scalar(v)-x) <= eps*math.Abs(x)
}

// times is what n multiplies by the number a, nil if it does not.
// The number must be a in the precision of the run: a network run in float64 is computed with the
// constants of its own file, also where these are float32.
func (f *fusion) times(n *graph.Node, a float64) *graph.Value {
	switch {
	case n == nil:
	case n.Key() == "Mul" && f.about(n.Inputs[1], a), n.Key() == "Div" && f.about(n.Inputs[1], 1/a):
		return n.Inputs[0]
	case n.Key() == "Mul" && f.about(n.Inputs[0], a):
		return n.Inputs[1]
	}
	return nil
}

// silu joins x sigmoid(x).
func (f *fusion) silu(n *graph.Node) bool {
	for i, v := range n.Inputs {
		if s := f.into(v, "Sigmoid"); s != nil && s.Inputs[0] == n.Inputs[1-i] {
			return f.replace(made(n, "Swish", nil, s.Inputs[0]), n, s)
		}
	}
	return false
}

// gelu joins 0.5 x (1 + erf(x/sqrt 2)), which n multiplies last, in any order.
func (f *fusion) gelu(n *graph.Node) bool {
	path := []*graph.Node{}
	step := func(m *graph.Node) *graph.Node {
		path = append(path, m)
		return m
	}
	halved := false
	product := n
	if v := f.times(n, 0.5); v != nil {
		if product = f.into(v, "Mul"); product == nil {
			return false
		}
		halved = true
		step(product)
	}
	if product.Op != "Mul" {
		return false
	}
	for i, v := range product.Inputs {
		sum := f.into(v, "Add")
		if sum == nil {
			continue
		}
		erf := f.into(sum.Inputs[0], "Erf")
		if erf == nil {
			erf = f.into(sum.Inputs[1], "Erf")
		}
		if erf == nil || !f.about(other(sum, erf.Outputs[0]), 1) {
			continue
		}
		x := f.times(f.scaling(erf.Inputs[0]), math.Sqrt2/2)
		if x == nil {
			continue
		}
		path = append(path, sum, erf, f.from[erf.Inputs[0]])
		factor := product.Inputs[1-i]
		if !halved {
			half := f.scaling(factor)
			if factor = f.times(half, 0.5); factor == nil {
				return false
			}
			step(half)
		}
		if factor != x {
			return false
		}
		return f.replace(made(n, "Gelu", nil, x), n, path...)
	}
	return false
}

// scaling is the multiplication or division that computes v, which goes into one node alone.
func (f *fusion) scaling(v *graph.Value) *graph.Node {
	if n := f.into(v, "Mul"); n != nil {
		return n
	}
	return f.into(v, "Div")
}
