package graph

import (
	"fmt"
	"slices"
)

// A network may use the number of the row to pick the row itself: h[arange(N), length - 1].
// Such a tensor is followed as its distance to a multiple of the row's number: the value
// that stands in the graph is the same for the first row, and what a row's number adds to
// each of its elements is noted beside it. Nodes that only move or add such numbers are
// followed; what picks from, or writes to, the rows by them does so within its own row.

// ownRow is what is noted beside a tensor of integers v: element e of row i is that of v
// plus steps[e] i. zero says of which elements v is known to be 0.
type ownRow struct {
	steps, other *Tensor // of the shape of a row; other is 0 where v is known to be 0
	lost         error   // not nil: what v is has been lost, and only its shape may be read
}

func (c *checker) anyOwnRow(values []*Value) bool {
	return slices.ContainsFunc(values, func(v *Value) bool { return v != nil && c.ownRows[v] != nil })
}

// rangeOfRows is a Range over all rows: for each row the next few numbers.
func (c *checker) rangeOfRows(n *Node) error {
	first, _ := c.SizesOf(n.Inputs[0])
	limit, _ := c.SizesOf(n.Inputs[1])
	step, _ := c.SizesOf(n.Inputs[2])
	each := int(limit.D[0].K / step.D[0].K) // numbers of a row
	base := &Tensor{Type: n.Inputs[0].Type, Shape: []int{1, each}}
	steps, other := &Tensor{Type: Int64, Shape: []int{each}}, &Tensor{Type: Int64, Shape: []int{each}}
	for k := range each {
		x := first.D[0].K + int64(k)*step.D[0].K
		base.I = append(base.I, x)
		steps.I = append(steps.I, limit.D[0].K)
		other.I = append(other.I, min(x, 1))
	}
	all, err := c.applyPlain(n, "Expand", nil, c.own(n, base), c.sizeVector(n, Size{K: 1, Rows: true}, Size{K: int64(each)}))
	if err != nil {
		return err
	}
	if all, err = c.applyPlain(n, "Reshape", nil, all, c.integers(n, -1)); err != nil {
		return err
	}
	c.ownRows[all] = &ownRow{steps: steps, other: other}
	c.bind(n, 0, all)
	return nil
}

// sizeVector is a vector of numbers that may depend on the number of rows.
func (c *checker) sizeVector(n *Node, d ...Size) *Value {
	v := &Value{Name: c.unique(n.Name + "/sizes"), Type: Int64, Shape: []int{len(d)}, inner: true}
	c.sizes[v] = Sizes{Shape: v.Shape, D: d}
	return v
}

// shaped is v in a shape of as many elements a row.
func (c *checker) shaped(n *Node, v *Value, shape []int) (*Value, error) {
	var d []Size
	for _, k := range shape {
		d = append(d, Size{K: int64(PerRow(k)), Rows: IsRows(k)})
	}
	return c.applyPlain(n, "Reshape", nil, v, c.sizeVector(n, d...))
}

// rowsApart is v, whose first axis holds each row several times, with an axis for these
// times behind the rows.
func (c *checker) rowsApart(n *Node, v *Value) (*Value, error) {
	_, several := AroundRows(v.Shape[0])
	if several == 1 {
		return v, nil
	}
	return c.shaped(n, v, slices.Concat([]int{Batch, several}, v.Shape[1:]))
}

// ownRow checks a node that reads numbers of rows. Where they are lost in arithmetic, the shape
// of what it gives may still be read.
func (c *checker) ownRow(n *Node, op *Operator) error {
	shape := n.Domain == "" && (n.Op == "Shape" || n.Op == "Size")
	for _, v := range n.Inputs {
		if o := c.ownRows[v]; v != nil && o != nil && o.lost != nil && !shape {
			return o.lost
		}
	}
	inputs := slices.Clone(n.Inputs)
	lost := c.followOwnRow(n, op)
	if lost == nil || n.Domain != "" {
		return lost
	}
	switch n.Op {
	case "Max", "Min", "Mul", "Mod", "Cast", "Add", "Sub", "Div":
		n.Inputs = inputs
		if n.Outputs[0] == nil || c.alias[n.Outputs[0]] != nil || n.Outputs[0].Type != 0 || c.ordinary(n, op) != nil {
			return lost
		}
		c.ownRows[c.resolve(n.Outputs[0])] = &ownRow{lost: lost}
		return nil
	}
	return lost
}

