package graph

import (
	"fmt"
	"slices"
)

// scatterOwnRow writes to places of the row itself: the rows as lines of numbers, and the
// places in them. Where a mask chooses rows, only theirs are written.
func (c *checker) scatterOwnRow(n *Node, mask *Value) error {
	x, index, updates := n.Inputs[0], n.Inputs[1], n.Inputs[2]
	if len(x.Shape) == 0 || len(index.Shape) == 0 || len(updates.Shape) == 0 || !IsRows(x.Shape[0]) || !IsRows(index.Shape[0]) || updates.Shape[0] != index.Shape[0] {
		return c.otherRows(n)
	}
	outer, inner := AroundRows(x.Shape[0])
	before, _ := AroundRows(index.Shape[0])
	tuple := 1
	switch {
	case n.Op == "ScatterND":
		if tuple = index.Shape[len(index.Shape)-1]; len(index.Shape) < 2 {
			return c.otherRows(n)
		}
	case n.AttrInt("axis", 0) != 0 && n.AttrInt("axis", 0) != -int64(len(x.Shape)) || !slices.Equal(index.Shape[1:], x.Shape[1:]):
		return c.otherRows(n)
	}
	if outer != 1 || before != 1 || tuple < 1 || tuple > len(x.Shape) || inner > 1 && (tuple > 1 || len(x.Shape) > 1) || !c.ownRows[index].within(0, tuple, inner, inner == 1) {
		return c.otherRows(n)
	}
	y, err := c.writtenRow(n, tuple, mask)
	if err != nil {
		return within(n, err)
	}
	c.bind(n, 0, y)
	return nil
}

func (c *checker) writtenRow(n *Node, tuple int, mask *Value) (y *Value, err error) {
	x := n.Inputs[0]
	index, err := c.rowsApart(n, n.Inputs[1])
	if err != nil {
		return nil, err
	}
	updates, err := c.rowsApart(n, n.Inputs[2])
	if err != nil {
		return nil, err
	}
	_, inner := AroundRows(x.Shape[0])
	if tuple == 1 && inner == 1 {
		return c.writtenWhole(n, x, updates, mask)
	}
	k, err := c.applyPlain(n, "Identity", nil, index)
	if err != nil {
		return nil, err
	}
	delete(c.ownRows, k) // what follows reads the distance to the row's first
	named, run := []int{inner}, 1
	if tuple > 1 {
		named, run = x.Shape[1:tuple], Product(x.Shape[tuple:])
		if k, err = c.behindRow(n, k, tuple); err != nil {
			return nil, err
		}
	} else if k, err = c.shaped(n, k, []int{Batch, k.Width(), 1}); err != nil {
		return nil, err
	}
	if k, err = c.placesInLine(n, k, named, run, tuple > 1); err != nil {
		return nil, err
	}
	line := func(v *Value) (*Value, error) { return c.shaped(n, v, []int{Batch, v.Width()}) }
	parts := []*Value{x, k, updates}
	for i, v := range parts {
		if parts[i], err = line(v); err != nil {
			return nil, err
		}
	}
	if mask == nil {
		y, err = c.scattered(n, parts...)
	} else if mask, err = c.maskOver(n, mask, parts[1].Width()); err == nil {
		y, err = c.scatteredWhere(n, mask, parts)
	}
	if err != nil {
		return nil, err
	}
	return c.shaped(n, y, x.Shape)
}

// placesInLine are the places that tuples k name in a row of axes named, each of run numbers.
// Positions count from the end if they are negative, unless these are other rows'.
func (c *checker) placesInLine(n *Node, k *Value, named []int, run int, fromEnd bool) (*Value, error) {
	strides, sizes := make([]int64, len(named)), make([]int64, len(named))
	for i, p := len(named)-1, run; i >= 0; i-- {
		strides[i], sizes[i] = int64(p), int64(named[i])
		p *= named[i]
	}
	low, err := c.applyPlain(n, "Less", nil, k, c.scalar(n, k.Type, 0))
	if err != nil {
		return nil, err
	}
	from := c.scalar(n, k.Type, 1<<31-1)
	if fromEnd {
		if from, err = c.applyPlain(n, "Add", nil, k, c.own(n, &Tensor{Type: k.Type, Shape: []int{len(sizes)}, I: sizes})); err != nil {
			return nil, err
		}
	}
	if k, err = c.applyPlain(n, "Where", nil, low, from, k); err != nil {
		return nil, err
	}
	if k, err = c.applyPlain(n, "Mul", nil, k, c.own(n, &Tensor{Type: k.Type, Shape: []int{len(strides)}, I: strides})); err != nil {
		return nil, err
	}
	if k, err = c.applyPlain(n, "ReduceSum", map[string]Attr{"keepdims": {Int: 1}}, k, c.integers(n, -1)); err != nil {
		return nil, err
	}
	along := &Tensor{Type: k.Type, Shape: []int{run}}
	for i := range run {
		along.I = append(along.I, int64(i))
	}
	return c.applyPlain(n, "Add", nil, k, c.own(n, along))
}

