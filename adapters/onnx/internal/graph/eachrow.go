package graph

import "slices"

// maxEachRow bounds the numbers of a row that are known to be the same for all rows.
const maxEachRow = 1 << 16

// ofEachRow is what every row holds of v, of the shape of a row, where that is known at load:
// of a constant, of the sizes with one row, of what nodes make of these; nil if it is not.
func (c *checker) ofEachRow(v *Value) *Tensor {
	if v == nil {
		return nil
	}
	if v.Const != nil {
		return v.Const
	}
	if s, ok := c.sizes[v]; ok {
		t := &Tensor{Type: Int64, Shape: s.Shape}
		for _, d := range s.D {
			t.I = append(t.I, d.K)
		}
		return t
	}
	return c.each[v]
}

// EachRow is what every row holds of input i, of the shape of a row, where that is known; nil
// if it is not.
func (c *Check) EachRow(i int) *Tensor { return c.ofEachRow(c.Inputs[i]) }

// noteEachRow notes the output of a node that reads nothing but what is the same for all rows.
func (c *checker) noteEachRow(n *Node, op *Operator) {
	out := n.Outputs[0]
	if op.Is&Indexing == 0 || out == nil || len(n.Outputs) != 1 || out.Const != nil || out.BatchAxis() < 0 || out.Width() > maxEachRow || out.Type == String || op.Replace != nil {
		return
	}
	for _, v := range n.Inputs {
		if v != nil && c.ofEachRow(v) == nil {
			return
		}
	}
	own := *n
	if t := c.onRow(&own, op, func(_ int, v *Value) *Tensor { return c.ofEachRow(v) }); t != nil && slices.Equal(t.Shape, out.RowShape()) {
		c.each[out] = t
	}
}

// onRow runs node n on a single row, with input i given by of, and returns the output; nil if it cannot be computed.
func (c *checker) onRow(n *Node, op *Operator, of func(i int, v *Value) *Tensor) *Tensor {
	own := *n
	own.Resolved, own.Inputs, own.Outputs = nil, nil, []*Value{{Name: n.Name, inner: true}}
	for i, v := range n.Inputs {
		if v == nil {
			own.Inputs = append(own.Inputs, nil)
			continue
		}
		t := of(i, v)
		if t == nil {
			return nil
		}
		own.Inputs = append(own.Inputs, &Value{Name: v.Name, Type: t.Type, Shape: t.Shape, Const: t, inner: true})
	}
	nc := &Check{checker: c, Node: &own}
	if op.Check(nc) != nil || nc.fold(op) != nil {
		return nil
	}
	return own.Outputs[0].Const
}

// withConstants gives an elementwise node constants in the place of inputs that are the same
// for all rows, where another input has the rows, so that its rule knows them.
func (c *checker) withConstants(n *Node) {
	if len(c.each) == 0 || !c.is(n, Broadcasting) {
		return
	}
	place := func(v *Value) int { return len(v.Shape) - v.BatchAxis() } // from the end
	for i, v := range n.Inputs {
		t := c.each[v]
		if v == nil || t == nil || v.Const != nil || v.Shape[v.BatchAxis()] != Batch {
			continue
		}
		if slices.ContainsFunc(n.Inputs, func(o *Value) bool {
			return o != nil && o.Const == nil && c.each[o] == nil && o.BatchAxis() >= 0 && place(o) == place(v) && len(o.Shape) >= len(v.Shape)
		}) {
			n.Inputs[i] = c.own(n, t)
		}
	}
}
