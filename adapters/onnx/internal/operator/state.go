package operator

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// stateOps carry what has been seen on from one call of the network to the next.
func stateOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "CausalConvWithState", Versions: []int{27}, Min: 2, Max: 4, Outputs: 2, AnyLayout: true, Check: checkCausalConv},
			Rule: causalConvRule, Compile: compileCausalConv[T], Weighs: true},
		{Operator: graph.Operator{Name: "TensorScatter", Versions: []int{24}, Min: 2, Max: 3, Outputs: 1, AnyLayout: true, Check: checkTensorScatter},
			Rule: tensorScatterRule, Compile: compileTensorScatter[T]},
	}
}

// causalConv is a CausalConvWithState: each channel has a kernel, and reads as many
// numbers before the first as the kernel is longer than one.
type causalConv struct {
	channels, length, kernel int
	swish                    bool
}

func (p *causalConv) Scratch() int { return p.length + p.kernel - 1 }

func checkCausalConv(c *graph.Check) error {
	if err := errors.Join(c.Floating(0), c.SameType()); err != nil {
		return err
	}
	in, w := c.Inputs[0].Shape, c.Inputs[1].Shape
	if len(in) != 3 || graph.HasRows(in[1:]) || len(w) != 3 || w[0] != in[1] || w[1] != 1 || w[2] < 1 {
		return fmt.Errorf("needs [rows channels length] and [channels 1 kernel], has %s and %s", graph.ShapeText(in), graph.ShapeText(w))
	}
	if c.Has(2) {
		if err := channel(c, 2, in[1]); err != nil {
			return err
		}
	}
	state := []int{in[0], in[1], w[2] - 1}
	if c.Has(3) && !slices.Equal(c.Inputs[3].Shape, state) {
		return fmt.Errorf("past_state (%q) has shape %s, needs %s", c.Inputs[3].Name, graph.ShapeText(c.Inputs[3].Shape), graph.ShapeText(state))
	}
	activation := c.Attrs["activation"].String
	if !slices.Contains([]string{"", "none", "silu", "swish"}, activation) {
		return fmt.Errorf("activation %q is none of none, silu and swish", activation)
	}
	c.Resolved = &causalConv{in[1], in[2], w[2], activation == "silu" || activation == "swish"}
	if err := errors.Join(c.Set(0, c.Inputs[0].Type, in), c.Set(1, c.Inputs[0].Type, state)); err != nil {
		return err
	}
	return c.MultiplyAdds(in, w[2])
}

func compileCausalConv[T kernel.Float](n *graph.Node) Step[T] {
	p := n.Resolved.(*causalConv)
	return func(x *Exec[T]) error {
		before := p.kernel - 1
		line := x.temp(p.Scratch())
		for r := range x.In[0].Shape[0] * p.channels {
			c := r % p.channels
			clear(line[:before])
			if len(x.In) > 3 && x.In[3].F != nil {
				copy(line[:before], x.In[3].F[r*before:])
			}
			copy(line[before:], x.In[0].F[r*p.length:(r+1)*p.length])
			dst, bias := x.Out[0].F[r*p.length:(r+1)*p.length], T(0)
			if len(x.In) > 2 && x.In[2].F != nil {
				bias = x.In[2].F[c]
			}
			w := x.In[1].F[c*p.kernel : (c+1)*p.kernel]
			for i := range dst {
				dst[i] = bias + kernel.Dot(w, line[i:i+p.kernel])
			}
			if p.swish {
				swish(dst, dst, 1)
			}
			if len(x.Out) > 1 && x.Out[1].F != nil {
				copy(x.Out[1].F[r*before:(r+1)*before], line[p.length:])
			}
		}
		return nil
	}
}

// causalConvRule is linear with a constant kernel and without an activation.
func causalConvRule(n *graph.Node) Rule {
	p, ok := n.Resolved.(*causalConv)
	if !ok {
		return opaque(n)
	}
	given := func(i int) bool { return i < len(n.Inputs) && n.Inputs[i] != nil }
	w, before := n.Inputs[1].Const, p.kernel-1
	// at yields number i of a channel, those of the state being before 0.
	at := func(r, i int, weight float64, yield Link) {
		if i >= 0 {
			yield(0, r*p.length+i, weight)
		} else if given(3) {
			yield(3, r*before+before+i, weight)
		}
	}
	return Rule{Linear: w != nil && !p.swish, Cost: 2*p.kernel + 1, Each: func(o, e int, yield Link) {
		if o == 1 {
			at(e/before, p.length-before+e%before, 1, yield)
			return
		}
		r, i := e/p.length, e%p.length
		for k := range p.kernel {
			place, weight := r%p.channels*p.kernel+k, 1.0
			if w != nil {
				weight = w.At(place)
			} else {
				yield(1, place, 1)
			}
			at(r, i+k-before, weight, yield)
		}
		if given(2) {
			yield(2, r%p.channels, 1)
		}
	}}
}

