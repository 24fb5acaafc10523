package operator

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// reverseOps turn the beginnings of sequences round.
func reverseOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "ReverseSequence", Versions: []int{10, 28}, Min: 2, Max: 2, Outputs: 1, Check: checkReverse, Moves: movesFirst},
			Rule: reverseRule, Compile: compileReverse[T]},
	}
}

// reversed are the axes: one sequence along time for each index of the other.
type reversed struct{ sequence, time int }

// checkReverse: the two axes are the first ones of the tensor, in either order.
func checkReverse(c *graph.Check) error {
	in, lengths := c.Inputs[0], c.Inputs[1]
	r := reversed{int(c.AttrInt("batch_axis", 1)), int(c.AttrInt("time_axis", 0))}
	if len(in.Shape) < 2 || !(r.sequence == 0 && r.time == 1 || r.sequence == 1 && r.time == 0) {
		return fmt.Errorf("batch_axis %d and time_axis %d of %s must be 0 and 1 in some order", r.sequence, r.time, graph.ShapeText(in.Shape))
	}
	if graph.IsRows(in.Shape[r.time]) {
		return fmt.Errorf("mixes rows: it reverses the rows, axis %d of %s", r.time, graph.ShapeText(in.Shape))
	}
	if err := positions(c, 1); err != nil {
		return err
	}
	if len(lengths.Shape) != 1 || lengths.Shape[0] != in.Shape[r.sequence] {
		return fmt.Errorf("lengths of shape %s for the sequences of %s", graph.ShapeText(lengths.Shape), graph.ShapeText(in.Shape))
	}
	if lengths.Const != nil {
		for _, n := range lengths.Const.I {
			if n < 0 || n > int64(in.Shape[r.time]) {
				return r.outside(n, in.Shape[r.time])
			}
		}
	}
	c.Resolved = r
	return c.Set(0, in.Type, in.Shape)
}

func (r reversed) outside(n int64, size int) error {
	return fmt.Errorf("a sequence of length %d along axis %d of size %d", n, r.time, size)
}

// source is where element e of a tensor of shape d comes from.
func (r reversed) source(e int, d []int, length func(sequence int) int64) int {
	inner := graph.Product(d[2:])
	at := [2]int{e / inner / d[1], e / inner % d[1]}
	if n := int(length(at[r.sequence])); at[r.time] < n {
		at[r.time] = n - 1 - at[r.time]
	}
	return (at[0]*d[1]+at[1])*inner + e%inner
}

func compileReverse[T kernel.Float](n *graph.Node) Step[T] {
	r := n.Resolved.(reversed)
	return func(x *Exec[T]) error {
		in, lengths, out := x.In[0], x.In[1].I, x.Out[0]
		for _, n := range lengths {
			if n < 0 || n > int64(in.Shape[r.time]) {
				return r.outside(n, in.Shape[r.time])
			}
		}
		length := func(i int) int64 { return lengths[i] }
		for e := range out.F {
			out.F[e] = in.F[r.source(e, in.Shape, length)]
		}
		for e := range out.I {
			out.I[e] = in.I[r.source(e, in.Shape, length)]
		}
		return nil
	}
}

// reverseRule: with known lengths a copy; else an element depends on its sequence and
// its length.
func reverseRule(n *graph.Node) Rule {
	r, ok := n.Resolved.(reversed)
	if !ok {
		return opaque(n)
	}
	d, lengths := n.Inputs[0].RowShape(), n.Inputs[1].Const
	if lengths != nil {
		length := func(i int) int64 { return lengths.I[i] }
		return Rule{Linear: true, Cost: 1, Each: func(_, e int, yield Link) { yield(0, r.source(e, d, length), 1) }}
	}
	inner := graph.Product(d[2:])
	return Rule{Cost: 1 + d[r.time], Each: func(_, e int, yield Link) {
		at := [2]int{e / inner / d[1], e / inner % d[1]}
		yield(1, at[r.sequence], 1)
		for k := range d[r.time] {
			at[r.time] = k
			yield(0, (at[0]*d[1]+at[1])*inner+e%inner, 1)
		}
	}}
}
