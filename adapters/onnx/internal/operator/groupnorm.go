package operator

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// groupNormOps normalise by the root mean square, or group by group of channels.
func groupNormOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "RMSNormalization", Versions: []int{23}, Min: 2, Max: 2, Outputs: 1, AnyLayout: true, Check: checkRMSNorm},
			Rule: layerNormRule, Compile: compileRMSNorm[T]},
		{Operator: graph.Operator{Name: "GroupNormalization", Versions: []int{18, 21}, Min: 3, Max: 3, Outputs: 1, AnyLayout: true, Check: checkGroupNorm},
			Rule: groupNormRule, Compile: compileGroupNorm[T]},
	}
}

func checkRMSNorm(c *graph.Check) error {
	if _, err := normalizedAxes(c); err != nil {
		return err
	}
	return c.Set(0, c.Inputs[0].Type, c.Inputs[0].Shape)
}

// compileRMSNorm is y = x / sqrt(mean of x^2 + eps) * scale.
func compileRMSNorm[T kernel.Float](n *graph.Node) Step[T] {
	eps := n.AttrFloat("epsilon", 1e-5)
	at := n.Resolved.(int)
	return func(x *Exec[T]) error {
		in, out, scale := x.In[0], x.Out[0].F, x.In[1].F
		size := graph.Product(in.Shape[at:])
		if size == 0 {
			return nil
		}
		for from := 0; from < len(in.F); from += size {
			row, dst := in.F[from:from+size], out[from:from+size]
			s := 0.0
			for _, v := range row {
				s += float64(float64(v) * float64(v))
			}
			rms := math.Sqrt(s/float64(size) + eps)
			for i, v := range row {
				dst[i] = T(float64(v) / rms * float64(scale[i]))
			}
		}
		return nil
	}
}

// checkGroupNorm leaves the number of groups in Resolved. Scale and bias have an entry for
// each channel, before opset 21 for each group.
func checkGroupNorm(c *graph.Check) error {
	if err := errors.Join(c.Floating(0), c.SameType()); err != nil {
		return err
	}
	in := c.Inputs[0].Shape
	if len(in) < 2 {
		return fmt.Errorf("needs a tensor [rows, channels, ...], has %s", graph.ShapeText(in))
	}
	if graph.HasRows(in[1:]) {
		return fmt.Errorf("mixes rows: the batch axis of %s is not the first", graph.ShapeText(in))
	}
	groups := c.AttrInt("num_groups", 0)
	if groups < 1 || groups > int64(in[1]) || int64(in[1])%groups != 0 {
		return fmt.Errorf("%d channels do not divide into %d groups (num_groups)", in[1], groups)
	}
	entries := in[1]
	if c.Version < 21 {
		entries = int(groups)
	}
	if err := errors.Join(channel(c, 1, entries), channel(c, 2, entries)); err != nil {
		return err
	}
	c.Resolved = int(groups)
	return c.Set(0, c.Inputs[0].Type, in)
}

func compileGroupNorm[T kernel.Float](n *graph.Node) Step[T] {
	eps, groups := n.AttrFloat("epsilon", 1e-5), n.Resolved.(int)
	return func(x *Exec[T]) error {
		in, out, scale, bias := x.In[0], x.Out[0].F, x.In[1].F, x.In[2].F
		size := graph.Product(in.Shape[1:]) / groups
		if size == 0 {
			return nil
		}
		perEntry := graph.Product(in.Shape[1:]) / len(scale)
		for k := range len(in.F) / size {
			row, dst := in.F[k*size:(k+1)*size], out[k*size:(k+1)*size]
			mean, sd := meanSD(row, eps)
			first := k % groups * size
			for i, v := range row {
				e := (first + i) / perEntry
				dst[i] = T((float64(v)-mean)/sd*float64(scale[e]) + float64(bias[e]))
			}
		}
		return nil
	}
}

// groupNormRule: an element depends on its group. Scale and bias, if they are not
// constants, are left to the opaque rule.
func groupNormRule(n *graph.Node) Rule {
	groups, ok := n.Resolved.(int)
	if !ok || slices.ContainsFunc(n.Inputs[1:], func(v *graph.Value) bool { return v == nil || v.Const == nil }) {
		return opaque(n)
	}
	size := graph.Product(n.Inputs[0].RowShape()[1:]) / groups
	return lineRule(size, size, 1)
}
