package graph

import (
	"errors"
	"fmt"
	"strings"
)

// sequence is the value of a sequence of tensors or of an optional (no element, or one),
// whose length is known at load: the tensors themselves.
type sequence struct {
	items    []*Value
	optional bool
	ofRows   bool // the one item is lifted, and stands for one of each row
}

func (c *checker) isSequence(inputs []*Value) bool {
	return len(inputs) > 0 && inputs[0] != nil && c.sequences[inputs[0]] != nil
}

// noTensor says why input i is nothing to compute with.
func (c *checker) noTensor(i int, v *Value) error {
	if c.rowNumbers[v] {
		return fmt.Errorf("input %d (%q) is the number of the row: what a row gives would depend on its position", i, v.Name)
	}
	if c.sequences[v] != nil {
		return fmt.Errorf("input %d (%q) is a sequence or optional, not a tensor", i, v.Name)
	}
	return fmt.Errorf("input %d (%q) is not computed at inference", i, v.Name)
}

// within says where an error is, unless it does so itself.
func within(n *Node, err error) error {
	if strings.HasPrefix(err.Error(), "onnx: ") {
		return err
	}
	return fmt.Errorf("onnx: %s: %w", n, err)
}

// setSequence makes output 0 of n a sequence. Its tensors count as parts, since each
// such node has a list of its own.
func (c *checker) setSequence(n *Node, items []*Value, optional bool) error {
	for i, v := range items {
		if v == nil || v.Type == 0 && c.sequences[v] == nil {
			return fmt.Errorf("element %d is left out or not computed at inference", i)
		}
	}
	if err := c.budget.expand(1 + len(items)/8); err != nil {
		return err
	}
	if len(n.Outputs) > 0 && n.Outputs[0] != nil {
		c.sequences[n.Outputs[0]] = &sequence{items: items, optional: optional}
		n.Outputs[0].Producer = nil
	}
	return nil
}

// sequenceOf is input i as a sequence.
func (c *checker) sequenceOf(n *Node, i int) (*sequence, error) {
	s, err := c.anySequence(n, i)
	if err == nil && s.ofRows {
		err = fmt.Errorf("input %d is a sequence with an element for each row: what a row gives would depend on the others", i)
	}
	return s, err
}

func (c *checker) anySequence(n *Node, i int) (*sequence, error) {
	if i < len(n.Inputs) && n.Inputs[i] != nil {
		if s := c.sequences[n.Inputs[i]]; s != nil {
			if !s.optional {
				return s, nil
			}
			if len(s.items) == 1 && c.sequences[s.items[0]] != nil { // since opset 18 optionals may be read directly
				return c.sequences[s.items[0]], nil
			}
		}
	}
	return nil, fmt.Errorf("input %d is no sequence whose length is known at load", i)
}

// position is input i as an index into count places, def if it is left out.
func (c *checker) position(n *Node, i, count, def int) (int, error) {
	if i >= len(n.Inputs) || n.Inputs[i] == nil {
		return def, nil
	}
	v := n.Inputs[i]
	if v.Const == nil || v.Type.Floating() || len(v.Const.I) != 1 {
		return 0, fmt.Errorf("the position (%q) must be an integer that is known at load", v.Name)
	}
	k := v.Const.I[0]
	if k < -int64(count) || k >= int64(count) {
		return 0, fmt.Errorf("position %d is outside %d places", k, count)
	}
	if k < 0 {
		k += int64(count)
	}
	return int(k), nil
}

func (c *checker) sequenceEmpty(n *Node) error { return c.setSequence(n, nil, false) }

func (c *checker) sequenceConstruct(n *Node) error { return c.setSequence(n, n.Inputs, false) }

func (c *checker) sequenceIdentity(n *Node) error {
	c.bind(n, 0, n.Inputs[0])
	return nil
}

func (c *checker) sequenceInsert(n *Node) error {
	s, err := c.sequenceOf(n, 0)
	if err != nil {
		return err
	}
	at := len(s.items)
	if len(n.Inputs) > 2 && n.Inputs[2] != nil {
		if k := n.Inputs[2].Const; k == nil || len(k.I) != 1 || k.I[0] != int64(len(s.items)) {
			if at, err = c.position(n, 2, len(s.items), at); err != nil {
				return err
			}
		}
	}
	items := make([]*Value, 0, len(s.items)+1)
	items = append(append(append(items, s.items[:at]...), n.Inputs[1]), s.items[at:]...)
	return c.setSequence(n, items, false)
}

func (c *checker) sequenceErase(n *Node) error {
	s, err := c.sequenceOf(n, 0)
	if err != nil {
		return err
	}
	at, err := c.position(n, 1, len(s.items), len(s.items)-1)
	if err != nil {
		return err
	}
	if len(s.items) == 0 {
		return errors.New("erases from an empty sequence")
	}
	items := append(append(make([]*Value, 0, len(s.items)-1), s.items[:at]...), s.items[at+1:]...)
	return c.setSequence(n, items, false)
}

func (c *checker) sequenceAt(n *Node) error {
	s, err := c.sequenceOf(n, 0)
	if err != nil {
		return err
	}
	if n.Inputs[1] == nil {
		return errors.New("input 1 is left out")
	}
	at, err := c.position(n, 1, len(s.items), 0)
	if err != nil {
		return err
	}
	c.bind(n, 0, s.items[at])
	return nil
}

