package operator

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

func checkBatchNorm(c *graph.Check) error {
	if c.AttrInt("training_mode", 0) != 0 {
		return errors.New("is in training mode: it would normalise over the rows; export the model in evaluation mode")
	}
	in := c.Inputs[0].Shape
	if err := c.Floating(0); err != nil {
		return err
	}
	if len(in) < 1 {
		return errors.New("needs a tensor with channels")
	}
	channels := 1
	if len(in) > 1 {
		channels = in[1]
	}
	if graph.IsRows(channels) {
		return fmt.Errorf("mixes rows: its channels are the batch axis of %s", graph.ShapeText(in))
	}
	for i := 1; i < 5; i++ {
		if err := channel(c, i, channels); err != nil {
			return err
		}
	}
	return c.Set(0, c.Inputs[0].Type, in)
}

// compileBatchNorm is y = scale (x - mean)/sqrt(var + eps) + bias per channel.
func compileBatchNorm[T kernel.Float](n *graph.Node) Step[T] {
	eps := n.AttrFloat("epsilon", 1e-5)
	// a x + b is the same in numbers known at load and in those of a run.
	fill := func(a, b []T, of [5][]T) {
		scale, bias, mean, variance := of[1], of[2], of[3], of[4]
		for c := range a {
			s := float64(scale[c]) / math.Sqrt(float64(variance[c])+eps)
			a[c], b[c] = T(s), T(float64(bias[c])-s*float64(mean[c]))
		}
	}
	var a, b []T
	if !slices.ContainsFunc(n.Inputs[1:], func(v *graph.Value) bool { return v.Const == nil }) {
		var of [5][]T
		for i := 1; i < 5; i++ {
			of[i] = Floats[T](n.Inputs[i])
		}
		a, b = make([]T, len(of[1])), make([]T, len(of[1]))
		fill(a, b, of)
	}
	return func(x *Exec[T]) error {
		a, b := a, b
		if a == nil {
			channels := len(x.In[1].F)
			ab := x.temp(2 * channels)
			a, b = ab[:channels], ab[channels:]
			fill(a, b, [5][]T{nil, x.In[1].F, x.In[2].F, x.In[3].F, x.In[4].F})
		}
		shape, in, out := x.In[0].Shape, x.In[0].F, x.Out[0].F
		inner := 1
		if len(shape) > 1 {
			inner = graph.Product(shape[2:])
		}
		for len(out) > 0 {
			scaleChannels(out[:len(a)*inner], in[:len(a)*inner], a, b, inner)
			out, in = out[len(a)*inner:], in[len(a)*inner:]
		}
		return nil
	}
}

// scaleChannels is a x + b for one row of channels, each of inner numbers.
func scaleChannels[T kernel.Float](out, in, a, b []T, inner int) {
	if inner == 1 {
		kernel.Mul(out, in, a)
		kernel.Add(out, out, b)
		return
	}
	for c := range a {
		from, to := c*inner, (c+1)*inner
		kernel.Mul(out[from:to], in[from:to], a[c:c+1])
		kernel.Add(out[from:to], out[from:to], b[c:c+1])
	}
}

// batchNormRule at inference: s (x - m)/sqrt(v + eps) + b by channel (axis 1).
func batchNormRule(n *graph.Node) Rule {
	d := n.Outputs[0].RowShape()
	if len(n.Inputs) < 5 || len(d) < 2 || len(n.Outputs) != 1 || int(n.AttrInt("training_mode", 0)) != 0 || n.Inputs[1] == nil || n.Inputs[4] == nil {
		return opaque(n)
	}
	s, v := n.Inputs[1].Const, n.Inputs[4].Const
	if s == nil || v == nil {
		return opaque(n)
	}
	eps, channels, inner := n.AttrFloat("epsilon", 1e-5), d[1], graph.Product(d[2:])
	return Rule{Linear: true, Cost: 3, Each: func(_, e int, yield Link) {
		c := e / inner % channels
		a := s.At(c) / math.Sqrt(v.At(c)+eps)
		yield(0, e, a)
		yield(2, c, 1)
		yield(3, c, -a)
	}}
}
