package graph

// dropout expands a Dropout whose mask is asked for: at inference nothing is dropped, and
// the mask is true throughout.
func (c *checker) dropout(n *Node) error {
	x := n.Inputs[0]
	if x == nil || x.Type == 0 || c.lifted[x] {
		return c.noTensor(0, x)
	}
	kept := &Node{Name: n.Name, Op: n.Op, Version: n.Version, Inputs: n.Inputs, Attrs: n.Attrs, Outputs: n.Outputs[:1]}
	if kept.Outputs[0] == nil {
		kept.Outputs = []*Value{{Name: c.unique(n.Name), Producer: kept, inner: true}}
	}
	kept.Outputs[0].Producer = kept
	if err := c.plain(kept, c.ops.Find(n.Key())); err != nil {
		return err
	}
	mask, err := c.applyPlain(n, "ConstantOfShape", map[string]Attr{"value": {Tensor: &Tensor{Type: Bool, Shape: []int{1}, I: []int64{1}}}}, c.shapeOf(n, x))
	if err != nil {
		return err
	}
	c.bind(n, 1, mask)
	return nil
}

// masks reports whether n is a Dropout whose mask is read, or an output.
func (n *Node) masks() bool {
	return n.Op == "Dropout" && n.Version >= 10 && len(n.Outputs) > 1 && n.Outputs[1] != nil
}

// shapeOf is the shape of v, with the number of rows in it, as a value.
func (c *checker) shapeOf(n *Node, v *Value) *Value {
	s := Sizes{Shape: []int{len(v.Shape)}}
	for _, d := range v.Shape {
		s.D = append(s.D, sizeOf(d))
	}
	shape := &Value{Name: c.unique(n.Name + "/shape"), Type: Int64, Shape: s.Shape, inner: true}
	if v.BatchAxis() >= 0 {
		c.sizes[shape] = s
		return shape
	}
	shape.Const = &Tensor{Type: Int64, Shape: s.Shape, I: make([]int64, len(s.D))}
	for i, d := range s.D {
		shape.Const.I[i] = d.K
	}
	return shape
}

func sizeOf(d int) Size {
	if d == Batch {
		return Size{K: 1, Rows: true}
	}
	return Size{K: int64(d)}
}
