package graph

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Loops over the batch axis: their body is a function of a row if nothing is carried from
// pass to pass, and is checked once for all rows (lift.go).

var errCarries = errors.New("mixes rows: it carries a value from row to row")

// scanRows expands a Scan over the batch axis.
func (c *checker) scanRows(n *Node, g *onnxpb.GraphProto, s *scanNode, l *unrolled) error {
	directions := slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.backwards, s.outBackwards))))
	if len(directions) > 1 {
		return errors.New("mixes rows: it reverses their order")
	}
	args := slices.Clone(l.state)
	for k, v := range s.sequences {
		row, err := c.rowOf(n, v, int(s.axes[k]))
		if err != nil {
			return err
		}
		args = append(args, row)
	}
	outs, err := c.body(n, g, "", args)
	if err != nil {
		return err
	}
	for k, v := range l.state {
		if !sameValue(outs[k], v) {
			return errCarries
		}
		c.bind(n, k, v)
	}
	for k, v := range outs[len(l.state):] {
		if v, err = c.stackRows(n, v, s.outAxes[k]); err != nil {
			return err
		}
		c.bind(n, len(l.state)+k, v)
	}
	return nil
}

// sameValue reports whether v is of, copied or not.
func sameValue(v, of *Value) bool {
	for v != of && v != nil && v.Producer != nil && v.Producer.Op == "Identity" && v.Producer.Domain == "" {
		v = v.Producer.Inputs[0]
	}
	return v == of || v != nil && of != nil && v.Const.sharesWith(of.Const)
}

// sharesWith reports whether two constants are the same memory, as the copy is that
// folding an Identity makes.
func (t *Tensor) sharesWith(o *Tensor) bool {
	if t == nil || o == nil || t.Type != o.Type || !slices.Equal(t.Shape, o.Shape) || len(t.F) != len(o.F) || len(t.I) != len(o.I) {
		return false
	}
	return (len(t.F) == 0 || &t.F[0] == &o.F[0]) && (len(t.I) == 0 || &t.I[0] == &o.I[0])
}

// rowOf is v, whose batch axis is at, as each row sees it: lifted.
func (c *checker) rowOf(n *Node, v *Value, at int) (*Value, error) {
	perm := []int64{int64(at)}
	for i := range v.Shape {
		if i != at {
			perm = append(perm, int64(i))
		}
	}
	row, err := c.applyPlain(n, "Transpose", map[string]Attr{"perm": {Ints: perm}}, v)
	if err == nil {
		c.lifted[row] = true
	}
	return row, err
}

// stackRows is what a row gives, for all rows, along a new axis.
func (c *checker) stackRows(n *Node, v *Value, axis int64) (*Value, error) {
	rank := c.rank(v)
	at, err := Axis(axis, rank+1)
	if err != nil {
		return nil, err
	}
	if !c.lifted[v] {
		if v.BatchAxis() >= 0 {
			return nil, errors.New("mixes rows: each row gives all rows")
		}
		if v, err = c.repeatForRows(n, v); err != nil {
			return nil, err
		}
	}
	if at == 0 {
		return c.applyPlain(n, "Identity", nil, v)
	}
	var perm []int64
	for i := range rank {
		perm = append(perm, int64(i+1))
	}
	return c.applyPlain(n, "Transpose", map[string]Attr{"perm": {Ints: slices.Insert(perm, at, 0)}}, v)
}

// repeatForRows is a constant once for each row, along a new first axis.
func (c *checker) repeatForRows(n *Node, v *Value) (*Value, error) {
	shape := c.shapeOf(n, &Value{Shape: append([]int{Batch}, v.Shape...)})
	return c.applyPlain(n, "Expand", nil, v, shape)
}

// countsRows reports whether a Loop makes as many passes as there are rows.
func (c *checker) countsRows(n *Node) bool {
	if n.Inputs[0] == nil {
		return false
	}
	s, ok := c.sizes[n.Inputs[0]]
	return ok && len(s.D) == 1 && s.D[0] == Size{K: 1, Rows: true}
}

// loopOverRows expands a Loop with a pass for each row: the body picks the row by the
// number of the pass, and its values go to scan outputs or sequences.
func (c *checker) loopOverRows(n *Node, g *onnxpb.GraphProto, l *unrolled) error {
	index := c.rowNumber(n)
	state := slices.Clone(l.state)
	args := append([]*Value{index, c.scalar(n, Bool, 1)}, state...)
	outs, err := c.body(n, g, "", args)
	if err != nil {
		return err
	}
	for _, v := range []*Value{n.Inputs[1], outs[0]} {
		if v == nil || v == args[1] {
			continue
		}
		if going, err := c.truth(v); err != nil {
			return loopError(err)
		} else if !going {
			return errors.New("stops before the last row: what a row gives would depend on the others")
		}
	}
	outs = outs[1:]
	for k, v := range state {
		if !sameValue(outs[k], v) {
			if v, err = c.gathered(n, v, outs[k]); err != nil {
				return err
			}
		}
		c.bind(n, k, v)
	}
	for k, v := range outs[len(state):] {
		if v, err = c.stackRows(n, v, 0); err != nil {
			return err
		}
		c.bind(n, len(state)+k, v)
	}
	return nil
}

// rowNumber is the number of the row in a body that runs once for each row.
func (c *checker) rowNumber(n *Node) *Value {
	v := &Value{Name: c.unique(n.Name + "/row"), inner: true}
	c.rowNumbers[v] = true
	return v
}