// tensorScatter writes update into the cache along an axis, from a place that is given for
// each index of the batch axis on.
type tensorScatter struct {
	axis     int
	circular bool
}

func checkTensorScatter(c *graph.Check) error {
	cache, update := c.Inputs[0], c.Inputs[1]
	if cache.Type != update.Type || len(cache.Shape) < 2 || len(cache.Shape) != len(update.Shape) {
		return fmt.Errorf("the cache is %s %s and the update %s %s", cache.Type, graph.ShapeText(cache.Shape), update.Type, graph.ShapeText(update.Shape))
	}
	at, err := graph.Axis(c.AttrInt("axis", -2), len(cache.Shape))
	if err != nil {
		return err
	}
	if at == 0 || graph.HasRows(cache.Shape[1:]) {
		return fmt.Errorf("mixes rows: it writes along axis %d of %s", at, graph.ShapeText(cache.Shape))
	}
	for i, d := range cache.Shape {
		if u := update.Shape[i]; i != at && u != d || i == at && (u > d || graph.IsRows(u)) {
			return fmt.Errorf("an update of shape %s does not fit the cache, %s", graph.ShapeText(update.Shape), graph.ShapeText(cache.Shape))
		}
	}
	if c.Has(2) {
		if v := c.Inputs[2]; v.Type != graph.Int64 || len(v.Shape) != 1 || v.Shape[0] != cache.Shape[0] {
			return fmt.Errorf("write_indices (%q) must be int64, one for each row, is %s %s", v.Name, v.Type, graph.ShapeText(v.Shape))
		}
	}
	mode := c.Attrs["mode"].String
	if !slices.Contains([]string{"", "linear", "circular"}, mode) {
		return fmt.Errorf("mode %q is neither linear nor circular", mode)
	}
	c.Resolved = &tensorScatter{at, mode == "circular"}
	return c.Set(0, cache.Type, cache.Shape)
}

// place is the position along the axis at which element i of the update is written.
func (p *tensorScatter) place(first int64, i, n, size int) (int, error) {
	if p.circular {
		return int(((first % int64(size)) + int64(size) + int64(i)) % int64(size)), nil
	}
	if first < 0 || first > int64(size-n) {
		return 0, fmt.Errorf("write index %d: %d entries do not fit %d from there on", first, n, size)
	}
	return int(first) + i, nil
}

func compileTensorScatter[T kernel.Float](n *graph.Node) Step[T] {
	p := n.Resolved.(*tensorScatter)
	return func(x *Exec[T]) error {
		cache, update, out := x.In[0], x.In[1], x.Out[0]
		copy(out.F, cache.F)
		copy(out.I, cache.I)
		prefixes, inner := graph.Product(cache.Shape[1:p.axis]), graph.Product(cache.Shape[p.axis+1:])
		size, entries := cache.Shape[p.axis], update.Shape[p.axis]
		for r := range cache.Shape[0] * prefixes {
			first := int64(0)
			if len(x.In) > 2 && x.In[2].I != nil {
				first = x.In[2].I[r/prefixes]
			}
			for i := range entries {
				k, err := p.place(first, i, entries, size)
				if err != nil {
					return err
				}
				to, from := (r*size+k)*inner, (r*entries+i)*inner
				if out.F != nil {
					copy(out.F[to:to+inner], update.F[from:])
				} else {
					copy(out.I[to:to+inner], update.I[from:])
				}
			}
		}
		return nil
	}
}

// tensorScatterRule: without write_indices the update takes the first places; else any
// entry of it may be anywhere.
func tensorScatterRule(n *graph.Node) Rule {
	p, ok := n.Resolved.(*tensorScatter)
	if !ok {
		return opaque(n)
	}
	cache, update := n.Inputs[0].RowShape(), n.Inputs[1].RowShape()
	inner, size, entries := graph.Product(cache[p.axis+1:]), cache[p.axis], update[p.axis]
	perBatch := graph.Product(cache[1:])
	fixed := len(n.Inputs) < 3 || n.Inputs[2] == nil
	return Rule{Linear: fixed, Cost: entries + 2, Each: func(_, e int, yield Link) {
		outer, k, j := e/(inner*size), e/inner%size, e%inner
		switch {
		case fixed && k < entries:
			yield(1, (outer*entries+k)*inner+j, 1)
		case fixed:
			yield(0, e, 1)
		default:
			yield(0, e, 1)
			yield(2, e/perBatch, 1)
			for i := range entries {
				yield(1, (outer*entries+i)*inner+j, 1)
			}
		}
	}}
}