// firstRow notes, where a node that err refuses cuts the first row out of all, that its shape may
// still be read.
func (c *checker) firstRow(n *Node, op *Operator, err error) bool {
	if n.Key() != "Slice" || n.Version < 10 || len(n.Inputs) < 3 || n.Outputs[0] == nil || n.Outputs[0].Type != 0 {
		return false
	}
	at := n.Inputs[0].BatchAxis()
	for i, v := range n.Inputs[1:] {
		if v != nil && (v.Const == nil || len(v.Const.I) != len(n.Inputs[1].Const.I) || i == 3 && slices.ContainsFunc(v.Const.I, func(k int64) bool { return k != 1 })) {
			return false
		}
	}
	place := at
	if len(n.Inputs) > 3 && n.Inputs[3] != nil {
		place = slices.Index(n.Inputs[3].Const.I, int64(at))
	}
	starts, ends := n.Inputs[1].Const.I, n.Inputs[2].Const.I
	if at < 0 || n.Inputs[0].Shape[at] != Batch || place < 0 || place >= len(starts) || starts[place] != 0 || ends[place] != 1 {
		return false
	}
	own, first := *n, *n.Inputs[0]
	first.Shape = slices.Clone(first.Shape)
	first.Shape[at] = 1
	own.Inputs = slices.Clone(n.Inputs)
	own.Inputs[0] = &first
	if op.Check(&Check{checker: c, Node: &own}) != nil {
		return false
	}
	c.ownRows[n.Outputs[0]] = &ownRow{lost: err}
	return true
}

// followOwnRow checks a node that reads numbers of rows.
func (c *checker) followOwnRow(n *Node, op *Operator) error {
	if n.Domain == "" {
		if c.bagEnds(n) {
			return nil
		}
		switch n.Op {
		case "Shape", "Size":
			return c.ordinary(n, op)
		case "Split":
			return c.splitOwnRow(n)
		case "Gather":
			if c.ownRows[n.Inputs[1]] == nil {
				return c.moveOwnRow(n, op)
			}
			return c.gatherOwnRow(n)
		case "GatherND":
			if c.ownRows[n.Inputs[1]] != nil && c.ownRows[n.Inputs[0]] == nil && n.AttrInt("batch_dims", 0) == 0 {
				return c.gatherNDOwnRow(n)
			}
		case "ScatterND", "ScatterElements":
			if c.ownRows[n.Inputs[1]] != nil && c.ownRows[n.Inputs[0]] == nil && c.ownRows[n.Inputs[2]] == nil {
				return c.scatterOwnRow(n, nil)
			}
		case "Where":
			return c.chooseOwnRow(n, op)
		case "Max", "Min":
			return c.boundOwnRow(n)
		}
		switch {
		case op.Is&Affine != 0:
			return c.moveOwnRow(n, op)
		case n.Op == "Equal" || op.Is&Ordering != 0:
			return c.compareOwnRow(n, op)
		}
	}
	return c.numbersRow(n)
}

// numbersRow is the refusal of what depends on the position of a row.
func (c *checker) numbersRow(n *Node) error {
	at := slices.IndexFunc(n.Inputs, func(v *Value) bool { return v != nil && c.ownRows[v] != nil })
	return fmt.Errorf("onnx: %s: input %d (%q) is the number of the row: what a row gives would depend on its position", n, at, n.Inputs[at].Name)
}

// moveOwnRow follows row numbers through a node that is linear in its inputs: applied to their steps from
// row to row, it gives the step of its outputs.
func (c *checker) moveOwnRow(n *Node, op *Operator) error {
	if to := DType(0); n.Op == "Cast" {
		if to, _ = TypeOf(int32(n.AttrInt("to", 0))); to != Int64 && to != Int32 {
			return c.numbersRow(n)
		}
	}
	for i, v := range n.Inputs {
		if _, sizes := c.sizes[v]; sizes && !slices.Contains(op.SizeInputs, i) || n.Op == "Mul" && c.ownRows[v] == nil && c.ofEachRow(v) == nil {
			return c.numbersRow(n)
		}
	}
	if n.Op == "Mul" && c.ownRows[n.Inputs[0]] != nil && c.ownRows[n.Inputs[1]] != nil || len(n.Outputs) != 1 {
		return c.numbersRow(n)
	}
	own := *n // before it is checked
	own.Inputs = slices.Clone(n.Inputs)
	if err := c.ordinary(n, op); err != nil {
		return err
	}
	steps := c.onRow(&own, op, func(i int, v *Value) *Tensor {
		switch o := c.ownRows[v]; {
		case o != nil:
			return asType(o.steps, v.Type)
		case slices.Contains(op.SizeInputs, i) || n.Op == "Mul" || i > 0 && (n.Op == "Unsqueeze" || n.Op == "Squeeze" || n.Op == "Slice" || n.Op == "Gather" || n.Op == "Tile"):
			return c.ofEachRow(v)
		}
		return zeros(v)
	})
	if n.Op == "Sub" || n.Op == "Neg" {
		own.Op, op = map[string]string{"Sub": "Add", "Neg": "Identity"}[n.Op], c.ops.Find(map[string]string{"Sub": "Add", "Neg": "Identity"}[n.Op])
	}
	other := c.onRow(&own, op, func(i int, v *Value) *Tensor {
		switch o := c.ownRows[v]; {
		case o != nil:
			return asType(o.other, v.Type)
		case slices.Contains(op.SizeInputs, i) || n.Op == "Mul" || i > 0 && (n.Op == "Unsqueeze" || n.Op == "Squeeze" || n.Op == "Slice" || n.Op == "Gather" || n.Op == "Tile"):
			return c.ofEachRow(v)
		}
		t := zeros(v)
		known := c.ofEachRow(v)
		for e := range t.I {
			if known == nil || known.I[e] != 0 {
				t.I[e] = 1
			}
		}
		return t
	})
	if steps == nil || other == nil {
		return c.numbersRow(n)
	}
	if slices.ContainsFunc(steps.I, func(k int64) bool { return k != 0 }) {
		c.ownRows[c.resolve(n.Outputs[0])] = &ownRow{steps: steps, other: other}
	}
	return nil
}

