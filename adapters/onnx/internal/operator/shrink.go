package operator

import (
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// shrinkOps move numbers towards 0.
func shrinkOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Shrink", Is: graph.Pointwise, Versions: []int{9}, Min: 1, Max: 1, Outputs: 1, Check: checkNumber},
			Rule: elementwiseRule, Compile: compileShrink[T], InPlace: true, Jumps: true},
	}
}

// compileShrink: x + bias below -lambda, x - bias above lambda, else 0. Integers are
// computed as real numbers and cut off.
func compileShrink[T kernel.Float](n *graph.Node) Step[T] {
	bias, lambda, typ := n.AttrFloat("bias", 0), n.AttrFloat("lambd", 0.5), n.Inputs[0].Type
	shrink := func(x, declared float64) float64 {
		switch {
		case declared < -lambda:
			return x + bias
		case declared > lambda:
			return x - bias
		}
		return 0 // for NaN, too
	}
	return func(x *Exec[T]) error {
		for i, v := range x.In[0].F {
			x.Out[0].F[i] = T(shrink(float64(v), typ.Round(float64(v))))
		}
		for i, v := range x.In[0].I {
			r := typ.Number(v)
			x.Out[0].I[i] = typ.Wrap(graph.Int64.Truncated(shrink(r, r)))
		}
		return nil
	}
}