// joins are the operators that a reduction of updates comes to.
var joins = map[string]string{"": "", "none": "", "add": "Add", "mul": "Mul", "max": "Max", "min": "Min"}

// maxTimes bounds how often a row is written whole without being added up.
const maxTimes = 64

// writtenWhole: the updates [N, times..., row] are whole rows, written one after another.
func (c *checker) writtenWhole(n *Node, x, updates, mask *Value) (y *Value, err error) {
	join, known := joins[n.Attrs["reduction"].String]
	times := updates.Width() / max(x.Width(), 1)
	if !known || times > maxTimes && join != "Add" || times*x.Width() != updates.Width() {
		return nil, fmt.Errorf("writes a row %d times, by its number, which is not followed", times)
	}
	if updates, err = c.shaped(n, updates, slices.Concat([]int{Batch, times}, x.Shape[1:])); err != nil {
		return nil, err
	}
	if join == "Add" && times > 1 {
		if mask != nil {
			if updates, err = c.whereRows(n, mask, updates, nil, 2); err != nil {
				return nil, err
			}
		}
		if updates, err = c.applyPlain(n, "ReduceSum", map[string]Attr{"keepdims": {Int: 0}}, updates, c.integers(n, 1)); err != nil {
			return nil, err
		}
		return c.applyPlain(n, join, nil, x, updates)
	}
	var masks *Value
	if mask != nil {
		if masks, err = c.maskOver(n, mask, times); err != nil {
			return nil, err
		}
	}
	for i := range times {
		if y, err = c.applyPlain(n, "Gather", map[string]Attr{"axis": {Int: 1}}, updates, c.scalar(n, Int64, int64(i))); err != nil {
			return nil, err
		}
		if join != "" {
			if y, err = c.applyPlain(n, join, nil, x, y); err != nil {
				return nil, err
			}
		}
		if mask != nil {
			if mask, err = c.applyPlain(n, "Gather", map[string]Attr{"axis": {Int: 1}}, masks, c.scalar(n, Int64, int64(i))); err != nil {
				return nil, err
			}
			if y, err = c.whereRows(n, mask, y, x, 1); err != nil {
				return nil, err
			}
		}
		x = y
	}
	return x, nil
}

// scattered writes along lines.
func (c *checker) scattered(n *Node, lines ...*Value) (*Value, error) {
	attrs := map[string]Attr{"axis": {Int: 1}}
	if r, ok := n.Attrs["reduction"]; ok {
		attrs["reduction"] = r
	}
	return c.add(n, "ScatterElements", attrs, lines, func(own *Node) error {
		own.Version = 18
		return c.plain(own, c.ops.Find(own.Op))
	})
}

// scatteredWhere writes, along lines x, those updates that a mask of their shape chooses. Where
// the places are known, it is a choice between two numbers at each; where not, others go to
// one more place behind the line.
func (c *checker) scatteredWhere(n *Node, mask *Value, lines []*Value) (y *Value, err error) {
	x, k, updates := lines[0], lines[1], lines[2]
	if t := c.ofEachRow(k); t != nil && joins[n.Attrs["reduction"].String] == "" && distinctNumbers(t.I) {
		inOrder := len(t.I) == x.Width()
		for i, at := range t.I {
			inOrder = inOrder && at == int64(i)
		}
		if inOrder {
			return c.applyPlain(n, "Where", nil, mask, updates, x)
		}
		none := c.own(n, &Tensor{Type: Bool, Shape: []int{1, x.Width()}, I: make([]int64, x.Width())})
		if none, err = c.applyPlain(n, "Expand", nil, none, c.sizeVector(n, Size{K: 1, Rows: true}, Size{K: int64(x.Width())})); err != nil {
			return nil, err
		}
		if mask, err = c.scattered(n, none, k, mask); err != nil {
			return nil, err
		}
		if y, err = c.scattered(n, x, k, updates); err != nil {
			return nil, err
		}
		return c.applyPlain(n, "Where", nil, mask, y, x)
	}
	behind := int64(x.Width())
	if k, err = c.applyPlain(n, "Where", nil, mask, k, c.scalar(n, k.Type, behind)); err != nil {
		return nil, err
	}
	place, err := c.applyPlain(n, "Expand", nil, c.own(n, zeroTensor(x.Type)), c.sizeVector(n, Size{K: 1, Rows: true}, Size{K: 1}))
	if err != nil {
		return nil, err
	}
	if x, err = c.applyPlain(n, "Concat", map[string]Attr{"axis": {Int: 1}}, x, place); err != nil {
		return nil, err
	}
	if y, err = c.scattered(n, x, k, updates); err != nil {
		return nil, err
	}
	return c.applyPlain(n, "Slice", nil, y, c.integers(n, 0), c.integers(n, behind), c.integers(n, 1))
}

// zeroTensor is one 0 of that type, of shape [1, 1].
func zeroTensor(t DType) *Tensor {
	z := &Tensor{Type: t, Shape: []int{1, 1}}
	z.allocate(1)
	return z
}

func distinctNumbers(list []int64) bool {
	sorted := slices.Sorted(slices.Values(list))
	return len(slices.Compact(sorted)) == len(list)
}