// splitOwnRow is a Split as the Slices that it comes to.
func (c *checker) splitOwnRow(n *Node) error {
	axis, err := Axis(n.AttrInt("axis", 0), len(n.Inputs[0].Shape))
	if err != nil {
		return within(n, err)
	}
	sizes := n.Attrs["split"].Ints
	if len(n.Inputs) > 1 && n.Inputs[1] != nil && n.Inputs[1].Const != nil {
		sizes = n.Inputs[1].Const.I
	}
	if size := int64(n.Inputs[0].Shape[axis]); sizes == nil && size%int64(len(n.Outputs)) == 0 {
		sizes = slices.Repeat([]int64{size / int64(len(n.Outputs))}, len(n.Outputs))
	}
	if IsRows(n.Inputs[0].Shape[axis]) || len(sizes) != len(n.Outputs) {
		return c.numbersRow(n)
	}
	from := int64(0)
	for i, size := range sizes {
		part, err := c.applyPlain(n, "Slice", nil, n.Inputs[0], c.integers(n, from), c.integers(n, from+size), c.integers(n, int64(axis)))
		if err != nil {
			return err
		}
		c.bind(n, i, part)
		from += size
	}
	return nil
}

func asType(t *Tensor, as DType) *Tensor { return &Tensor{Type: as, Shape: t.Shape, I: t.I} }

// zeros is a tensor of the shape of a row of v.
func zeros(v *Value) *Tensor {
	shape := v.RowShape()
	return &Tensor{Type: v.Type, Shape: shape, I: make([]int64, Product(shape))}
}

// within reports whether the index picks, of the tuples along its last axis, the own row with
// its element at: steps of size each, and the distance to it known to be 0 if exact.
func (o *ownRow) within(at, tuple, size int, exact bool) bool {
	for e, k := range o.steps.I {
		switch {
		case e%tuple != at && k != 0, e%tuple == at && k != int64(size), e%tuple == at && exact && o.other.I[e] != 0:
			return false
		}
	}
	return true
}

// gatherOwnRow picks the row itself, or an element of it where the axis holds several.
func (c *checker) gatherOwnRow(n *Node) error {
	x, index := n.Inputs[0], n.Inputs[1]
	at, err := Axis(n.AttrInt("axis", 0), len(x.Shape))
	if err != nil {
		return within(n, err)
	}
	outer, inner := AroundRows(x.Shape[at])
	exact := inner == 1
	if !IsRows(x.Shape[at]) || outer != 1 || index.BatchAxis() != 0 || !c.ownRows[index].within(0, 1, inner, exact) || at > 0 && !exact {
		return c.otherRows(n)
	}
	if exact {
		return c.repeated(n, x, at, index.Shape)
	}
	y, err := c.elementOfRow(n, x, index)
	if err != nil {
		return within(n, err)
	}
	c.bind(n, 0, y)
	return nil
}

// otherRows refuses what reads rows by number that are not shown to be its own.
func (c *checker) otherRows(n *Node) error {
	return fmt.Errorf("onnx: %s: mixes rows: it picks rows by their number (%q), which is not the row's own", n, n.Inputs[1].Name)
}

