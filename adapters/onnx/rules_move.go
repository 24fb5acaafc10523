package onnx

// Rules of operators that only move elements.

// expandRule: Expand.
func expandRule(n *Node) rule {
	at, ok := broadcastIndex(rowDims(n.Inputs[0]), rowDims(n.Outputs[0]))
	if !ok {
		return opaque
	}
	return rule{linear: true, cost: 1, each: func(_, e int, yield link) { yield(0, at(e), 1) }}
}

// tileRule repeats the input along its axes.
func tileRule(n *Node) rule {
	in, out := rowDims(n.Inputs[0]), rowDims(n.Outputs[0])
	if len(in) != len(out) || product(in) == 0 {
		return opaque
	}
	stride, c := rowMajor(in), make([]int, len(out))
	return rule{linear: true, cost: 1, each: func(_, e int, yield link) {
		unravel(e, out, c)
		j := 0
		for i, k := range c {
			j += k % in[i] * stride[i]
		}
		yield(0, j, 1)
	}}
}

// concatRule joins its inputs along axis.
func concatRule(n *Node) rule {
	return concatAxisRule(n, int(n.attrInt("axis", 1)))
}

// vectorizerRule: FeatureVectorizer puts its inputs side by side.
func vectorizerRule(n *Node) rule { return concatAxisRule(n, -1) }

func concatAxisRule(n *Node, axis int) rule {
	out := rowDims(n.Outputs[0])
	axis, ok := normalAxis(axis, len(out))
	if !ok {
		return opaque
	}
	inner := product(out[axis+1:])
	var owner, offset []int // of each position along axis
	size := make([]int, len(n.Inputs))
	for i, v := range n.Inputs {
		if v == nil || len(v.Shape) != len(out) {
			return opaque
		}
		size[i] = rowDims(v)[axis]
		for k := range size[i] {
			owner, offset = append(owner, i), append(offset, k)
		}
	}
	if len(owner) != out[axis] {
		return opaque
	}
	return rule{linear: true, cost: 1, each: func(_, e int, yield link) {
		outer, k, in := e/(inner*out[axis]), e/inner%out[axis], e%inner
		i := owner[k]
		yield(i, (outer*size[i]+offset[k])*inner+in, 1)
	}}
}

// splitRule cuts the input along axis into its outputs.
func splitRule(n *Node) rule {
	in := rowDims(n.Inputs[0])
	axis, ok := normalAxis(int(n.attrInt("axis", 0)), len(in))
	if !ok {
		return opaque
	}
	inner := product(in[axis+1:])
	start, size := make([]int, len(n.Outputs)), make([]int, len(n.Outputs))
	total := 0
	for i, v := range n.Outputs {
		if v == nil || len(v.Shape) != len(in) {
			return opaque
		}
		start[i], size[i] = total, rowDims(v)[axis]
		total += size[i]
	}
	if total != in[axis] {
		return opaque
	}
	return rule{linear: true, cost: 1, each: func(o, e int, yield link) {
		outer, k, j := e/(inner*size[o]), e/inner%size[o], e%inner
		yield(0, (outer*in[axis]+start[o]+k)*inner+j, 1)
	}}
}

// sliceRule: output coordinate c reads start + step*c on the sliced axes.
func sliceRule(n *Node) rule {
	in, out := rowDims(n.Inputs[0]), rowDims(n.Outputs[0])
	starts, found, known := n.intsInput("starts", 1)
	if !found || !known || len(in) != len(out) {
		return opaque
	}
	axes, given, known := n.intsInput("axes", 3)
	if !known {
		return opaque
	}
	if !given {
		for i := range starts {
			axes = append(axes, i)
		}
	}
	steps, _, known := n.intsInput("steps", 4)
	if !known || len(axes) != len(starts) || len(steps) != 0 && len(steps) != len(starts) {
		return opaque
	}
	first, step := make([]int, len(in)), make([]int, len(in))
	for i := range step {
		step[i] = 1
	}
	for i, a := range axes {
		a, ok := normalAxis(a, len(in))
		if !ok {
			return opaque
		}
		if n.Inputs[0].Shape[a] == Batch {
			continue // all rows
		}
		if len(steps) > 0 {
			step[a] = steps[i]
		}
		s := starts[i]
		if s < 0 {
			s += in[a]
		}
		last := in[a]
		if step[a] < 0 {
			last--
		}
		first[a] = max(0, min(s, last))
	}
	stride, c := rowMajor(in), make([]int, len(out))
	return rule{linear: true, cost: 1, each: func(_, e int, yield link) {
		unravel(e, out, c)
		j := 0
		for i, k := range c {
			j += (first[i] + step[i]*k) * stride[i]
		}
		yield(0, j, 1)
	}}
}

