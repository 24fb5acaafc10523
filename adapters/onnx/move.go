package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/internal/kernel"
)

// moveOps pick or surround single elements.
func moveOps[T kernel.Float](t table[T]) {
	t["GatherElements"] = operator[T]{min: 2, max: 2, outputs: 1, infer: inferGatherElements, compile: compileGatherElements[T]}
	t["Pad"] = operator[T]{min: 1, max: 4, outputs: 1, infer: inferPad, compile: compilePad[T]}
	t["CumSum"] = operator[T]{min: 2, max: 2, outputs: 1, infer: inferCumSum, compile: compileCumSum[T]}
}

func inferGatherElements(c *nodeCheck) error {
	in, index := c.Inputs[0], c.Inputs[1]
	if index.Type.Floating() || index.Type == Bool {
		return fmt.Errorf("indices must be integers, are %s", index.Type)
	}
	at, err := axis(c.attrInt("axis", 0), len(in.Shape))
	if err != nil {
		return err
	}
	if len(index.Shape) != len(in.Shape) {
		return fmt.Errorf("indices of shape %s for %s", showShape(index.Shape), showShape(in.Shape))
	}
	for i, d := range in.Shape {
		switch {
		case i == at && (d == Batch || index.Shape[i] == Batch):
			return fmt.Errorf("mixes rows: it picks from the batch axis %d", at)
		case i != at && d != index.Shape[i]:
			return fmt.Errorf("indices of shape %s for %s", showShape(index.Shape), showShape(in.Shape))
		}
	}
	return c.set(0, in.Type, index.Shape)
}

func compileGatherElements[T kernel.Float](n *Node) (step[T], error) {
	at, err := axis(n.attrInt("axis", 0), len(n.Inputs[0].Shape))
	return func(x *exec[T]) error {
		in, index, out := x.in[0], x.in[1], x.out[0]
		size, picks, inner := in.shape[at], index.shape[at], product(in.shape[at+1:])
		for o, k := range index.i {
			if k < 0 {
				k += int64(size)
			}
			if k < 0 || k >= int64(size) {
				return fmt.Errorf("index %d is outside axis %d of size %d", index.i[o], at, size)
			}
			from := (o/(picks*inner)*size+int(k))*inner + o%inner
			if out.f != nil {
				out.f[o] = in.f[from]
			} else {
				out.i[o] = in.i[from]
			}
		}
		return nil
	}, err
}

// padSizes is the elements a Pad adds before each axis, then those after.
func (c *nodeCheck) padSizes() ([]int64, error) {
	rank := len(c.Inputs[0].Shape)
	pads := c.Attrs["pads"].Ints
	var axes []int64
	if c.Version >= 11 {
		if !c.has(1) {
			return nil, fmt.Errorf("has no pads")
		}
		var err error
		if pads, err = c.ints(1); err != nil {
			return nil, err
		}
		if c.has(3) {
			if axes, err = c.ints(3); err != nil {
				return nil, err
			}
		}
	}
	if axes == nil {
		for i := range rank {
			axes = append(axes, int64(i))
		}
	}
	if _, err := axisSet(axes, rank); err != nil {
		return nil, err
	}
	if len(pads) != 2*len(axes) {
		return nil, fmt.Errorf("%d pads for %d axes", len(pads), len(axes))
	}
	all := make([]int64, 2*rank)
	for i, a := range axes {
		k, _ := axis(a, rank)
		all[k], all[rank+k] = pads[i], pads[len(axes)+i]
	}
	return all, nil
}

func inferPad(c *nodeCheck) error {
	if err := c.floating(0); err != nil {
		return err
	}
	if mode := c.Attrs["mode"].String; mode != "" && mode != "constant" {
		return fmt.Errorf("mode %q is not supported", mode)
	}
	pads, err := c.padSizes()
	if err != nil {
		return err
	}
	if c.Version >= 11 && c.has(2) {
		if v := c.Inputs[2].Const; v == nil || len(v.F) != 1 {
			return fmt.Errorf("the padding value (%q) must be a constant scalar", c.Inputs[2].Name)
		}
	}
	in := c.Inputs[0].Shape
	out := slices.Clone(in)
	for i, d := range in {
		before, after := pads[i], pads[len(in)+i]
		if d == Batch {
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
	c.Node.pads = pads
	return c.set(0, c.Inputs[0].Type, out)
}

func compilePad[T kernel.Float](n *Node) (step[T], error) {
	value := T(n.attrFloat("value", 0))
	if n.Version >= 11 {
		if value = 0; len(n.Inputs) > 2 && n.Inputs[2] != nil {
			value = T(n.Inputs[2].Const.F[0])
		}
	}
	return func(x *exec[T]) error {
		in, out := x.in[0], x.out[0]
		for i := range out.f {
			out.f[i] = value
		}
		rank := len(in.shape)
		if rank == 0 {
			copy(out.f, in.f)
			return nil
		}
		if len(in.f) == 0 {
			return nil
		}
		var b1, at [maxRank]int
		stride := denseStrides(b1[:0], out.shape)
		to := 0
		for i, s := range stride {
			to += s * int(n.pads[i])
		}
		run := in.shape[rank-1]
		for from := 0; from < len(in.f); from += run {
			copy(out.f[to:to+run], in.f[from:])
			for i := rank - 2; i >= 0; i-- {
				at[i]++
				to += stride[i]
				if at[i] < in.shape[i] {
					break
				}
				to -= stride[i] * in.shape[i]
				at[i] = 0
			}
		}
		return nil
	}, nil
}

func inferCumSum(c *nodeCheck) error {
	if err := c.floating(0); err != nil {
		return err
	}
	axes, err := c.ints(1)
	if err != nil {
		return err
	}
	if len(axes) != 1 {
		return fmt.Errorf("needs one axis, has %d", len(axes))
	}
	in := c.Inputs[0].Shape
	at, err := axis(axes[0], len(in))
	if err != nil {
		return err
	}
	if in[at] == Batch {
		return fmt.Errorf("mixes rows: it accumulates along the batch axis %d", at)
	}
	if c.attrInt("reverse", 0) != 0 || c.attrInt("exclusive", 0) != 0 {
		return fmt.Errorf("reverse and exclusive sums are not supported")
	}
	return c.set(0, c.Inputs[0].Type, in)
}

func compileCumSum[T kernel.Float](n *Node) (step[T], error) {
	at, err := axis(n.Inputs[1].Const.I[0], len(n.Inputs[0].Shape))
	return func(x *exec[T]) error {
		in, out := x.in[0], x.out[0]
		size, inner := in.shape[at], product(in.shape[at+1:])
		for i, v := range in.f {
			if i/inner%size > 0 {
				v += out.f[i-inner]
			}
			out.f[i] = v
		}
		return nil
	}, err
}
