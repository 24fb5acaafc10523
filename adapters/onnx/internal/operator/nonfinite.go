package operator

import (
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// nonFiniteOps find what is no finite number.
func nonFiniteOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "IsNaN", Is: graph.Pointwise, Versions: []int{9, 13, 20}, Min: 1, Max: 1, Outputs: 1, AnyLayout: true, Check: checkNonFinite},
			Rule: elementwiseRule, Compile: compileIsNaN[T], Missing: func(*graph.Node, *graph.Value) bool { return true }},
		{Operator: graph.Operator{Name: "IsInf", Is: graph.Pointwise | graph.Comparing, Versions: []int{10, 20}, Min: 1, Max: 1, Outputs: 1, Check: checkNonFinite},
			Rule: elementwiseRule, Compile: compileIsInf[T], Jumps: true},
	}
}

func checkNonFinite(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	return c.Set(0, graph.Bool, c.Inputs[0].Shape)
}

func compileIsNaN[T kernel.Float](*graph.Node) Step[T] {
	return func(x *Exec[T]) error {
		for i, v := range x.In[0].F {
			x.Out[0].I[i] = toInt(v != v)
		}
		return nil
	}
}

// compileIsInf reads a number as the graph declares it: one beyond its range is infinite
// there.
func compileIsInf[T kernel.Float](n *graph.Node) Step[T] {
	typ := n.Inputs[0].Type
	below, above := n.AttrInt("detect_negative", 1) != 0, n.AttrInt("detect_positive", 1) != 0
	return func(x *Exec[T]) error {
		for i, v := range x.In[0].F {
			r := typ.Round(float64(v))
			x.Out[0].I[i] = toInt(below && math.IsInf(r, -1) || above && math.IsInf(r, 1))
		}
		return nil
	}
}
