package operator

import (
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/piecewise"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Pieces is what the engine resolves the first of several nodes to that make piecewise linear
// functions of one column each: of columns side by side, from Column on. Outputs are side by side.
type Pieces struct {
	Column    Column
	Functions []*piecewise.Function
}

// PiecesOf is what n is resolved to, nil if it is none.
func PiecesOf(n *graph.Node) *Pieces {
	p, _ := n.Resolved.(*Pieces)
	return p
}

// CompilePieces prepares them.
func CompilePieces[T kernel.Float](p *Pieces) Step[T] {
	var tables []*piecewise.Table[T]
	for _, f := range p.Functions {
		tables = append(tables, piecewise.NewTable[T](f))
	}
	return func(x *Exec[T]) error {
		in, out := x.In[0].F, x.Out[0].F
		ldx, ldd, from := len(in)/x.Rows, len(out)/x.Rows, 0
		for g, t := range tables {
			t.Eval(out[from:], ldd, in[int(p.Column)+g:], ldx, x.Rows)
			from += p.Functions[g].Outputs()
		}
		return nil
	}
}

// Pointwise is the number of groups of a convolution that is a product of constant weights in
// each; 0: it is something else.
func Pointwise(n *graph.Node) int {
	p, ok := n.Resolved.(*convPlan)
	if !ok || n.Key() != "Conv" || !isPointwise(n) {
		return 0
	}
	return p.group
}
