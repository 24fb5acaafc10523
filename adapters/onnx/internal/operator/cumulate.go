package operator

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// cumulateOps add up or multiply along an axis, element after element.
func cumulateOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "CumSum", Is: graph.Indexing, Versions: []int{11, 14}, Min: 2, Max: 2, Outputs: 1, AnyLayout: true, Check: checkCumulate},
			Rule: cumSumRule, Compile: compileCumulate(0, func(s, v T) T { return s + v }, func(s, v int64) int64 { return s + v })},
		{Operator: graph.Operator{Name: "CumProd", Versions: []int{26}, Min: 2, Max: 2, Outputs: 1, AnyLayout: true, Check: checkCumulate},
			Rule: cumulateRule, Compile: compileCumulate(1, func(s, v T) T { return s * v }, func(s, v int64) int64 { return s * v })},
	}
}

// cumulated is the axis and the way along it: from its end if reverse, and without the
// element itself if exclusive.
type cumulated struct {
	axis               int
	reverse, exclusive bool
}

func checkCumulate(c *graph.Check) error {
	in := c.Inputs[0]
	if err := isNumber(c); err != nil {
		return err
	}
	axes, err := c.Ints(1)
	if err != nil {
		return err
	}
	if len(axes) != 1 {
		return fmt.Errorf("needs one axis, has %d", len(axes))
	}
	at, err := graph.Axis(axes[0], len(in.Shape))
	if err != nil {
		return err
	}
	if graph.IsRows(in.Shape[at]) {
		return fmt.Errorf("mixes rows: it accumulates along the batch axis %d", at)
	}
	c.Resolved = cumulated{at, c.AttrInt("reverse", 0) != 0, c.AttrInt("exclusive", 0) != 0}
	return c.Set(0, in.Type, in.Shape)
}

// compileCumulate joins elements from start on; integers wrap around in their type.
func compileCumulate[T kernel.Float](start int64, f func(s, v T) T, g func(s, v int64) int64) func(n *graph.Node) Step[T] {
	return func(n *graph.Node) Step[T] {
		u, typ := n.Resolved.(cumulated), n.Inputs[0].Type
		wrapped := func(s, v int64) int64 { return typ.Wrap(g(s, v)) }
		return func(x *Exec[T]) error {
			if x.In[0].F != nil {
				cumulate(u, x.Out[0].F, x.In[0].F, x.In[0].Shape, T(start), f)
			} else {
				cumulate(u, x.Out[0].I, x.In[0].I, x.In[0].Shape, start, wrapped)
			}
			return nil
		}
	}
}

func cumulate[A number](u cumulated, dst, src []A, shape []int, start A, f func(s, v A) A) {
	size, inner := shape[u.axis], graph.Product(shape[u.axis+1:])
	step := inner
	if u.reverse {
		step = -inner
	}
	for o := range graph.Product(shape[:u.axis]) {
		for i := range inner {
			at := o*size*inner + i
			if u.reverse {
				at += (size - 1) * inner
			}
			sum := start
			for k := range size {
				next := src[at]
				if k > 0 {
					next = f(sum, next)
				}
				if u.exclusive {
					dst[at] = sum
				} else {
					dst[at] = next
				}
				sum = next
				at += step
			}
		}
	}
}

// cumSumRule adds up along an axis; sums of integers wrap around.
func cumSumRule(n *graph.Node) Rule {
	r := cumulateRule(n)
	r.Linear = r.Each != nil && n.Outputs[0].Type.Floating()
	return r
}

// cumulateRule: an element depends on those before it along the axis, or behind it.
func cumulateRule(n *graph.Node) Rule {
	u, ok := n.Resolved.(cumulated)
	if !ok {
		return opaque(n)
	}
	d := n.Outputs[0].RowShape()
	size, inner := d[u.axis], graph.Product(d[u.axis+1:])
	return Rule{Cost: size, Each: func(_, e int, yield Link) {
		at := e / inner % size
		from, to := 0, at+1
		if u.reverse {
			from, to = at, size
		}
		for k := from; k < to; k++ {
			if k != at || !u.exclusive {
				yield(0, e+(k-at)*inner, 1)
			}
		}
	}}
}