func (c *checker) sequenceLength(n *Node) error {
	s, err := c.sequenceOf(n, 0)
	if err != nil {
		return err
	}
	c.bind(n, 0, c.scalar(n, Int64, int64(len(s.items))))
	return nil
}

// sequenceMap applies its body to the elements of its first sequence, together with those
// of further sequences at the same place, and tensors.
func (c *checker) sequenceMap(n *Node) error {
	s, err := c.sequenceOf(n, 0)
	if err != nil {
		return err
	}
	g, err := c.subgraph(n, "body")
	if err != nil {
		return err
	}
	results := make([][]*Value, len(g.Output))
	for i := range s.items {
		args := make([]*Value, len(n.Inputs))
		for k, v := range n.Inputs {
			if args[k] = v; v == nil || c.sequences[v] == nil {
				continue
			}
			further := c.sequences[v]
			if len(further.items) != len(s.items) {
				return fmt.Errorf("input %d has %d elements, input 0 %d", k, len(further.items), len(s.items))
			}
			args[k] = further.items[i]
		}
		outs, err := c.body(n, g, passLabel(i), args)
		if err != nil {
			return err
		}
		for k, v := range outs {
			results[k] = append(results[k], v)
		}
	}
	for k, items := range results {
		if k < len(n.Outputs) && n.Outputs[k] != nil {
			if err := c.setSequence(&Node{Outputs: n.Outputs[k : k+1]}, items, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *checker) concatFromSequence(n *Node) error {
	s, err := c.anySequence(n, 0)
	if err != nil {
		return err
	}
	axis, given := n.Attrs["axis"]
	if !given {
		return errors.New("names no axis")
	}
	if len(s.items) == 0 {
		return errors.New("joins an empty sequence")
	}
	join := c.join
	if s.ofRows {
		join = c.joinRows
	}
	v, err := join(n, s.items, axis.Int, n.AttrInt("new_axis", 0) != 0)
	if err != nil {
		return err
	}
	c.bind(n, 0, v)
	return nil
}

// splitToSequence cuts a tensor along an axis: in pieces of one size, in pieces of sizes
// that are listed, or (without sizes) in elements.
func (c *checker) splitToSequence(n *Node) error {
	v := n.Inputs[0]
	if v == nil || v.Type == 0 || c.lifted[v] {
		return errors.New("input 0 is no tensor that it can split")
	}
	axis, err := Axis(n.AttrInt("axis", 0), len(v.Shape))
	if err != nil {
		return err
	}
	size := v.Shape[axis]
	if size == Batch {
		return fmt.Errorf("mixes rows: it splits the batch axis %d", axis)
	}
	sizes, err := c.pieces(n, size)
	if err != nil {
		return err
	}
	if err := c.budget.expand(len(sizes)); err != nil {
		return err
	}
	elements := (len(n.Inputs) < 2 || n.Inputs[1] == nil) && n.AttrInt("keepdims", 1) == 0
	var items []*Value
	from := 0
	for _, k := range sizes {
		var piece *Value
		if elements {
			piece, err = c.pick(n, v, axis, from)
		} else {
			piece, err = c.apply(n, "Slice", nil, v, c.integers(n, int64(from)), c.integers(n, int64(from)+k), c.integers(n, int64(axis)))
		}
		if err != nil {
			return err
		}
		items = append(items, piece)
		from += int(k)
	}
	return c.setSequence(n, items, false)
}

// pieces are the sizes that SplitToSequence cuts an axis into.
func (c *checker) pieces(n *Node, size int) ([]int64, error) {
	each := int64(1)
	if len(n.Inputs) > 1 && n.Inputs[1] != nil {
		s := n.Inputs[1]
		if s.Const == nil || s.Type.Floating() || len(s.Shape) > 1 {
			return nil, fmt.Errorf("the sizes (%q) must be integers that are known at load", s.Name)
		}
		if len(s.Shape) == 1 {
			left := int64(size)
			for _, k := range s.Const.I {
				if left -= k; k < 0 || left < 0 {
					break
				}
			}
			if left != 0 {
				return nil, fmt.Errorf("the sizes %v do not add up to %d", s.Const.I, size)
			}
			return s.Const.I, nil
		}
		each = s.Const.I[0]
	}
	if each < 1 {
		return nil, fmt.Errorf("pieces of size %d", each)
	}
	if int64(size)/each > int64(c.budget.parts) {
		return nil, c.budget.expand(size)
	}
	var sizes []int64
	for left := int64(size); left > 0; left -= each {
		sizes = append(sizes, min(each, left))
	}
	return sizes, nil
}

// optional makes an optional, empty without an input.
func (c *checker) optional(n *Node) error { return c.setSequence(n, n.Inputs, true) }

// optionalHasElement: since opset 18 a tensor or sequence counts as an optional that has
// one, and one that is left out as empty.
func (c *checker) optionalHasElement(n *Node) error {
	has := int64(0)
	if len(n.Inputs) > 0 && n.Inputs[0] != nil {
		if s := c.sequences[n.Inputs[0]]; s == nil || !s.optional || len(s.items) > 0 {
			has = 1
		}
	}
	c.bind(n, 0, c.scalar(n, Bool, has))
	return nil
}

func (c *checker) optionalGetElement(n *Node) error {
	v := n.Inputs[0]
	if v == nil {
		return errors.New("input 0 is left out")
	}
	if s := c.sequences[v]; s != nil && s.optional {
		if len(s.items) == 0 {
			return fmt.Errorf("the optional %q has no element", v.Name)
		}
		v = s.items[0]
	}
	c.bind(n, 0, v)
	return nil
}
