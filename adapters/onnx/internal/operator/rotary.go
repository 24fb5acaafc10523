package operator

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// rotaryOps turn pairs of numbers by angles that depend on their position.
func rotaryOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "RotaryEmbedding", Versions: []int{23}, Min: 3, Max: 4, Outputs: 1, AnyLayout: true, Check: checkRotary},
			Rule: rotaryRule, Compile: compileRotary[T]},
	}
}

// rotary is a RotaryEmbedding with everything resolved: of each head's numbers the first
// 2*half are turned, number i with number i+half, or with its neighbour.
type rotary struct {
	heads
	half        int
	interleaved bool
	positions   bool // the angles are looked up: position_ids is given
	table       int  // angles in the table, if they are
	each        bool // positions, or angles, are given for each index of the batch axis
}

func checkRotary(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	x, cos, sin := c.Inputs[0], c.Inputs[1], c.Inputs[2]
	if len(x.Shape) != 3 && len(x.Shape) != 4 {
		return fmt.Errorf("input X must be of 3 or 4 axes, has shape %s", graph.ShapeText(x.Shape))
	}
	h, err := headsOf(c, x, "num_heads")
	if err != nil {
		return err
	}
	turned := c.AttrInt("rotary_embedding_dim", 0)
	if turned == 0 {
		turned = int64(h.size)
	}
	if turned < 0 || turned > int64(h.size) || turned%2 != 0 {
		return fmt.Errorf("%d of the %d numbers of a head cannot be turned in pairs", turned, h.size)
	}
	r := &rotary{heads: h, half: int(turned / 2), interleaved: c.AttrInt("interleaved", 0) != 0, positions: c.Has(3)}
	if cos.Type != x.Type || sin.Type != x.Type || !slices.Equal(cos.Shape, sin.Shape) {
		return fmt.Errorf("the cosines and sines must be %s and of one shape, are %s %s and %s %s", x.Type, cos.Type, graph.ShapeText(cos.Shape), sin.Type, graph.ShapeText(sin.Shape))
	}
	if err := r.checkAngles(c); err != nil {
		return err
	}
	c.Resolved = r
	return c.Set(0, x.Type, x.Shape)
}

// checkAngles: a table [positions, half] and positions [batch, length], or the angles
// [batch, length, half]; batch may be 1.
func (r *rotary) checkAngles(c *graph.Check) error {
	batch, angles := c.Inputs[0].Shape[0], c.Inputs[1].Shape
	given, rest := angles, []int{r.length, r.half}
	if r.positions {
		p := c.Inputs[3]
		if len(angles) != 2 || graph.HasRows(angles) || angles[0] == 0 || angles[1] != r.half || p.Type != graph.Int64 {
			return fmt.Errorf("positions of type %s in a table of shape %s: needs int64 and [positions %d]", p.Type, graph.ShapeText(angles), r.half)
		}
		r.table, given, rest = angles[0], p.Shape, []int{r.length}
	}
	if len(given) != 1+len(rest) || !slices.Equal(given[1:], rest) || given[0] != batch && given[0] != 1 {
		return fmt.Errorf("angles, or their positions, have shape %s, need %s", graph.ShapeText(given), graph.ShapeText(append([]int{batch}, rest...)))
	}
	r.each = given[0] != 1
	return nil
}

// pair is the places of a head's numbers that are turned together.
func (r *rotary) pair(k int) (int, int) {
	if r.interleaved {
		return 2 * k, 2*k + 1
	}
	return k, k + r.half
}

// place is where the angles of a position are given.
func (r *rotary) place(batch, i int) int {
	if r.each {
		return batch*r.length + i
	}
	return i
}

func compileRotary[T kernel.Float](n *graph.Node) Step[T] {
	r := n.Resolved.(*rotary)
	return func(x *Exec[T]) error {
		in, out := x.In[0].F, x.Out[0].F
		copy(out, in)
		for b := range x.In[0].Shape[0] {
			for i := range r.length {
				at := r.place(b, i)
				if r.positions {
					k := x.In[3].I[at]
					if k < 0 {
						k += int64(r.table)
					}
					if k < 0 || k >= int64(r.table) {
						return fmt.Errorf("position %d is outside a table of %d", x.In[3].I[at], r.table)
					}
					at = int(k)
				}
				cos, sin := x.In[1].F[at*r.half:(at+1)*r.half], x.In[2].F[at*r.half:(at+1)*r.half]
				for h := range r.count {
					from := r.row(b, h, i)
					turn(r, out[from:from+r.size], in[from:from+r.size], cos, sin)
				}
			}
		}
		return nil
	}
}

func turn[T kernel.Float](r *rotary, dst, src, cos, sin []T) {
	for k, c := range cos {
		i, j := r.pair(k)
		s := sin[k]
		dst[i] = T(c*src[i]) - T(s*src[j])
		dst[j] = T(s*src[i]) + T(c*src[j])
	}
}

// rotaryRule is linear if the angles are constants.
func rotaryRule(n *graph.Node) Rule {
	r, ok := n.Resolved.(*rotary)
	if !ok {
		return opaque(n)
	}
	cos, sin := n.Inputs[1].Const, n.Inputs[2].Const
	linear := cos != nil && sin != nil && (!r.positions || n.Inputs[3].Const != nil)
	return Rule{Linear: linear, Cost: 5 + 2*r.table, Each: func(_, e int, yield Link) {
		b, _, i, d := r.find(e)
		k, sign, other := d%max(r.half, 1), -1.0, d+r.half
		if d >= r.half {
			sign, other = 1, d-r.half
		}
		if r.interleaved {
			k, sign, other = d/2, float64(2*(d%2)-1), d^1
		}
		if d >= 2*r.half {
			yield(0, e, 1)
			return
		}
		at := r.place(b, i)
		switch {
		case linear:
			if r.positions {
				p := int(n.Inputs[3].Const.I[at])
				if at = p; p < 0 {
					at = p + r.table
				}
				at = min(max(at, 0), r.table-1) // others are refused when the node runs
			}
			yield(0, e, cos.At(at*r.half+k))
			yield(0, e-d+other, sign*sin.At(at*r.half+k))
		case r.positions:
			yield(0, e, 1)
			yield(0, e-d+other, 1)
			yield(3, at, 1)
			for p := range r.table {
				yield(1, p*r.half+k, 1)
				yield(2, p*r.half+k, 1)
			}
		default:
			yield(0, e, 1)
			yield(0, e-d+other, 1)
			yield(1, at*r.half+k, 1)
			yield(2, at*r.half+k, 1)
		}
	}}
}
