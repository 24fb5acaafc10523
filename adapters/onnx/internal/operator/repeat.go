package operator

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/kernel"
)

// repeatOps copy elements along axes.
func repeatOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Expand", Texts: true, Versions: []int{8, 13}, Min: 2, Max: 2, Outputs: 1, Check: checkExpand, SizeInputs: []int{1}, Moves: movesFirst},
			Rule: expandRule, Compile: compileExpand[T]},
		{Operator: graph.Operator{Name: "Tile", Texts: true, Versions: []int{6, 13}, Min: 2, Max: 2, Outputs: 1, Check: checkTile, Moves: movesFirst},
			Rule: tileRule, Compile: compileTile[T]},
	}
}

// expandRule: Expand.
func expandRule(n *graph.Node) Rule {
	at, ok := broadcastIndex(n.Inputs[0].RowShape(), n.Outputs[0].RowShape())
	if !ok {
		return opaque(n)
	}
	return Rule{Linear: true, Cost: 1, Each: func(_, e int, yield Link) { yield(0, at(e), 1) }}
}

// tileRule repeats the input along its axes.
func tileRule(n *graph.Node) Rule {
	in, out := n.Inputs[0].RowShape(), n.Outputs[0].RowShape()
	if len(in) != len(out) || graph.Product(in) == 0 {
		return opaque(n)
	}
	stride, c := rowMajor(in), make([]int, len(out))
	return Rule{Linear: true, Cost: 1, Each: func(_, e int, yield Link) {
		unravel(e, out, c)
		j := 0
		for i, k := range c {
			j += k % in[i] * stride[i]
		}
		yield(0, j, 1)
	}}
}

// targetShape reads input i as sizes in which N may stand for the batch axis.
func targetShape(c *graph.Check, i int) ([]int, error) {
	s, ok := c.SizesOf(c.Inputs[i])
	if !ok || len(s.Shape) > 1 {
		return nil, fmt.Errorf("the shape (%q) must be known at load", c.Inputs[i].Name)
	}
	if len(s.D) > graph.MaxRank {
		return nil, fmt.Errorf("a shape of %d axes; at most %d are supported", len(s.D), graph.MaxRank)
	}
	out := []int{}
	for _, d := range s.D {
		switch {
		case d.Rows && d.K == 1:
			out = append(out, graph.Batch)
		case d.Rows:
			return nil, fmt.Errorf("mixes rows: an axis of %d times the number of rows", d.K)
		case d.K < 0 || d.K > 1<<40:
			return nil, fmt.Errorf("impossible size %d", d.K)
		default:
			out = append(out, int(d.K))
		}
	}
	return out, nil
}

func checkExpand(c *graph.Check) error {
	target, err := targetShape(c, 1)
	if err != nil {
		return err
	}
	out, err := graph.Broadcast(c.Inputs[0].Shape, target)
	if err != nil {
		return err
	}
	return c.Set(0, c.Inputs[0].Type, out)
}

func compileExpand[T kernel.Float](*graph.Node) Step[T] {
	return func(x *Exec[T]) error {
		var b1, b2 [graph.MaxRank]int
		in, out := x.In[0], x.Out[0]
		dense, stride := denseStrides(b1[:0], in.Shape), b2[:len(out.Shape)]
		for i := range stride {
			stride[i] = 0
			if j := i - len(out.Shape) + len(in.Shape); j >= 0 && in.Shape[j] != 1 {
				stride[i] = dense[j]
			}
		}
		stridedTensor(out, in, 0, stride)
		return nil
	}
}

func checkTile(c *graph.Check) error {
	repeats, err := c.Ints(1)
	if err != nil {
		return err
	}
	in := c.Inputs[0].Shape
	if len(repeats) != len(in) {
		return fmt.Errorf("%d repeats for %d axes", len(repeats), len(in))
	}
	out := slices.Clone(in)
	for i, r := range repeats {
		switch {
		case in[i] == graph.Batch && r != 1:
			return fmt.Errorf("mixes rows: it repeats the batch axis %d", i)
		case r < 0 || r > 1<<40:
			return fmt.Errorf("impossible repeat %d", r)
		case in[i] != graph.Batch:
			if r != 0 && in[i] > math.MaxInt/int(r) {
				return fmt.Errorf("the output overflows")
			}
			out[i] *= int(r)
		}
	}
	return c.Set(0, c.Inputs[0].Type, out)
}

func compileTile[T kernel.Float](*graph.Node) Step[T] {
	return func(x *Exec[T]) error {
		in, out := x.In[0], x.Out[0]
		var at [graph.MaxRank]int
		var buf [graph.MaxRank]int
		dense := denseStrides(buf[:0], in.Shape)
		for o := range graph.Product(out.Shape) {
			from := 0
			for i := range dense {
				from += at[i] % in.Shape[i] * dense[i]
			}
			if out.F != nil {
				out.F[o] = in.F[from]
			} else {
				out.I[o] = in.I[from]
			}
			for i := len(dense) - 1; i >= 0; i-- {
				if at[i]++; at[i] < out.Shape[i] {
					break
				}
				at[i] = 0
			}
		}
		return nil
	}
}
