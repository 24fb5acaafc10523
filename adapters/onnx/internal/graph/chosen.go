package graph

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A boolean mask over rows chooses some of them: x[m] has a row for each. Such a tensor is
// followed as the one of all rows, m false or not, with the mask noted beside it: what does the
// same to each of its rows does so to the chosen ones, and a write to y[m] is Where(m, ., y).
// So a mask may choose what is read from its own rows and written back to them, and nothing
// else: neither how many there are, nor which comes first, is known to the row itself.

// places is a NonZero over a mask that depends on rows: for each place of the mask its
// coordinates, the first of which is the number of the row.
func (c *checker) places(n *Node) (done bool, err error) {
	m := n.Inputs[0]
	at := m.BatchAxis()
	if m.Const != nil || at < 0 || m.Shape[at] != Batch || m.Type == String || c.lifted[m] {
		return false, nil
	}
	each := slices.Delete(slices.Clone(m.Shape), at, at+1)
	w := Product(each)
	if w < 1 || w*len(m.Shape) > maxEachRow {
		return false, nil
	}
	if m.Type != Bool {
		if m, err = c.applyPlain(n, "Cast", map[string]Attr{"to": {Int: int64(Bool)}}, m); err != nil {
			return false, err
		}
	}
	axes := []int64{int64(at)}
	for i := range m.Shape {
		if i != at {
			axes = append(axes, int64(i))
		}
	}
	if at > 0 {
		if m, err = c.applyPlain(n, "Transpose", map[string]Attr{"perm": {Ints: axes}}, m); err != nil {
			return false, err
		}
	}
	rank := len(axes)
	base := &Tensor{Type: Int64, Shape: []int{1, w, rank}, I: make([]int64, w*rank)}
	own := &ownRow{steps: &Tensor{Type: Int64, Shape: []int{rank, w}, I: make([]int64, w*rank)}, other: &Tensor{Type: Int64, Shape: []int{rank, w}, I: make([]int64, w*rank)}}
	for p := range w {
		for i, q := rank-1, p; i > 0; i-- {
			k := int64(q % each[i-1])
			q /= each[i-1]
			base.I[p*rank+int(axes[i])] = k
			own.other.I[int(axes[i])*w+p] = min(k, 1)
		}
		own.steps.I[at*w+p] = 1
	}
	v, err := c.applyPlain(n, "Expand", nil, c.own(n, base), c.sizeVector(n, Size{K: 1, Rows: true}, Size{K: int64(w)}, Size{K: int64(rank)}))
	if err != nil {
		return false, err
	}
	several, _ := RowsAxis(1, w)
	if v, err = c.shaped(n, v, []int{several, rank}); err != nil {
		return false, err
	}
	if v, err = c.applyPlain(n, "Transpose", map[string]Attr{"perm": {Ints: []int64{1, 0}}}, v); err != nil {
		return false, err
	}
	c.ownRows[v], c.chosen[v] = own, c.maskBehind(m)
	c.bind(n, 0, v)
	return true, nil
}

// maskBehind is the mask that m repeats, each of its elements as often, in their order.
func (c *checker) maskBehind(m *Value) *Value {
	for m.Producer != nil && m.Producer.Domain == "" {
		n := m.Producer
		in := n.Inputs[0]
		if in == nil || in.Type != Bool || len(in.Shape) == 0 || in.Shape[0] != Batch {
			return m
		}
		if !c.is(n, Reshaping) && (n.Op != "Expand" || !repeatsLast(in.Shape, m.Shape)) {
			return m
		}
		m = in
	}
	return m
}

// repeatsLast reports whether a tensor of one shape expands to another along its last axes,
// where it has size 1.
func repeatsLast(from, to []int) bool {
	if len(from) != len(to) {
		return false
	}
	same := 0
	for same < len(from) && from[same] == to[same] {
		same++
	}
	return !slices.ContainsFunc(from[same:], func(d int) bool { return d != 1 })
}

