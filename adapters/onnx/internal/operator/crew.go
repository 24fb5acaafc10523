package operator

import (
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Crew is goroutines that compute parts of one step at once: Each calls f(0) to f(n-1) and returns
// when all are done.
type Crew interface {
	Size() int
	Each(n int, f func(i int))
}

// crewBytes are the weights that are worth a crew. One row multiplies each of them once, so what
// it takes is to read them, and each processor has a second cache of its own, which holds its part
// from row to row.
const crewBytes = 3 << 17

// rowProduct is a product of one row of which a crew computes parts.
type rowProduct[T kernel.Float] struct {
	w          *kernel.Weights[T]
	c, a, bias []T
	relu       bool
	parts      int
	part       func(i int) // p.compute, made once: a run allocates nothing
}

func (p *rowProduct[T]) compute(i int) { p.w.MulPart(p.c, p.a, p.bias, p.relu, i, p.parts) }

// productByCrew is product of one row.
func (x *Exec[T]) productByCrew(w *kernel.Weights[T], a, bias []T) {
	if src := x.Source; src.Rows != nil && src.Enter == nil {
		a = any(src.Rows).([]T)
	} else if src.Rows != nil {
		src.Enter(a[:w.K], src.Rows)
	}
	if x.row == nil {
		x.row = &rowProduct[T]{}
		x.row.part = x.row.compute
	}
	p := x.row
	p.w, p.c, p.a, p.bias, p.relu, p.parts = w, x.Out[0].F, a, bias, x.Relu, (*x.crew).Size()
	(*x.crew).Each(p.parts, p.part)
}

// WorthCrew reports whether a product of one row by n, with weights of so many bytes each, is worth
// a crew.
func WorthCrew(n *graph.Node, size int) bool {
	if key := n.Key(); key != "Gemm" && key != "MatMul" || n.Inputs[1].Const == nil || !n.Outputs[0].Type.Floating() {
		return false
	}
	return graph.Product(n.Inputs[1].Shape)*size >= crewBytes
}
