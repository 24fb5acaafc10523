package operator

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/kernel"
)

// padOps surround a tensor.
func padOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Pad", Versions: []int{2, 11, 13, 18, 19, 21, 23, 24, 25}, Min: 1, Max: 4, Outputs: 1, AnyLayout: true, Check: checkPad},
			Rule: padRule, Compile: compilePad[T]},
	}
}

// padSizes is the elements a Pad adds before each axis, then those after.
func padSizes(c *graph.Check) ([]int64, error) {
	rank := len(c.Inputs[0].Shape)
	pads := c.Attrs["pads"].Ints
	var axes []int64
	if c.Version >= 11 {
		if !c.Has(1) {
			return nil, fmt.Errorf("has no pads")
		}
		var err error
		if pads, err = c.Ints(1); err != nil {
			return nil, err
		}
		if c.Has(3) {
			if axes, err = c.Ints(3); err != nil {
				return nil, err
			}
		}
	}
	if axes == nil {
		for i := range rank {
			axes = append(axes, int64(i))
		}
	}
	if _, err := graph.AxisSet(axes, rank); err != nil {
		return nil, err
	}
	if len(pads) != 2*len(axes) {
		return nil, fmt.Errorf("%d pads for %d axes", len(pads), len(axes))
	}
	all := make([]int64, 2*rank)
	for i, a := range axes {
		k, _ := graph.Axis(a, rank)
		all[k], all[rank+k] = pads[i], pads[len(axes)+i]
	}
	return all, nil
}

func checkPad(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	if mode := c.Attrs["mode"].String; mode != "" && mode != "constant" {
		return fmt.Errorf("mode %q is not supported", mode)
	}
	pads, err := padSizes(c)
	if err != nil {
		return err
	}
	if c.Version >= 11 && c.Has(2) {
		if v := c.Inputs[2].Const; v == nil || len(v.F) != 1 {
			return fmt.Errorf("the padding value (%q) must be a constant scalar", c.Inputs[2].Name)
		}
	}
	in := c.Inputs[0].Shape
	out := slices.Clone(in)
	for i, d := range in {
		before, after := pads[i], pads[len(in)+i]
		if graph.IsRows(d) {
			if before != 0 || after != 0 {
				return fmt.Errorf("mixes rows: it pads the batch axis %d", i)
			}
			continue
		}
		if before < 0 || after < 0 || before > math.MaxInt32 || after > math.MaxInt32 {
			return fmt.Errorf("pads %v must not be negative or huge", pads)
		}
		out[i] += int(before + after)
	}
	c.Resolved = pads
	return c.Set(0, c.Inputs[0].Type, out)
}

func compilePad[T kernel.Float](n *graph.Node) Step[T] {
	pads := n.Resolved.([]int64)
	value := T(n.AttrFloat("value", 0))
	if n.Version >= 11 {
		if value = 0; len(n.Inputs) > 2 && n.Inputs[2] != nil {
			value = T(n.Inputs[2].Const.F[0])
		}
	}
	return func(x *Exec[T]) error {
		in, out := x.In[0], x.Out[0]
		for i := range out.F {
			out.F[i] = value
		}
		rank := len(in.Shape)
		if rank == 0 {
			copy(out.F, in.F)
			return nil
		}
		if len(in.F) == 0 {
			return nil
		}
		var b1, at [graph.MaxRank]int
		stride := denseStrides(b1[:0], out.Shape)
		to := 0
		for i, s := range stride {
			to += s * int(pads[i])
		}
		run := in.Shape[rank-1]
		for from := 0; from < len(in.F); from += run {
			copy(out.F[to:to+run], in.F[from:])
			for i := rank - 2; i >= 0; i-- {
				at[i]++
				to += stride[i]
				if at[i] < in.Shape[i] {
					break
				}
				to -= stride[i] * in.Shape[i]
				at[i] = 0
			}
		}
		return nil
	}
}

// padRule copies the input into the middle of a constant.
func padRule(n *graph.Node) Rule {
	in, out := n.Inputs[0].RowShape(), n.Outputs[0].RowShape()
	pads, ok := n.Resolved.([]int64)
	if !ok || len(pads) != 2*len(in) || len(out) != len(in) {
		return opaque(n)
	}
	value := n.AttrFloat("value", 0)
	if n.Version >= 11 {
		value = 0
		if len(n.Inputs) > 2 && n.Inputs[2] != nil {
			if n.Inputs[2].Const == nil {
				return opaque(n)
			}
			value = n.Inputs[2].Const.At(0)
		}
	}
	stride, c := rowMajor(in), make([]int, len(out))
	return Rule{Linear: true, Cost: 1, Each: func(_, e int, yield Link) {
		unravel(e, out, c)
		j := 0
		for i, k := range c {
			k -= int(pads[i])
			if k < 0 || k >= in[i] {
				yield(Itself, 0, value)
				return
			}
			j += k * stride[i]
		}
		yield(0, j, 1)
	}}
}
