package operator

import (
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/kernel"
)

// nonFiniteOps find what is no finite number.
func nonFiniteOps[T kernel.Float]() []Entry[T] {
	find := func(name string, versions []int, is func(n *graph.Node) func(T) bool) Entry[T] {
		return Entry[T]{
			Operator: graph.Operator{Name: name, Versions: versions, Min: 1, Max: 1, Outputs: 1, Check: checkNonFinite},
			Rule:     elementwiseRule,
			Compile: func(n *graph.Node) Step[T] {
				f := is(n)
				return func(x *Exec[T]) error {
					for i, v := range x.In[0].F {
						x.Out[0].I[i] = toInt(f(v))
					}
					return nil
				}
			},
		}
	}
	return []Entry[T]{
		jumps(find("IsInf", []int{10, 20}, isInf[T])),
	}
}

func checkNonFinite(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	return c.Set(0, graph.Bool, c.Inputs[0].Shape)
}

// isInf reads a number as the graph declares it: one beyond its range is infinite there.
func isInf[T kernel.Float](n *graph.Node) func(T) bool {
	typ := n.Inputs[0].Type
	below, above := n.AttrInt("detect_negative", 1) != 0, n.AttrInt("detect_positive", 1) != 0
	return func(v T) bool {
		x := typ.Round(float64(v))
		return below && math.IsInf(x, -1) || above && math.IsInf(x, 1)
	}
}
