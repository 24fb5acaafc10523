package graph

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// An embedding bag of two axes is exported as a flat list of codes, with the places 0, T,
// 2T, ..., NT where the bags of T begin and end, and a Loop over the bags that slices one
// after the other and reduces it. Each row is a bag, so it is a reduction over its T.

// bagEnds binds the places where bags begin, with the end of the last, and reports whether a
// Concat joins these: own numbers of rows, steps of T, and the number NT.
func (c *checker) bagEnds(n *Node) bool {
	if n.Op != "Concat" || len(n.Inputs) != 2 || c.ownRows[n.Inputs[0]] == nil {
		return false
	}
	s, ok := c.sizes[n.Inputs[1]]
	if !ok || len(s.D) != 1 || !s.D[0].Rows || !slices.Equal(n.Inputs[0].Shape, []int{Batch}) || !c.ownRows[n.Inputs[0]].within(0, 1, int(s.D[0].K), true) {
		return false
	}
	v := &Value{Name: c.unique(n.Name + "/bags"), inner: true}
	c.bags[v] = n.Inputs[0]
	c.bind(n, 0, v)
	return true
}

// lastEnds is a Slice that takes the ends of all bags.
func (c *checker) lastEnds(n *Node) (done bool, err error) {
	first := c.bags[n.Inputs[0]]
	from, ok := c.SizesOf(n.Inputs[1])
	if first == nil || n.Op != "Slice" || !ok || len(from.D) != 1 || from.D[0] != (Size{K: 1}) {
		return false, nil
	}
	size := c.ownRows[first].steps.I[0]
	v, err := c.applyPlain(n, "Add", nil, first, c.scalar(n, first.Type, size))
	if err != nil {
		return false, err
	}
	c.bags[v] = first
	c.bind(n, 0, v)
	return true, nil
}

// bagLoop holds the nodes of a loop over bags, with the nodes of its branches.
type bagLoop struct {
	nodes []*onnxpb.NodeProto
}

func (b *bagLoop) collect(g *onnxpb.GraphProto, depth int) bool {
	if depth > 4 || len(g.Node) > 64 {
		return false
	}
	for _, n := range g.Node {
		b.nodes = append(b.nodes, n)
		for _, a := range n.Attribute {
			if a.G != nil && !b.collect(a.G, depth+1) {
				return false
			}
		}
	}
	return true
}

func (b *bagLoop) find(ops ...string) *onnxpb.NodeProto {
	for _, n := range b.nodes {
		if slices.Contains(ops, n.OpType) {
			return n
		}
	}
	return nil
}

// plain reports whether the loop is of nodes that slice bags and reduce them, and no others.
func (b *bagLoop) plain() bool {
	return !slices.ContainsFunc(b.nodes, func(n *onnxpb.NodeProto) bool {
		switch n.OpType {
		case "Reshape", "CastLike", "Cast", "Add", "Sub", "Slice", "Equal", "Greater", "Less", "If", "Constant", "ConstantOfShape", "Expand", "Shape", "Identity", "Gather", "Unsqueeze", "Squeeze",
			"ReduceSum", "ReduceMean", "ReduceMax", "SequenceInsert", "Div", "Concat":
			return domain(n.Domain) != ""
		}
		return true
	})
}

// overBags expands a Loop over bags; done is false if n is none.
func (c *checker) overBags(n *Node, g *onnxpb.GraphProto) (done bool, err error) {
	if len(c.bags) == 0 {
		return false, nil
	}
	var b bagLoop
	if !b.collect(g, 0) || !b.plain() {
		return false, nil
	}
	known := func(name string) *Value {
		v, _ := n.file.scope.find(name)
		return c.resolve(v)
	}
	var list *Value
	var bag string
	ends := false
	for _, p := range b.nodes {
		if p.OpType != "Slice" && p.OpType != "Gather" {
			continue
		}
		x := known(p.Input[0])
		switch {
		case x == nil:
		case c.bags[x] != nil:
			ends = true
		case p.OpType == "Slice" && len(x.Shape) > 0 && IsRows(x.Shape[0]) && list == nil:
			list, bag = x, p.Output[0]
		}
	}
	reduce := b.find("ReduceMax")
	if reduce == nil {
		reduce = b.find("ReduceMean")
	}
	if reduce == nil {
		reduce = b.find("ReduceSum")
	}
	if !ends || list == nil || reduce == nil || reduce.OpType != "ReduceMean" && b.find("Div") != nil || reduce.OpType == "ReduceMax" && b.find("ReduceMean", "ReduceSum") != nil {
		return false, nil
	}
	outer, size := AroundRows(list.Shape[0])
	if outer != 1 || !c.anyBagOf(size) {
		return false, nil
	}
	y, err := c.reducedBags(n, list, size, b.weights(bag, known), reduce)
	if err != nil {
		return false, err
	}
	return c.bindBags(n, y, reduce)
}

// anyBagOf reports whether there are places of bags of that size.
func (c *checker) anyBagOf(size int) bool {
	for _, first := range c.bags {
		if c.ownRows[first].steps.I[0] == int64(size) {
			return true
		}
	}
	return false
}

// weights is the table that the bag's codes are looked up in; nil if the list holds its rows.
func (b *bagLoop) weights(bag string, known func(string) *Value) *Value {
	for _, p := range b.nodes {
		if p.OpType == "Gather" && len(p.Input) == 2 && p.Input[1] == bag {
			return known(p.Input[0])
		}
	}
	return nil
}

func (c *checker) reducedBags(n *Node, list *Value, size int, weights *Value, reduce *onnxpb.NodeProto) (*Value, error) {
	shape := []Size{{K: 1, Rows: true}, {K: int64(size)}}
	for _, d := range list.Shape[1:] {
		shape = append(shape, Size{K: int64(d)})
	}
	x, err := c.applyPlain(n, "Reshape", nil, list, c.sizeVector(n, shape...))
	if err != nil {
		return nil, err
	}
	if weights != nil {
		if x, err = c.applyPlain(n, "Gather", map[string]Attr{"axis": {Int: 0}}, weights, x); err != nil {
			return nil, err
		}
	}
	if reduce.OpType == "ReduceSum" {
		return c.applyPlain(n, "ReduceSum", map[string]Attr{"keepdims": {Int: 0}}, x, c.integers(n, 1))
	}
	return c.applyPlain(n, reduce.OpType, map[string]Attr{"keepdims": {Int: 0}, "axes": {Ints: []int64{1}}}, x)
}

// bindBags makes y what the loop gives: a stacked output, or a sequence of one for each row.
func (c *checker) bindBags(n *Node, y *Value, reduce *onnxpb.NodeProto) (done bool, err error) {
	state := len(n.Inputs) - 2
	if len(n.Outputs) == state+1 && state == 0 {
		c.bind(n, state, y)
		return true, nil
	}
	at := slices.IndexFunc(n.Inputs[2:], func(v *Value) bool { return v != nil && c.sequences[v] != nil })
	if at < 0 {
		return false, fmt.Errorf("is a loop over bags that gives no sequence of them")
	}
	keeps := true
	for _, a := range reduce.Attribute {
		keeps = keeps && (a.Name != "keepdims" || a.I != 0)
	}
	each := y
	if keeps {
		if each, err = c.applyPlain(n, "Unsqueeze", nil, y, c.integers(n, 1)); err != nil {
			return false, err
		}
	}
	c.lifted[each] = true
	v := &Value{Name: c.unique(n.Name + "/sequence"), inner: true}
	c.sequences[v] = &sequence{items: []*Value{each}, ofRows: true}
	c.bind(n, at, v)
	return true, nil
}