// countChosen is a sum of a mask over all rows: how many it chooses, of which only shapes may
// be made.
func (c *checker) countChosen(n *Node) (done bool) {
	v := n.Inputs[0]
	if v == nil || v.Type.Floating() || v.BatchAxis() < 0 || c.chosen[v] != nil || n.AttrInt("noop_with_empty_axes", 0) != 0 {
		return false
	}
	axes := n.Attrs["axes"].Ints
	if len(n.Inputs) > 1 && n.Inputs[1] != nil {
		if n.Inputs[1].Const == nil {
			return false
		}
		axes = n.Inputs[1].Const.I
	}
	if len(axes) > 0 && len(axes) != len(v.Shape) {
		return false
	}
	m := v
	for m.Type != Bool {
		if m.Producer == nil || !c.is(m.Producer, Reshaping) {
			return false
		}
		m = m.Producer.Inputs[0]
	}
	if m.BatchAxis() != 0 {
		return false
	}
	s := Sizes{Type: v.Type, D: []Size{{K: int64(m.Width()), Rows: true}}}
	if n.AttrInt("keepdims", 1) != 0 {
		s.Shape = slices.Repeat([]int{1}, len(v.Shape))
	}
	if s.Shape == nil {
		s.Shape = []int{}
	}
	if (&Check{checker: c, Node: n}).setSizes(s) != nil {
		return false
	}
	c.chosen[n.Outputs[0]] = c.maskBehind(m)
	return true
}

// sameNumbers reports whether a and b are computed alike from the same tensors.
func sameNumbers(a, b *Value, depth int) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || depth == 0 || a.Type != b.Type || !slices.Equal(a.Shape, b.Shape) {
		return false
	}
	if a.Const != nil || b.Const != nil {
		return a.Const != nil && b.Const != nil && reflect.DeepEqual(a.Const, b.Const)
	}
	n, m := a.Producer, b.Producer
	if n == nil || m == nil || n.Key() != m.Key() || n.Version != m.Version || slices.Index(n.Outputs, a) != slices.Index(m.Outputs, b) || !reflect.DeepEqual(n.Attrs, m.Attrs) {
		return false
	}
	return slices.EqualFunc(n.Inputs, m.Inputs, func(x, y *Value) bool { return sameNumbers(x, y, depth-1) })
}

// maxAlike bounds how far back masks are compared.
const maxAlike = 12

// maskOf is the mask by which what a node reads is chosen; nil: by none.
func (c *checker) maskOf(n *Node) (mask *Value, err error) {
	for _, v := range n.Inputs {
		m := c.chosen[v]
		switch {
		case v == nil || m == nil:
		case mask == nil:
			mask = m
		case !sameNumbers(mask, m, maxAlike):
			return nil, fmt.Errorf("mixes rows: it pairs rows that one mask chooses (%q) with those that another does (%q)", mask.Name, m.Name)
		}
	}
	return mask, nil
}

// onChosen checks a node that reads rows which mask chooses.
func (c *checker) onChosen(n *Node, op *Operator, mask *Value) error {
	if n.Domain == "" && len(n.Inputs) > 1 && n.Inputs[0] != nil && n.Inputs[1] != nil {
		numbered := c.ownRows[n.Inputs[1]] != nil && c.chosen[n.Inputs[1]] != nil
		switch n.Op {
		case "Gather", "GatherND":
			if numbered && c.chosen[n.Inputs[0]] == nil && n.Inputs[0].BatchAxis() >= 0 {
				return c.readChosen(n, op, mask)
			}
		case "ScatterND", "ScatterElements":
			if numbered && c.chosen[n.Inputs[0]] == nil && c.chosen[n.Inputs[2]] != nil {
				return c.unmarked(n.Inputs[1:], func() error { return c.scatterOwnRow(n, mask) })
			}
		}
		if numbered && c.chosen[n.Inputs[0]] != nil && (strings.HasPrefix(n.Op, "Gather") || strings.HasPrefix(n.Op, "Scatter")) {
			return c.otherRows(n)
		}
	}
	counts := false
	for _, v := range n.Inputs {
		if v == nil || v.Const != nil {
			continue
		}
		if c.chosen[v] == nil {
			return within(n, fmt.Errorf("mixes rows: it pairs those that the mask %q chooses with all rows (%q); export a choice of fixed size (torch.where, jax.numpy.where) in its place", mask.Name, v.Name))
		}
		_, is := c.sizes[v]
		counts = counts || is
	}
	known := fmt.Errorf("mixes rows: how many the mask %q chooses enters a computation", mask.Name)
	if counts && !c.is(n, Sizing) {
		return within(n, known)
	}
	check := c.ordinary
	if c.anyOwnRow(n.Inputs) {
		check = c.ownRow
	}
	if err := check(n, op); err != nil {
		if counts {
			err = within(n, known)
		}
		return err
	}
	for _, out := range n.Outputs {
		v := c.resolve(out)
		if v == nil || v.Const != nil || v.Type == 0 {
			continue
		}
		if at := v.BatchAxis(); at >= 0 {
			if _, several := AroundRows(v.Shape[at]); several%mask.Width() != 0 {
				return within(n, fmt.Errorf("mixes rows: it gives those that the mask %q chooses another shape (%s)", mask.Name, ShapeText(v.Shape)))
			}
		}
		c.chosen[v] = mask
	}
	return nil
}