// repeated binds x, whose axis at holds the rows, with the axes of index in that one's place.
func (c *checker) repeated(n *Node, x *Value, at int, index []int) error {
	outer, several := AroundRows(index[0])
	if outer != 1 || several > 1 && at > 0 {
		return c.otherRows(n)
	}
	apart := index[1:]
	if several > 1 {
		apart = slices.Concat([]int{several}, apart)
	}
	var axes, sizes []int64
	for range x.Shape[:at+1] {
		sizes = append(sizes, 1)
	}
	for i, d := range apart {
		axes, sizes = append(axes, int64(at+1+i)), append(sizes, int64(d))
	}
	for range x.Shape[at+1:] {
		sizes = append(sizes, 1)
	}
	rest := x.Shape[at+1:]
	var err error
	if len(axes) > 0 {
		if x, err = c.applyPlain(n, "Unsqueeze", nil, x, c.integers(n, axes...)); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(apart, func(d int) bool { return d != 1 }) {
		if x, err = c.applyPlain(n, "Expand", nil, x, c.integers(n, sizes...)); err != nil {
			return err
		}
	}
	if several > 1 {
		if x, err = c.shaped(n, x, slices.Concat(index, rest)); err != nil {
			return err
		}
	}
	c.bind(n, 0, x)
	return nil
}

// elementOfRow picks, from x of [N*T, ...], element index[i] - T i of the T that row i has.
func (c *checker) elementOfRow(n *Node, x, index *Value) (*Value, error) {
	index, err := c.applyPlain(n, "Identity", nil, index)
	if err != nil {
		return nil, err
	}
	delete(c.ownRows, index) // what follows reads the distance to the row's first
	_, inner := AroundRows(x.Shape[0])
	shape := slices.Concat(index.Shape, x.Shape[1:])
	apart, err := c.rowsApart(n, x)
	if err != nil {
		return nil, err
	}
	_, several := AroundRows(index.Shape[0])
	k, err := c.rowsApart(n, index)
	if err != nil {
		return nil, err
	}
	// a distance below 0 is that to another row, and no position from the end
	low, err := c.applyPlain(n, "Less", nil, k, c.scalar(n, k.Type, 0))
	if err != nil {
		return nil, err
	}
	if k, err = c.applyPlain(n, "Where", nil, low, c.scalar(n, k.Type, int64(inner)), k); err != nil {
		return nil, err
	}
	if k, err = c.applyPlain(n, "Unsqueeze", nil, k, c.integers(n, -1)); err != nil {
		return nil, err
	}
	y, err := c.applyPlain(n, "GatherND", map[string]Attr{"batch_dims": {Int: 1}}, apart, k)
	if err != nil || several == 1 {
		return y, err
	}
	return c.shaped(n, y, shape)
}

// gatherNDOwnRow: the tuples begin with the row itself.
func (c *checker) gatherNDOwnRow(n *Node) error {
	x, index := n.Inputs[0], n.Inputs[1]
	tuple := 0
	if len(index.Shape) > 1 {
		tuple = index.Shape[len(index.Shape)-1]
	}
	if tuple < 1 || !IsRows(index.Shape[0]) || len(x.Shape) == 0 || !IsRows(x.Shape[0]) {
		return c.otherRows(n)
	}
	outer, inner := AroundRows(x.Shape[0])
	before, several := AroundRows(index.Shape[0])
	if outer != 1 || before != 1 || inner > 1 && tuple > 1 || !c.ownRows[index].within(0, tuple, inner, inner == 1) {
		return c.otherRows(n)
	}
	switch {
	case inner > 1:
		k, err := c.applyPlain(n, "Squeeze", nil, index, c.integers(n, -1))
		if err != nil {
			return within(n, err)
		}
		y, err := c.elementOfRow(n, x, k)
		if err != nil {
			return within(n, err)
		}
		c.bind(n, 0, y)
		return nil
	case tuple == 1:
		return c.repeated(n, x, 0, index.Shape[:len(index.Shape)-1])
	}
	shape := slices.Concat(index.Shape[:len(index.Shape)-1], x.Shape[tuple:])
	k, err := c.rowsApart(n, index)
	if err == nil {
		k, err = c.behindRow(n, k, tuple)
	}
	if err != nil {
		return within(n, err)
	}
	y, err := c.applyPlain(n, "GatherND", map[string]Attr{"batch_dims": {Int: 1}}, x, k)
	if err == nil && several > 1 {
		y, err = c.shaped(n, y, shape)
	}
	if err != nil {
		return within(n, err)
	}
	c.bind(n, 0, y)
	return nil
}

// behindRow is what tuples name behind the row.
func (c *checker) behindRow(n *Node, index *Value, tuple int) (*Value, error) {
	return c.applyPlain(n, "Slice", nil, index, c.integers(n, 1), c.integers(n, int64(tuple)), c.integers(n, -1))
}

// compareOwnRow: numbers that grow alike compare as in the first row; others by what holds
// for every row and every number of rows.
func (c *checker) compareOwnRow(n *Node, op *Operator) error {
	a, b := c.ownRows[n.Inputs[0]], c.ownRows[n.Inputs[1]]
	if a != nil && b != nil {
		uniform := func(o *ownRow) bool { return slices.Min(o.steps.I) == slices.Max(o.steps.I) }
		if uniform(a) && uniform(b) && a.steps.I[0] == b.steps.I[0] {
			return c.ordinary(n, op)
		}
		return c.numbersRow(n)
	}
	lo, hi, ok := c.signs(n.Inputs[0], n.Inputs[1])
	if !ok {
		return c.numbersRow(n)
	}
	holds := map[string][2]int{"Equal": {0, 0}, "Greater": {1, 1}, "GreaterOrEqual": {0, 1}, "Less": {-1, -1}, "LessOrEqual": {-1, 0}}[n.Op]
	always, never := holds[0] <= lo && hi <= holds[1], hi < holds[0] || holds[1] < lo
	if !always && !never {
		return c.numbersRow(n)
	}
	truth := int64(0)
	if always {
		truth = 1
	}
	t := &Tensor{Type: Bool, I: []int64{truth}}
	for range max(len(n.Inputs[0].Shape), len(n.Inputs[1].Shape)) {
		t.Shape = append(t.Shape, 1)
	}
	c.bind(n, 0, c.own(n, t))
	return nil
}

// signs bounds the sign of x - y over all rows and numbers of rows, one of which is the own
// row's number and the other a known number, or one of rows.
func (c *checker) signs(x, y *Value) (lo, hi int, ok bool) {
	sign := 1
	if c.ownRows[x] == nil {
		x, y, sign = y, x, -1
	}
	o, base := c.ownRows[x], c.ofEachRow(x)
	s, known := c.SizesOf(y)
	if !known || base == nil || len(s.D) != 1 {
		return 0, 0, false
	}
	lo, hi = 1, -1
	for e, b := range base.I {
		step, k := o.steps.I[e], s.D[0].K
		least, most := 0, 0
		switch {
		case step < 0:
			return 0, 0, false
		case s.D[0].Rows && k == step: // b + step i - step N, i < N
			if least = -1; b >= step {
				return 0, 0, false
			}
			most = -1
		case s.D[0].Rows:
			return 0, 0, false
		case b-k < 0:
			least, most = -1, -1
			if step > 0 {
				most = 1
			}
		case b == k:
			if step > 0 {
				most = 1
			}
		default:
			least, most = 1, 1
		}
		lo, hi = min(lo, least), max(hi, most)
	}
	if sign < 0 {
		lo, hi = -hi, -lo
	}
	return lo, hi, true
}

// chooseOwnRow is a Where whose condition is the same for all rows.
func (c *checker) chooseOwnRow(n *Node, op *Operator) error {
	v := c.choice(n)
	if v == nil {
		return c.numbersRow(n)
	}
	c.bind(n, 0, v)
	return nil
}

// choice is the input that a Where takes everywhere, if that has the shape of the output; nil
// if it is not known.
func (c *checker) choice(n *Node) *Value {
	if n.Op != "Where" || n.Domain != "" || len(n.Inputs) != 3 || n.Inputs[0] == nil {
		return nil
	}
	t := c.resolve(n.Inputs[0]).Const
	if t == nil || len(t.I) != 1 {
		return nil
	}
	v, other := c.resolve(n.Inputs[2]), c.resolve(n.Inputs[1])
	if t.I[0] != 0 {
		v, other = other, v
	}
	if v == nil || v.Type == 0 || len(v.Shape) < len(t.Shape) || other != nil && len(other.Shape) > len(v.Shape) {
		return nil
	}
	return v
}

// boundOwnRow is a bound that no row's number meets.
func (c *checker) boundOwnRow(n *Node) error {
	if len(n.Inputs) != 2 {
		return c.numbersRow(n)
	}
	x, bound := n.Inputs[0], n.Inputs[1]
	if c.ownRows[x] == nil {
		x, bound = bound, x
	}
	lo, hi, ok := c.signs(x, bound)
	if !ok || n.Op == "Max" && lo < 0 || n.Op == "Min" && hi > 0 || len(bound.Shape) > len(x.Shape) {
		return c.numbersRow(n)
	}
	c.bind(n, 0, x)
	return nil
}
