package operator

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// The norms of optimizedOps add a second tensor before they normalise over the last axis:
// inputs are X, skip, scale, then the bias of the result (LayerNorm alone), then, at
// addend, what is added to every entry of the last axis as well. Output 3 is the sum.

// checkSkipNorm leaves the sizes of the last axis in Resolved. The mean and deviation are
// outputs of training, which ONNX Runtime does not compute either.
func checkSkipNorm(addend int) func(*graph.Check) error {
	return func(c *graph.Check) error {
		if err := errors.Join(c.Floating(0), c.SameType()); err != nil {
			return err
		}
		shape := c.Inputs[0].Shape
		if len(shape) < 2 || graph.IsRows(shape[len(shape)-1]) {
			return fmt.Errorf("mixes rows, or has none: it normalises over the last axis of %s", graph.ShapeText(shape))
		}
		last := shape[len(shape)-1:]
		if both, err := graph.Broadcast(shape, c.Inputs[1].Shape); err != nil || !slices.Equal(both, shape) || !slices.Equal(c.Inputs[1].Shape[max(len(c.Inputs[1].Shape)-1, 0):], last) {
			return fmt.Errorf("the skipped tensor, of shape %s, does not fit %s", graph.ShapeText(c.Inputs[1].Shape), graph.ShapeText(shape))
		}
		for i := 2; i <= addend; i++ {
			if c.Has(i) && !slices.Equal(c.Inputs[i].Shape, last) {
				return fmt.Errorf("input %d (%q) has shape %s, needs %s", i, c.Inputs[i].Name, graph.ShapeText(c.Inputs[i].Shape), graph.ShapeText(last))
			}
		}
		return errors.Join(c.Set(0, c.Inputs[0].Type, shape), c.Set(3, c.Inputs[0].Type, shape))
	}
}

func compileSkipNorm[T kernel.Float](addend int) func(*graph.Node) Step[T] {
	return func(n *graph.Node) Step[T] {
		centred := addend == 4 // a LayerNorm; else by the root mean square
		eps := n.AttrFloat("epsilon", 1e-12)
		return func(x *Exec[T]) error {
			in, out := x.In[0], x.Out[0]
			input := func(i int) []T {
				if i < len(x.In) {
					return x.In[i].F
				}
				return nil
			}
			size := in.Shape[len(in.Shape)-1]
			zip(out.F, out.Shape, in.F, in.Shape, x.In[1].F, x.In[1].Shape, kernel.Add[T])
			if b := input(addend); b != nil {
				zip(out.F, out.Shape, out.F, out.Shape, b, in.Shape[len(in.Shape)-1:], kernel.Add[T])
			}
			if len(x.Out) > 3 && x.Out[3].F != nil {
				copy(x.Out[3].F, out.F)
			}
			scale, bias := x.In[2].F, []T(nil)
			if centred {
				bias = input(3)
			}
			for from := 0; from < len(out.F); from += size {
				normalise(out.F[from:from+size], scale, bias, eps, centred)
			}
			return nil
		}
	}
}

// normalise overwrites a row by (row - mean)/sd scale + bias; the mean is 0 if not centred.
func normalise[T kernel.Float](row, scale, bias []T, eps float64, centred bool) {
	mean, sd := 0.0, 0.0
	if centred {
		mean, sd = meanSD(row, eps)
	} else {
		for _, v := range row {
			sd += float64(float64(v) * float64(v))
		}
		sd = math.Sqrt(sd/float64(len(row)) + eps)
	}
	for i, v := range row {
		y := (float64(v) - mean) / sd * float64(scale[i])
		if bias != nil {
			y += float64(bias[i])
		}
		row[i] = T(y)
	}
}

// skipNormRule: a result depends on its last axis in both tensors, a sum on its addends.
func skipNormRule(n *graph.Node) Rule {
	d := n.Inputs[0].RowShape()
	at, ok := broadcastIndex(n.Inputs[1].RowShape(), d)
	if !ok || len(d) == 0 || slices.ContainsFunc(n.Inputs[2:], func(v *graph.Value) bool { return v != nil && v.Const == nil }) {
		return opaque(n)
	}
	size := d[len(d)-1]
	return Rule{Cost: 2 * size, Each: func(o, e int, yield Link) {
		first, count := e/max(size, 1)*size, size
		if o == 3 {
			first, count = e, 1
		}
		for k := first; k < first+count; k++ {
			yield(0, k, 1)
			yield(1, at(k), 1)
		}
	}}
}