// unmarked is do, for which the values are tensors of all rows.
func (c *checker) unmarked(values []*Value, do func() error) error {
	for _, v := range values {
		if mask := c.chosen[v]; mask != nil {
			delete(c.chosen, v)
			defer func() { c.chosen[v] = mask }()
		}
	}
	return do()
}

// readChosen picks the chosen rows from a tensor of all. Positions in others are 0, as they may
// be outside of what they name.
func (c *checker) readChosen(n *Node, op *Operator, mask *Value) error {
	var y *Value
	err := c.unmarked(n.Inputs[1:2], func() (err error) {
		if err = c.ownRow(n, op); err != nil {
			return err
		}
		if c.alias[n.Outputs[0]] == nil {
			return errors.New("is not followed where a mask chooses rows")
		}
		y = c.resolve(n.Outputs[0])
		if y.Type.Floating() || y.Type == Bool || y.Type == String || y.Shape[0] == 0 {
			y, err = c.applyPlain(n, "Identity", nil, y)
			return err
		}
		shape := y.Shape
		if y, err = c.rowsApart(n, y); err != nil {
			return err
		}
		axes := min(2, len(y.Shape))
		if mask.Width() == 1 {
			axes = 1
		}
		if y, err = c.whereRows(n, mask, y, nil, axes); err != nil {
			return err
		}
		y, err = c.shaped(n, y, shape)
		return err
	})
	if err != nil {
		return err
	}
	c.chosen[y] = mask
	c.bind(n, 0, y)
	return nil
}

// maskOver is the mask as lines [N, width], each element as often as makes that width.
func (c *checker) maskOver(n *Node, mask *Value, width int) (*Value, error) {
	w := mask.Width()
	if width%w != 0 {
		return nil, fmt.Errorf("mixes rows: %d numbers of a row where the mask %q has %d", width, mask.Name, w)
	}
	m, err := c.shaped(n, mask, []int{Batch, w, 1})
	if err != nil {
		return nil, err
	}
	if width > w {
		if m, err = c.applyPlain(n, "Expand", nil, m, c.integers(n, 1, 1, int64(width/w))); err != nil {
			return nil, err
		}
	}
	return c.shaped(n, m, []int{Batch, width})
}

// whereRows is yes where the mask is true, no elsewhere; nil: 0. The first axes of yes are those
// that the mask has elements for.
func (c *checker) whereRows(n *Node, mask, yes, no *Value, axes int) (*Value, error) {
	m, err := c.maskOver(n, mask, Product(yes.Shape[1:axes]))
	if err != nil {
		return nil, err
	}
	shape := slices.Repeat([]int{1}, len(yes.Shape))
	copy(shape, yes.Shape[:axes])
	if m, err = c.shaped(n, m, shape); err != nil {
		return nil, err
	}
	if no == nil {
		zero := zeroTensor(yes.Type)
		zero.Shape = []int{}
		no = c.own(n, zero)
	}
	return c.applyPlain(n, "Where", nil, m, yes, no)
}
