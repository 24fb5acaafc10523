package operator

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/kernel"
)

// cumulateOps add up along an axis, element after element.
func cumulateOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "CumSum", Versions: []int{11, 14}, Min: 2, Max: 2, Outputs: 1, AnyLayout: true, Check: checkCumSum},
			Rule: cumSumRule, Compile: compileCumSum[T]},
	}
}

func checkCumSum(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	axes, err := c.Ints(1)
	if err != nil {
		return err
	}
	if len(axes) != 1 {
		return fmt.Errorf("needs one axis, has %d", len(axes))
	}
	in := c.Inputs[0].Shape
	at, err := graph.Axis(axes[0], len(in))
	if err != nil {
		return err
	}
	if graph.IsRows(in[at]) {
		return fmt.Errorf("mixes rows: it accumulates along the batch axis %d", at)
	}
	if c.AttrInt("reverse", 0) != 0 || c.AttrInt("exclusive", 0) != 0 {
		return fmt.Errorf("reverse and exclusive sums are not supported")
	}
	c.Resolved = at
	return c.Set(0, c.Inputs[0].Type, in)
}

func compileCumSum[T kernel.Float](n *graph.Node) Step[T] {
	at := n.Resolved.(int)
	return func(x *Exec[T]) error {
		in, out := x.In[0], x.Out[0]
		size, inner := in.Shape[at], graph.Product(in.Shape[at+1:])
		for i, v := range in.F {
			if i/inner%size > 0 {
				v += out.F[i-inner]
			}
			out.F[i] = v
		}
		return nil
	}
}

// cumSumRule adds up along an axis.
func cumSumRule(n *graph.Node) Rule {
	d := n.Outputs[0].RowShape()
	axes, found, known := intsInput(n, "axis", 1)
	if !found || !known || len(axes) != 1 || n.AttrInt("reverse", 0) != 0 || n.AttrInt("exclusive", 0) != 0 {
		return opaque(n)
	}
	axis, ok := normalAxis(axes[0], len(d))
	if !ok {
		return opaque(n)
	}
	inner := graph.Product(d[axis+1:])
	return Rule{Linear: n.Outputs[0].Type.Floating(), Cost: d[axis], Each: func(_, e int, yield Link) {
		for k := range e/inner%d[axis] + 1 {
			yield(0, e-k*inner, 1)
		}
	}}
}
