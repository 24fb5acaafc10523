package operator

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// gatherOps pick elements at positions that a tensor holds.
func gatherOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Gather", Is: graph.Indexing | graph.Sizing | graph.Arithmetic, Texts: true, Versions: []int{1, 11, 13}, Min: 2, Max: 2, Outputs: 1, AnyLayout: true, Check: checkGather, Sizes: gatherSizes, Moves: movesFirst},
			Rule: gatherRule, Compile: compileGather[T]},
		{Operator: graph.Operator{Name: "GatherElements", Texts: true, Versions: []int{11, 13}, Min: 2, Max: 2, Outputs: 1, AnyLayout: true, Check: checkGatherElements, Moves: movesFirst},
			Rule: gatherElementsRule, Compile: compileGatherElements[T]},
	}
}

func checkGather(c *graph.Check) error {
	in, index := c.Inputs[0], c.Inputs[1]
	if index.Type.Floating() || index.Type == graph.Bool || index.Type == graph.String {
		return fmt.Errorf("indices must be integers, are %s", index.Type)
	}
	at, err := graph.Axis(c.AttrInt("axis", 0), len(in.Shape))
	if err != nil {
		return err
	}
	if graph.IsRows(in.Shape[at]) {
		return fmt.Errorf("mixes rows: it picks from the batch axis %d", at)
	}
	if index.Const != nil {
		for _, i := range index.Const.I {
			if i < int64(-in.Shape[at]) || i >= int64(in.Shape[at]) {
				return fmt.Errorf("index %d is outside axis %d of size %d", i, at, in.Shape[at])
			}
		}
	}
	c.Resolved = at
	return c.Set(0, in.Type, slices.Concat(in.Shape[:at], index.Shape, in.Shape[at+1:]))
}

func compileGather[T kernel.Float](n *graph.Node) Step[T] {
	at := n.Resolved.(int)
	return func(x *Exec[T]) error {
		in, index, out := x.In[0], x.In[1].I, x.Out[0]
		outer, size, inner := graph.Product(in.Shape[:at]), in.Shape[at], graph.Product(in.Shape[at+1:])
		for o := range outer {
			for j, k := range index {
				if k < 0 {
					k += int64(size)
				}
				if k < 0 || k >= int64(size) {
					return fmt.Errorf("index %d is outside axis %d of size %d", index[j], at, size)
				}
				to, from := (o*len(index)+j)*inner, (o*size+int(k))*inner
				switch {
				case out.F == nil && inner == 1:
					out.I[to] = in.I[from]
				case out.F == nil:
					copy(out.I[to:to+inner], in.I[from:])
				case inner == 1:
					out.F[to] = in.F[from]
				default:
					copy(out.F[to:to+inner], in.F[from:])
				}
			}
		}
		return nil
	}
}

// alongAxis is where GatherElements picks, and the positions of a row where all rows have the
// same; nil: they are not known.
type alongAxis struct {
	axis  int
	known *graph.Tensor
}

func checkGatherElements(c *graph.Check) error {
	in, index := c.Inputs[0], c.Inputs[1]
	if index.Type.Floating() || index.Type == graph.Bool || index.Type == graph.String {
		return fmt.Errorf("indices must be integers, are %s", index.Type)
	}
	at, err := graph.Axis(c.AttrInt("axis", 0), len(in.Shape))
	if err != nil {
		return err
	}
	if len(index.Shape) != len(in.Shape) {
		return fmt.Errorf("indices of shape %s for %s", graph.ShapeText(index.Shape), graph.ShapeText(in.Shape))
	}
	if k := c.EachRow(1); k != nil {
		for _, p := range k.I {
			if _, err := position(p, graph.PerRow(in.Shape[at])); err != nil {
				return err
			}
		}
	}
	for i, d := range in.Shape {
		switch {
		case i == at && (graph.IsRows(d) || graph.IsRows(index.Shape[i])):
			return fmt.Errorf("mixes rows: it picks from the batch axis %d", at)
		case i != at && d != index.Shape[i]:
			return fmt.Errorf("indices of shape %s for %s", graph.ShapeText(index.Shape), graph.ShapeText(in.Shape))
		}
	}
	c.Resolved = &alongAxis{at, c.EachRow(1)}
	return c.Set(0, in.Type, index.Shape)
}

