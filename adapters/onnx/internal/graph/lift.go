package graph

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// A body that runs once for each row (Scan or Loop over the batch axis, Scan before opset
// 9) is checked once for all rows: its values are lifted, the rows being their first
// axis, which the body does not see. lift rewrites the nodes that read such values.

// lift checks n, some of whose inputs are lifted; so are its outputs.
func (c *checker) lift(n *Node, op *Operator) error {
	for _, v := range n.Inputs {
		if v != nil && !c.lifted[v] && v.BatchAxis() >= 0 {
			return within(n, fmt.Errorf("mixes rows: it pairs each row with all rows of %q", v.Name))
		}
	}
	n.Attrs = maps.Clone(n.Attrs)
	if n.Attrs == nil {
		n.Attrs = map[string]Attr{}
	}
	if err := c.seeRows(n); err != nil {
		return within(n, err)
	}
	if err := c.plain(n, op); err != nil {
		return err
	}
	for _, v := range n.Outputs {
		if v != nil && v.Type != 0 {
			c.lifted[v] = true
		}
	}
	return nil
}

func (c *checker) anyLifted(values []*Value) bool {
	return slices.ContainsFunc(values, func(v *Value) bool { return v != nil && c.lifted[v] })
}

// rank is the number of axes that the body sees.
func (c *checker) rank(v *Value) int {
	if c.lifted[v] {
		return len(v.Shape) - 1
	}
	return len(v.Shape)
}

// seeRows changes n so that it does with an axis more what it did without.
func (c *checker) seeRows(n *Node) error {
	if n.Domain == "" {
		switch {
		case c.is(n, Pointwise) && c.lifted[n.Inputs[0]]:
			return nil
		case c.is(n, Broadcasting):
			return c.alignRanks(n)
		case c.is(n, Reducing):
			return c.shiftReduced(n)
		}
		switch n.Op {
		case "Softmax", "LogSoftmax":
			def := int64(-1)
			if n.Version < 13 {
				def = 1
			}
			return c.shiftAxis(n, def)
		case "Concat":
			return c.shiftAllAxes(n)
		case "Gather", "Split", "ArgMax", "ArgMin":
			return c.shiftAxis(n, 0)
		case "Unsqueeze", "Squeeze":
			return c.shiftNamed(n)
		case "Transpose":
			return c.shiftPermutation(n)
		case "Slice":
			return c.shiftSliced(n)
		case "MatMul":
			a, b := n.Inputs[0], n.Inputs[1]
			if c.lifted[a] && (!c.lifted[b] && len(b.Shape) <= 2 || c.lifted[b] && c.rank(a) == c.rank(b) && c.rank(a) >= 2) {
				return nil
			}
		}
	}
	return errors.New("stands in a body that runs once for each row, where it is not followed; export the computation for all rows at once, without a loop or scan over them")
}

// alignRanks gives lifted operands of fewer axes than others axes of size 1 behind the
// rows.
func (c *checker) alignRanks(n *Node) error {
	most := 0
	for _, v := range n.Inputs {
		if v != nil {
			most = max(most, c.rank(v))
		}
	}
	for i, v := range n.Inputs {
		if v == nil || !c.lifted[v] || c.rank(v) == most {
			continue
		}
		var axes []int64
		for a := range most - c.rank(v) {
			axes = append(axes, int64(a+1))
		}
		var err error
		if n.Inputs[i], err = c.applyPlain(n, "Unsqueeze", nil, v, c.integers(n, axes...)); err != nil {
			return err
		}
	}
	return nil
}

// shifted is an axis that the body names, as it is with the rows before it.
func shifted(axes []int64) []int64 {
	out := slices.Clone(axes)
	for i, a := range out {
		if a >= 0 {
			out[i]++
		}
	}
	return out
}

