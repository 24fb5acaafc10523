package operator

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// gatherNDOps pick slices at tuples of positions.
func gatherNDOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "GatherND", Versions: []int{11, 12, 13}, Min: 2, Max: 2, Outputs: 1, Check: checkGatherND, Moves: movesFirst},
			Rule: gatherNDRule, Compile: compileGatherND[T]},
	}
}

// tuples says how a tensor is addressed by tuples of positions: its axes are shared with
// the indices (the first of them), then named by the tuples, then copied whole.
type tuples struct {
	shared, named int
	known         *graph.Tensor // of a row, where all rows have the same; nil: not known
}

// positions requires input i to be integers.
func positions(c *graph.Check, i int) error {
	if v := c.Inputs[i]; v.Type.Floating() || v.Type == graph.Bool {
		return fmt.Errorf("indices must be integers, are %s", v.Type)
	}
	return nil
}

// readTuples checks tuples, the last axis of input 1, that name axes of input 0 behind
// the shared ones, and the positions as far as they are known.
func readTuples(c *graph.Check, shared int64) (tuples, error) {
	in, index := c.Inputs[0].Shape, c.Inputs[1].Shape
	if err := positions(c, 1); err != nil {
		return tuples{}, err
	}
	if len(index) == 0 || len(in) == 0 {
		return tuples{}, fmt.Errorf("needs a tensor and indices with axes, has %s and %s", graph.ShapeText(in), graph.ShapeText(index))
	}
	named := index[len(index)-1]
	if shared < 0 || shared >= int64(min(len(in), len(index))) || named < 1 || int64(named) > int64(len(in))-shared {
		return tuples{}, fmt.Errorf("indices %s with %d batch axes do not address %s", graph.ShapeText(index), shared, graph.ShapeText(in))
	}
	u := tuples{int(shared), named, c.EachRow(1)}
	if !slices.Equal(in[:u.shared], index[:u.shared]) {
		return tuples{}, fmt.Errorf("the first %d axes of %s and %s differ", u.shared, graph.ShapeText(in), graph.ShapeText(index))
	}
	axes := in[u.shared : u.shared+named]
	if at := graph.RowsIn(axes); at >= 0 {
		return tuples{}, fmt.Errorf("mixes rows: its indices name rows, the batch axis %d of %s", u.shared+at, graph.ShapeText(in))
	}
	if k := u.known; k != nil {
		for i, p := range k.I {
			if _, err := position(p, axes[i%named]); err != nil {
				return tuples{}, fmt.Errorf("axis %d of the tensor: %w", u.shared+i%named, err)
			}
		}
	}
	return u, nil
}

// position counts from the end if it is negative.
func position(p int64, size int) (int, error) {
	if p < int64(-size) || p >= int64(size) {
		return 0, fmt.Errorf("index %d is outside an axis of size %d", p, size)
	}
	if p < 0 {
		p += int64(size)
	}
	return int(p), nil
}

// offset is the place that a tuple names among axes of those sizes, row-major.
func offset(tuple []int64, axes []int) (int, error) {
	at := 0
	for i, p := range tuple {
		k, err := position(p, axes[i])
		if err != nil {
			return 0, err
		}
		at = at*axes[i] + k
	}
	return at, nil
}

func checkGatherND(c *graph.Check) error {
	u, err := readTuples(c, c.AttrInt("batch_dims", 0))
	if err != nil {
		return err
	}
	in, index := c.Inputs[0], c.Inputs[1].Shape
	c.Resolved = u
	return c.Set(0, in.Type, slices.Concat(index[:len(index)-1], in.Shape[u.shared+u.named:]))
}

func compileGatherND[T kernel.Float](n *graph.Node) Step[T] {
	u := n.Resolved.(tuples)
	return func(x *Exec[T]) error {
		in, index, out := x.In[0], x.In[1], x.Out[0]
		axes := in.Shape[u.shared : u.shared+u.named]
		inner := graph.Product(in.Shape[u.shared+u.named:])
		block := graph.Product(axes) // of slices, for each index of the shared axes
		per := graph.Product(index.Shape[u.shared : len(index.Shape)-1])
		for i := range graph.Product(index.Shape[:len(index.Shape)-1]) {
			k, err := offset(index.I[i*u.named:(i+1)*u.named], axes)
			if err != nil {
				return err
			}
			from := (i/per*block + k) * inner
			if out.F != nil {
				copy(out.F[i*inner:(i+1)*inner], in.F[from:])
			} else {
				copy(out.I[i*inner:(i+1)*inner], in.I[from:])
			}
		}
		return nil
	}
}

// gatherNDRule: with known positions a copy; from a constant table an element depends on
// its tuple; else on its tuple and on all that it may name.
func gatherNDRule(n *graph.Node) Rule {
	u, ok := n.Resolved.(tuples)
	if !ok {
		return opaque(n)
	}
	table, pos := n.Inputs[0], n.Inputs[1]
	in, index := table.RowShape(), pos.RowShape()
	axes := in[u.shared : u.shared+u.named]
	inner, block := graph.Product(in[u.shared+u.named:]), graph.Product(axes)
	per := graph.Product(index[u.shared : len(index)-1])
	if u.known != nil {
		return Rule{Linear: true, Cost: 1, Each: func(_, e int, yield Link) {
			i := e / inner
			k, _ := offset(u.known.I[i*u.named:(i+1)*u.named], axes) // checked
			yield(0, (i/per*block+k)*inner+e%inner, 1)
		}}
	}
	cost := u.named
	if table.Const == nil {
		cost += block
	}
	return Rule{Cost: cost, Each: func(_, e int, yield Link) {
		i := e / inner
		for k := range u.named {
			yield(1, i*u.named+k, 1)
		}
		if table.Const != nil {
			return
		}
		for k := range block {
			yield(0, (i/per*block+k)*inner+e%inner, 1)
		}
	}}
}
