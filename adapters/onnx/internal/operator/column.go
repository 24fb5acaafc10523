package operator

import (
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Column is what the engine resolves a Gemm to that multiplies one column of its first input, where
// it lies among the others.
type Column int

// ColumnOf is the column of a matrix of rows that a Slice is; false if it is something else.
func ColumnOf(n *graph.Node) (Column, bool) {
	p, ok := n.Resolved.(*slicePlan)
	in := n.Inputs[0].Shape
	if !ok || len(in) != 2 || in[0] != graph.Batch || p.size[0] != graph.Batch || p.size[1] != 1 {
		return 0, false
	}
	return Column(p.start[1]), true
}

// timesRow is the column times one row of weights, plus bias.
func timesRow[T kernel.Float](c Column, w *kernel.Weights[T], bias []T) Step[T] {
	return func(x *Exec[T]) error {
		out, a, lda := x.Out[0].F, x.In[0].F[c:], x.In[0].Shape[1]
		if x.Relu {
			w.MulRelu(out, w.N, a, lda, x.Rows, bias)
		} else {
			w.Mul(out, w.N, a, lda, x.Rows, bias)
		}
		return nil
	}
}