// gatherRule reads input 0 along axis at the positions of input 1. With positions
// that depend on the data and a constant table (an embedding) an element
// depends on its position; with both known at run time on everything along axis.
func gatherRule(n *Node) rule {
	if len(n.Inputs) != 2 || n.Inputs[0] == nil || n.Inputs[1] == nil {
		return opaque
	}
	table, pos := n.Inputs[0], n.Inputs[1]
	in, idx := rowDims(table), rowDims(pos)
	axis, ok := normalAxis(int(n.attrInt("axis", 0)), len(in))
	if !ok || len(in)-1+len(idx) != len(n.Outputs[0].Shape) || table.Const == nil && table.Shape[axis] == Batch {
		return opaque
	}
	inner, positions := product(in[axis+1:]), product(idx)
	// e = (outer, position, inner)
	switch {
	case pos.Const != nil:
		return rule{linear: true, cost: 1, each: func(_, e int, yield link) {
			outer, p, j := e/(inner*positions), e/inner%positions, e%inner
			k := int(pos.Const.I[p])
			if k < 0 {
				k += in[axis]
			}
			yield(0, (outer*in[axis]+k)*inner+j, 1)
		}}
	case table.Const != nil:
		return rule{cost: 1, each: func(_, e int, yield link) { yield(1, e/inner%positions, 1) }}
	}
	return rule{cost: 1 + in[axis], each: func(_, e int, yield link) {
		outer, p, j := e/(inner*positions), e/inner%positions, e%inner
		yield(1, p, 1)
		for k := range in[axis] {
			yield(0, (outer*in[axis]+k)*inner+j, 1)
		}
	}}
}

// transposeRule: output axis i is input axis perm[i].
func transposeRule(n *Node) rule {
	in, out := rowDims(n.Inputs[0]), rowDims(n.Outputs[0])
	if len(in) != len(out) {
		return opaque
	}
	perm, given, _ := n.intsInput("perm", len(n.Inputs))
	if !given {
		for i := len(in) - 1; i >= 0; i-- {
			perm = append(perm, i)
		}
	}
	if len(perm) != len(in) {
		return opaque
	}
	strides, stride, c := rowMajor(in), make([]int, len(in)), make([]int, len(in))
	for i, p := range perm {
		if p < 0 || p >= len(in) || in[p] != out[i] {
			return opaque
		}
		stride[i] = strides[p]
	}
	return rule{linear: true, cost: 1, each: func(_, e int, yield link) {
		unravel(e, out, c)
		j := 0
		for i, k := range c {
			j += k * stride[i]
		}
		yield(0, j, 1)
	}}
}

// padRule copies the input into the middle of a constant.
func padRule(n *Node) rule {
	in, out := rowDims(n.Inputs[0]), rowDims(n.Outputs[0])
	if len(n.pads) != 2*len(in) || len(out) != len(in) {
		return opaque
	}
	value := n.attrFloat("value", 0)
	if n.Version >= 11 {
		value = 0
		if len(n.Inputs) > 2 && n.Inputs[2] != nil {
			if n.Inputs[2].Const == nil {
				return opaque
			}
			value = n.Inputs[2].Const.at(0)
		}
	}
	stride, c := rowMajor(in), make([]int, len(out))
	return rule{linear: true, cost: 1, each: func(_, e int, yield link) {
		unravel(e, out, c)
		j := 0
		for i, k := range c {
			k -= int(n.pads[i])
			if k < 0 || k >= in[i] {
				yield(itself, 0, value)
				return
			}
			j += k * stride[i]
		}
		yield(0, j, 1)
	}}
}

// gatherElementsRule: one position for each element.
func gatherElementsRule(n *Node) rule {
	if len(n.Inputs) != 2 || n.Inputs[1] == nil {
		return opaque
	}
	in, idx := rowDims(n.Inputs[0]), rowDims(n.Inputs[1])
	axis, ok := normalAxis(int(n.attrInt("axis", 0)), len(in))
	if !ok || len(idx) != len(in) || product(idx) != rowElements(n.Outputs[0]) {
		return opaque
	}
	inner := product(in[axis+1:])
	return rule{cost: 1 + in[axis], each: func(_, e int, yield link) {
		outer, j := e/(idx[axis]*inner), e%inner
		yield(1, e, 1)
		for k := range in[axis] {
			yield(0, (outer*in[axis]+k)*inner+j, 1)
		}
	}}
}