func (c *checker) shiftAxis(n *Node, def int64) error {
	for i, v := range n.Inputs {
		if v != nil && c.lifted[v] != (i == 0) {
			return errors.New("in a body that runs once for each row reads a position that differs from row to row, which is not followed there; export the computation for all rows at once")
		}
	}
	a := n.AttrInt("axis", def)
	if r := int64(c.rank(n.Inputs[0])); a < -r || a >= r {
		return fmt.Errorf("axis %d is outside a tensor of %d axes", a, r)
	}
	n.Attrs["axis"] = Attr{Int: shifted([]int64{a})[0]}
	return nil
}

// shiftAllAxes shifts the axis of a Concat, which cannot join a value of each row with one that is the
// same for all rows.
func (c *checker) shiftAllAxes(n *Node) error {
	for _, v := range n.Inputs {
		if v != nil && !c.lifted[v] {
			return errors.New("in a body that runs once for each row joins values of the row with constants, which is not followed there; export the computation for all rows at once")
		}
	}
	n.Attrs["axis"] = Attr{Int: shifted([]int64{n.AttrInt("axis", 0)})[0]}
	return nil
}

// shiftNamed shifts the axes that a list names, in an attribute or input 1.
func (c *checker) shiftNamed(n *Node) error {
	if a, ok := n.Attrs["axes"]; ok {
		n.Attrs["axes"] = Attr{Ints: shifted(a.Ints)}
		return nil
	}
	if len(n.Inputs) > 1 && n.Inputs[1] != nil && n.Inputs[1].Const != nil && !n.Inputs[1].Type.Floating() {
		n.Inputs[1] = c.integers(n, shifted(n.Inputs[1].Const.I)...)
		return nil
	}
	return errors.New("in a body that runs once for each row names no axes that are known at load")
}

func (c *checker) shiftReduced(n *Node) error {
	if !c.lifted[n.Inputs[0]] || len(n.Inputs) > 1 && n.Inputs[1] != nil && c.lifted[n.Inputs[1]] {
		return errors.New("reduces along axes that are computed from the rows")
	}
	_, named := n.Attrs["axes"]
	if named || len(n.Inputs) > 1 && n.Inputs[1] != nil && len(n.Inputs[1].Shape) == 1 && n.Inputs[1].Shape[0] != 0 {
		return c.shiftNamed(n)
	}
	if n.AttrInt("noop_with_empty_axes", 0) != 0 {
		return nil
	}
	var axes []int64
	for a := range c.rank(n.Inputs[0]) {
		axes = append(axes, int64(a+1))
	}
	if len(axes) == 0 {
		return errors.New("reduces a number in a body that runs once for each row, which is not followed; export the computation for all rows at once")
	}
	if n.Version >= 18 || n.Version >= 13 && n.Op == "ReduceSum" {
		n.Inputs = []*Value{n.Inputs[0], c.integers(n, axes...)}
	} else {
		n.Attrs["axes"] = Attr{Ints: axes}
	}
	return nil
}

func (c *checker) shiftPermutation(n *Node) error {
	r := c.rank(n.Inputs[0])
	perm := n.Attrs["perm"].Ints
	if len(perm) == 0 {
		for i := range r {
			perm = append(perm, int64(r-1-i))
		}
	}
	n.Attrs["perm"] = Attr{Ints: append([]int64{0}, shifted(perm)...)}
	return nil
}

func (c *checker) shiftSliced(n *Node) error {
	if n.Version < 10 || len(n.Inputs) < 3 || n.Inputs[1] == nil || c.anyLifted(n.Inputs[1:]) {
		return errors.New("in a body that runs once for each row slices at positions that are not followed there; export the computation for all rows at once")
	}
	n.Inputs = append(slices.Clone(n.Inputs), nil, nil)[:5]
	if axes := n.Inputs[3]; axes != nil {
		if axes.Const == nil || axes.Type.Floating() {
			return errors.New("slices along axes that are not known at load")
		}
		n.Inputs[3] = c.integers(n, shifted(axes.Const.I)...)
		return nil
	}
	var axes []int64
	for a := range Product(n.Inputs[1].RowShape()) {
		axes = append(axes, int64(a+1))
	}
	n.Inputs[3] = c.integers(n, axes...)
	return nil
}
