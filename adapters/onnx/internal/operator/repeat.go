package operator

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// repeatOps copy elements along axes.
func repeatOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Expand", Is: graph.Affine | graph.Indexing | graph.Sizing, Texts: true, Versions: []int{8, 13}, Min: 2, Max: 2, Outputs: 1, AnyLayout: true, Check: checkExpand, SizeInputs: []int{1}, Moves: movesFirst},
			Rule: expandRule, Compile: compileExpand[T]},
		{Operator: graph.Operator{Name: "Tile", Is: graph.Affine | graph.Indexing | graph.Sizing, Texts: true, Versions: []int{6, 13}, Min: 2, Max: 2, Outputs: 1, AnyLayout: true, SizeInputs: []int{1}, Check: checkTile, Moves: movesFirst},
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

// targetShape reads input i as sizes in which N may stand for the batch axis. A multiple
// of N is laid out as the axis of like, a shape it is broadcast with, or else row after
// row.
func targetShape(c *graph.Check, i int, like []int) ([]int, error) {
	s, ok := c.SizesOf(c.Inputs[i])
	if !ok || len(s.Shape) > 1 {
		return nil, fmt.Errorf("the shape (%q) must be known at load", c.Inputs[i].Name)
	}
	if len(s.D) > graph.MaxRank {
		return nil, fmt.Errorf("a shape of %d axes; at most %d are supported", len(s.D), graph.MaxRank)
	}
	out := []int{}
	for k, d := range s.D {
		switch at := k - len(s.D) + len(like); {
		case d.Rows && at >= 0 && graph.IsRows(like[at]) && int64(graph.PerRow(like[at])) == d.K:
			out = append(out, like[at])
		case d.Rows:
			axis, ok := graph.RowsAxis(1, int(min(max(d.K, 0), math.MaxInt32)))
			if !ok {
				return nil, fmt.Errorf("impossible size of %d times the number of rows", d.K)
			}
			out = append(out, axis)
		case d.K < 0 || d.K > 1<<40:
			return nil, fmt.Errorf("impossible size %d", d.K)
		default:
			out = append(out, int(d.K))
		}
	}
	return out, nil
}

func checkExpand(c *graph.Check) error {
	target, err := targetShape(c, 1, c.Inputs[0].Shape)
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
	repeats, ok := c.SizesOf(c.Inputs[1])
	if !ok || len(repeats.Shape) != 1 {
		return fmt.Errorf("the repeats (%q) must be known at load", c.Inputs[1].Name)
	}
	in := c.Inputs[0].Shape
	if len(repeats.D) != len(in) {
		return fmt.Errorf("%d repeats for %d axes", len(repeats.D), len(in))
	}
	out := slices.Clone(in)
	for i, times := range repeats.D {
		r := times.K
		var err error
		switch {
		case times.Rows:
			if out[i], err = repeatedByRows(in[i], r); err != nil {
				return err
			}
		case r < 0 || r > 1<<40:
			return fmt.Errorf("impossible repeat %d", r)
		case graph.IsRows(in[i]): // all rows, and all again
			outer, inner := graph.AroundRows(in[i])
			if out[i], err = repeatedRows(outer, int(r), inner); err != nil {
				return err
			}
		default:
			if r != 0 && in[i] > math.MaxInt/int(r) {
				return fmt.Errorf("the output overflows")
			}
			out[i] *= int(r)
		}
	}
	return c.Set(0, c.Inputs[0].Type, out)
}

// repeatedRows is a batch axis of outer*N*inner entries the given number of times.
func repeatedRows(outer, times, inner int) (int, error) {
	if hi, _ := bits.Mul64(uint64(outer), uint64(times)); hi == 0 {
		if d, ok := graph.RowsAxis(outer*times, inner); ok {
			return d, nil
		}
	}
	return 0, fmt.Errorf("the batch axis would hold each row %d times as often, at most %d times are supported", times, graph.MaxAround)
}

// repeatedByRows is an axis that is repeated k times for each row: row after row, if it
// holds none itself.
func repeatedByRows(d int, k int64) (int, error) {
	if graph.IsRows(d) {
		return 0, fmt.Errorf("mixes rows: it pairs every row with every row")
	}
	if n, ok := graph.Elements([]int{d, int(min(max(k, 0), graph.MaxAround))}); ok {
		if axis, ok := graph.RowsAxis(1, n); ok {
			return axis, nil
		}
	}
	return 0, fmt.Errorf("an axis of %d is repeated %d times the number of rows", d, k)
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
