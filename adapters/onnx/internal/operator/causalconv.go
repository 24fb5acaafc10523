package operator

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/kernel"
)

// causalConvOps convolve sequences with what came before.
func causalConvOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "CausalConvWithState", Versions: []int{27}, Min: 2, Max: 4, Outputs: 2, Check: checkCausalConv},
			Rule: causalConvRule, Compile: compileCausalConv[T], Weighs: true},
	}
}

// causalConv is a CausalConvWithState: a kernel of k taps for each channel, over the state
// of k-1 numbers (zeros if none is given) and the sequence.
type causalConv struct {
	channels, length, k int
	silu                bool
}

// Scratch holds a channel behind its state.
func (p *causalConv) Scratch() int { return p.k - 1 + p.length }

func checkCausalConv(c *graph.Check) error {
	if err := errors.Join(c.Floating(0), c.SameType()); err != nil {
		return err
	}
	in, w := c.Inputs[0].Shape, c.Inputs[1].Shape
	if len(in) != 3 || slices.Contains(in[1:], graph.Batch) {
		return fmt.Errorf("needs a tensor [rows, channels, length], has %s", graph.ShapeText(in))
	}
	if len(w) != 3 || w[0] != in[1] || w[1] != 1 || w[2] < 1 {
		return fmt.Errorf("needs weights [%d 1 taps], has %s", in[1], graph.ShapeText(w))
	}
	p := &causalConv{channels: in[1], length: in[2], k: w[2]}
	switch a := c.Attrs["activation"].String; a {
	case "", "none":
	case "silu", "swish":
		p.silu = true
	default:
		return fmt.Errorf("activation %q is none of none, silu and swish", a)
	}
	if c.Has(2) {
		if err := channel(c, 2, in[1]); err != nil {
			return err
		}
	}
	state := []int{in[0], in[1], p.k - 1}
	if c.Has(3) && !slices.Equal(c.Inputs[3].Shape, state) {
		return fmt.Errorf("past_state (%q) must have shape %s, has %s", c.Inputs[3].Name, graph.ShapeText(state), graph.ShapeText(c.Inputs[3].Shape))
	}
	c.Resolved = p
	if err := c.MultiplyAdds(in, p.k); err != nil {
		return err
	}
	return errors.Join(c.Set(0, c.Inputs[0].Type, slices.Clone(in)), c.Set(1, c.Inputs[0].Type, state))
}

func compileCausalConv[T kernel.Float](n *graph.Node) Step[T] {
	p := n.Resolved.(*causalConv)
	keep := len(n.Outputs) > 1 && n.Outputs[1] != nil
	return func(x *Exec[T]) error {
		line := x.temp(p.Scratch())
		for r := range x.In[0].Shape[0] * p.channels {
			ch := r % p.channels
			clear(line[:p.k-1])
			if len(x.In) > 3 && x.In[3].F != nil {
				copy(line, x.In[3].F[r*(p.k-1):(r+1)*(p.k-1)])
			}
			copy(line[p.k-1:], x.In[0].F[r*p.length:])
			out := x.Out[0].F[r*p.length : (r+1)*p.length]
			fillWith(out, biasOf(x, 2, ch))
			for k, w := range x.In[1].F[ch*p.k : (ch+1)*p.k] {
				kernel.Axpy(out, line[k:k+p.length], w)
			}
			if p.silu {
				for i, v := range out {
					out[i] = T(float64(v) / (1 + math.Exp(-float64(v))))
				}
			}
			if keep {
				copy(x.Out[1].F[r*(p.k-1):(r+1)*(p.k-1)], line[p.length:])
			}
		}
		return nil
	}
}

// causalConvRule is linear with constant weights and no activation.
func causalConvRule(n *graph.Node) Rule {
	p, ok := n.Resolved.(*causalConv)
	if !ok || n.Inputs[1].Const == nil {
		return opaque(n)
	}
	w := n.Inputs[1].Const
	// at yields element i of a channel behind its state.
	at := func(ch, i int, weight float64, yield Link) {
		if i -= p.k - 1; i >= 0 {
			yield(0, ch*p.length+i, weight)
		} else if len(n.Inputs) > 3 && n.Inputs[3] != nil {
			yield(3, (ch+1)*(p.k-1)+i, weight)
		}
	}
	return Rule{Linear: !p.silu, Cost: p.k + 1, Each: func(o, e int, yield Link) {
		if o == 1 {
			at(e/(p.k-1), p.length+e%(p.k-1), 1, yield)
			return
		}
		ch := e / p.length
		for k := range p.k {
			at(ch, e%p.length+k, w.At(ch*p.k+k), yield)
		}
		if len(n.Inputs) > 2 && n.Inputs[2] != nil {
			yield(2, ch, 1)
		}
	}}
}