func compileGatherElements[T kernel.Float](n *graph.Node) Step[T] {
	at := n.Resolved.(*alongAxis).axis
	return func(x *Exec[T]) error {
		in, index, out := x.In[0], x.In[1], x.Out[0]
		size, picks, inner := in.Shape[at], index.Shape[at], graph.Product(in.Shape[at+1:])
		for o, k := range index.I {
			if k < 0 {
				k += int64(size)
			}
			if k < 0 || k >= int64(size) {
				return fmt.Errorf("index %d is outside axis %d of size %d", index.I[o], at, size)
			}
			from := (o/(picks*inner)*size+int(k))*inner + o%inner
			if out.F != nil {
				out.F[o] = in.F[from]
			} else {
				out.I[o] = in.I[from]
			}
		}
		return nil
	}
}

// gatherRule reads input 0 along axis at the positions of input 1. With positions
// that depend on the data and a constant table (an embedding) an element
// depends on its position; with both known at run time on everything along axis.
func gatherRule(n *graph.Node) Rule {
	if len(n.Inputs) != 2 || n.Inputs[0] == nil || n.Inputs[1] == nil {
		return opaque(n)
	}
	table, pos := n.Inputs[0], n.Inputs[1]
	in, idx := table.RowShape(), pos.RowShape()
	axis, ok := normalAxis(int(n.AttrInt("axis", 0)), len(in))
	if !ok || len(in)-1+len(idx) != len(n.Outputs[0].Shape) || table.Const == nil && graph.IsRows(table.Shape[axis]) {
		return opaque(n)
	}
	inner, positions := graph.Product(in[axis+1:]), graph.Product(idx)
	// e = (outer, position, inner)
	switch {
	case pos.Const != nil:
		return Rule{Linear: true, Cost: 1, Each: func(_, e int, yield Link) {
			outer, p, j := e/(inner*positions), e/inner%positions, e%inner
			k := int(pos.Const.I[p])
			if k < 0 {
				k += in[axis]
			}
			yield(0, (outer*in[axis]+k)*inner+j, 1)
		}}
	case table.Const != nil:
		return Rule{Cost: 1, Each: func(_, e int, yield Link) { yield(1, e/inner%positions, 1) }}
	}
	return Rule{Cost: 1 + in[axis], Each: func(_, e int, yield Link) {
		outer, p, j := e/(inner*positions), e/inner%positions, e%inner
		yield(1, p, 1)
		for k := range in[axis] {
			yield(0, (outer*in[axis]+k)*inner+j, 1)
		}
	}}
}

// gatherElementsRule: one position for each element.
func gatherElementsRule(n *graph.Node) Rule {
	if len(n.Inputs) != 2 || n.Inputs[1] == nil {
		return opaque(n)
	}
	in, idx := n.Inputs[0].RowShape(), n.Inputs[1].RowShape()
	axis, ok := normalAxis(int(n.AttrInt("axis", 0)), len(in))
	if !ok || len(idx) != len(in) || graph.Product(idx) != n.Outputs[0].Width() {
		return opaque(n)
	}
	inner := graph.Product(in[axis+1:])
	if a, ok := n.Resolved.(*alongAxis); ok && a.known != nil {
		return Rule{Linear: true, Cost: 1, Each: func(_, e int, yield Link) {
			k, _ := position(a.known.I[e], in[axis])
			yield(0, (e/(idx[axis]*inner)*in[axis]+k)*inner+e%inner, 1)
		}}
	}
	return Rule{Cost: 1 + in[axis], Each: func(_, e int, yield Link) {
		outer, j := e/(idx[axis]*inner), e%inner
		yield(1, e, 1)
		for k := range in[axis] {
			yield(0, (outer*in[axis]+k)*inner+j, 1)
		}
	}}
}
