package operator

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// gatedOps are activations that multiply one tensor by a function of another.
func gatedOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "SwiGLU", Versions: []int{28}, Min: 2, Max: 2, Outputs: 1, AnyLayout: true, Check: checkSwiGLU},
			Rule: elementwiseRule, Compile: compileSwiGLU[T], InPlace: true},
	}
}

// swish sets dst = x sigmoid(a x) for the elements x of src. dst may be src.
func swish[T kernel.Float](dst, src []T, a T) {
	if a == 1 {
		kernel.SiLU(dst, src)
		return
	}
	const block = 256
	var buf [block]T
	for len(src) > 0 {
		n := min(len(src), block)
		gate := buf[:n]
		kernel.Mul(gate, src[:n], []T{a})
		kernel.Sigmoid(gate, gate)
		kernel.Mul(dst[:n], src[:n], gate)
		dst, src = dst[n:], src[n:]
	}
}

func checkSwiGLU(c *graph.Check) error {
	a, b := c.Inputs[0], c.Inputs[1]
	if err := c.Floating(0); err != nil {
		return err
	}
	if a.Type != b.Type || !slices.Equal(a.Shape, b.Shape) {
		return fmt.Errorf("needs two tensors of one type and shape, has %s %s and %s %s", a.Type, graph.ShapeText(a.Shape), b.Type, graph.ShapeText(b.Shape))
	}
	return c.Set(0, a.Type, a.Shape)
}

// compileSwiGLU is y = a sigmoid(alpha a) b.
func compileSwiGLU[T kernel.Float](n *graph.Node) Step[T] {
	alpha := T(n.AttrFloat("alpha", 1))
	return func(x *Exec[T]) error {
		out := x.Out[0].F
		swish(out, x.In[0].F, alpha)
		kernel.Mul(out, out, x.In[1].F)
		return nil
	}
}