// numbersRows reports whether a Range counts on from row to row, over as many numbers for each.
func (c *checker) numbersRows(n *Node) bool {
	if len(n.Inputs) != 3 || slices.Contains(n.Inputs, nil) {
		return false
	}
	var d [3]Size
	for i, v := range n.Inputs {
		s, ok := c.SizesOf(v)
		if !ok || len(s.D) != 1 {
			return false
		}
		d[i] = s.D[0]
	}
	first, limit, step := d[0], d[1], d[2]
	return limit.Rows && !first.Rows && !step.Rows && step.K > 0 && 0 <= first.K && first.K < step.K && limit.K%step.K == 0 && limit.K/step.K <= maxEachRow
}

// gathered is the sequence of what each row has appended to an empty one.
func (c *checker) gathered(n *Node, before, after *Value) (*Value, error) {
	a, b := c.sequences[before], c.sequences[after]
	if a == nil || b == nil || len(a.items) != 0 || len(b.items) != 1 || a.optional || b.optional || b.ofRows {
		return nil, errCarries
	}
	v := &Value{Name: c.unique(n.Name + "/sequence"), inner: true}
	c.sequences[v] = &sequence{items: b.items, ofRows: true}
	return v, nil
}

// pickRow is a Gather that reads the row by its number; done is false if n is none.
func (c *checker) pickRow(n *Node) (done bool, err error) {
	if n.Op != "Gather" || n.Domain != "" || len(n.Inputs) != 2 || n.Inputs[0] == nil || n.Inputs[1] == nil || !c.rowNumbers[n.Inputs[1]] {
		return false, nil
	}
	if err := c.decodeAttributes(n); err != nil {
		return false, err
	}
	x := n.Inputs[0]
	at, err := Axis(n.AttrInt("axis", 0), len(x.Shape))
	if err == nil && (c.lifted[x] || x.BatchAxis() != at) {
		err = fmt.Errorf("reads element %q of an axis that holds no rows: what a row gives would depend on its position", n.Inputs[1].Name)
	}
	if err != nil {
		return false, within(n, err)
	}
	row, err := c.rowOf(n, x, at)
	if err != nil {
		return false, within(n, err)
	}
	c.bind(n, 0, row)
	return true, nil
}

// joinRows is ConcatFromSequence of what each row has given.
func (c *checker) joinRows(n *Node, each []*Value, axis int64, stack bool) (*Value, error) {
	v := each[0]
	if stack {
		return c.stackRows(n, v, axis)
	}
	at, err := Axis(axis, c.rank(v))
	if err != nil {
		return nil, err
	}
	if !c.lifted[v] || v.Shape[at+1] != 1 {
		return nil, errors.New("mixes rows: it joins several elements of each row along the axis of the rows")
	}
	one, err := c.applyPlain(n, "Squeeze", nil, v, c.integers(n, int64(at+1)))
	if err != nil {
		return nil, err
	}
	c.lifted[one] = true
	return c.stackRows(n, one, int64(at))
}

// scan8 expands a Scan of opset 8, which runs on its own for each row: the first axis of
// all tensors holds the rows, the second one the sequence.
func (c *checker) scan8(n *Node) error {
	g, err := c.subgraph(n, "body")
	if err != nil {
		return err
	}
	if len(n.Inputs) == 0 || n.Inputs[0] != nil {
		return errors.New("is given lengths of its sequences, which is not supported; export it without them, or with opset 9 or later")
	}
	count := n.AttrInt("num_scan_inputs", 0)
	carried := len(n.Inputs) - 1 - int(count)
	if count < 1 || carried < 0 || len(g.Output) < carried {
		return fmt.Errorf("attribute \"num_scan_inputs\" is %d, and it has %d inputs, its subgraph %d outputs", count, len(n.Inputs), len(g.Output))
	}
	l := &unrolled{checker: c, node: n, scans: make([][]*Value, len(g.Output)-carried)}
	var rows []*Value
	for i, v := range n.Inputs[1:] {
		if v == nil || v.Type == 0 || c.lifted[v] || len(v.Shape) < 2 && i >= carried || len(v.Shape) < 1 || v.BatchAxis() > 0 {
			return fmt.Errorf("input %d is no tensor with the rows on its first axis", i+1)
		}
		row, err := c.rowOf(n, v, 0)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	l.state = rows[:carried:carried]
	backwards := n.Attrs["directions"].Ints
	length := rows[carried].Shape[1]
	for i := range length {
		args := slices.Clone(l.state)
		for k, v := range rows[carried:] {
			at := i
			if k < len(backwards) && backwards[k] != 0 {
				at = length - 1 - i
			}
			if v.Shape[1] != length {
				return fmt.Errorf("its sequences have lengths %d and %d", length, v.Shape[1])
			}
			e, err := c.pick(n, v, 0, at)
			if err != nil {
				return err
			}
			args = append(args, e)
		}
		outs, err := c.body(n, g, passLabel(i), args)
		if err != nil {
			return err
		}
		l.pass(outs)
	}
	if err := l.bind(nil, nil); err != nil {
		return err
	}
	for _, out := range n.Outputs {
		if v := c.resolve(out); v != nil && v.Type != 0 && !c.lifted[v] {
			return fmt.Errorf("output %q is the same for all rows, which is not followed", out.Name)
		}
	}
	for _, out := range n.Outputs {
		delete(c.lifted, c.resolve(out))
	}
	return nil
}
