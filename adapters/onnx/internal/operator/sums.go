package operator

import (
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// summing is reduction by sums. Those of the last axes are products of lines with a column of ones,
// a sum of several partial ones, and all of them end with ends; nil: each with end.
func summing[T kernel.Float](name string, versions []int, rule func(*graph.Node) Rule, end func(s T, n int) T, ends func(sums []T, n int)) Entry[T] {
	e := reduction(name, versions, rule, 0, func(s, v T) T { return s + v }, end)
	general := e.Compile
	e.Compile = func(n *graph.Node) Step[T] {
		set := n.Resolved.(*reduced).axes
		first := slices.Index(set, true)
		if !n.Inputs[0].Type.Floating() || first < 0 || slices.Contains(set[first:], false) {
			return general(n)
		}
		size := graph.Product(n.Inputs[0].Shape[first:])
		ones := slices.Repeat([]T{1}, size)
		return func(x *Exec[T]) error {
			sums := x.Out[0].F
			kernel.MulColumn(sums, x.In[0].F, size, len(sums), ones)
			if ends != nil {
				ends(sums, size)
				return nil
			}
			for i, s := range sums {
				sums[i] = end(s, size)
			}
			return nil
		}
	}
	return e
}
