package onnx

import (
	"math"
	"slices"
	"strings"
)

// Rules of operators that weigh and add elements. With one operand constant
// they are linear in the other; with both known only at run time an element
// still depends on nothing but the products it sums.

// yieldProduct links one product of element ia of operand 0 and ib of operand 1.
func yieldProduct(a, b *Value, alpha float64, ia, ib int, yield link) {
	switch {
	case b.Const != nil:
		yield(0, ia, alpha*b.Const.at(ib))
	case a.Const != nil:
		yield(1, ib, alpha*a.Const.at(ia))
	default:
		yield(0, ia, 1)
		yield(1, ib, 1)
	}
}

func linearProduct(n *Node) bool {
	return n.Outputs[0].Type.Floating() && (n.Inputs[0].Const != nil || n.Inputs[1].Const != nil)
}

// gemmRule: alpha A'B' + beta C.
func gemmRule(n *Node) rule {
	if len(n.Inputs) < 2 || n.Inputs[0] == nil || n.Inputs[1] == nil || len(n.Inputs[0].Shape) != 2 || len(n.Inputs[1].Shape) != 2 || len(n.Outputs[0].Shape) != 2 {
		return opaque
	}
	a, b := n.Inputs[0], n.Inputs[1]
	da, db, out := rowDims(a), rowDims(b), rowDims(n.Outputs[0])
	sai, sak, sbk, sbj := da[1], 1, db[1], 1
	inner, rows, cols := da[1], da[0], db[1]
	if int(n.attrInt("transA", 0)) != 0 {
		sai, sak, inner, rows = 1, da[1], da[0], da[1]
	}
	if int(n.attrInt("transB", 0)) != 0 {
		sbk, sbj, cols = 1, db[1], db[0]
	}
	if rows != out[0] || cols != out[1] || product(db) != inner*cols {
		return opaque
	}
	alpha, beta := n.attrFloat("alpha", 1), n.attrFloat("beta", 1)
	var bias func(int) int
	if len(n.Inputs) > 2 && n.Inputs[2] != nil {
		var ok bool
		if bias, ok = broadcastIndex(rowDims(n.Inputs[2]), out); !ok {
			return opaque
		}
	}
	linear := linearProduct(n)
	return rule{linear: linear, cost: 2*inner + 1, each: func(_, e int, yield link) {
		i, j := e/cols, e%cols
		for k := range inner {
			yieldProduct(a, b, alpha, i*sai+k*sak, k*sbk+j*sbj, yield)
		}
		if bias != nil {
			yield(2, bias(e), beta)
		}
	}}
}

// matMulRule multiplies the last two axes and broadcasts the others.
func matMulRule(n *Node) rule {
	if len(n.Inputs) != 2 || n.Inputs[0] == nil || n.Inputs[1] == nil || len(n.Inputs[0].Shape) == 0 || len(n.Inputs[1].Shape) == 0 {
		return opaque
	}
	a, b := n.Inputs[0], n.Inputs[1]
	da, db := rowDims(a), rowDims(b)
	if len(da) == 1 {
		da = []int{1, da[0]}
	}
	if len(db) == 1 {
		db = []int{db[0], 1}
	}
	ra, rb := len(da), len(db)
	rows, inner, cols := da[ra-2], da[ra-1], db[rb-1]
	if db[rb-2] != inner {
		return opaque
	}
	stack := broadcastDims(da[:ra-2], db[:rb-2])
	atA, okA := broadcastIndex(da[:ra-2], stack)
	atB, okB := broadcastIndex(db[:rb-2], stack)
	if !okA || !okB || product(stack)*rows*cols != rowElements(n.Outputs[0]) {
		return opaque
	}
	return rule{linear: linearProduct(n), cost: 2 * inner, each: func(_, e int, yield link) {
		s, i, j := e/(rows*cols), e/cols%rows, e%cols
		ia, ib := (atA(s)*rows+i)*inner, atB(s)*inner*cols+j
		for k := range inner {
			yieldProduct(a, b, 1, ia+k, ib+k*cols, yield)
		}
	}}
}

func broadcastDims(a, b []int) []int {
	if len(a) < len(b) {
		a, b = b, a
	}
	d := slices.Clone(a)
	for i, n := range b {
		if j := len(a) - len(b) + i; d[j] == 1 {
			d[j] = n
		}
	}
	return d
}

// einsumRule sums products over the labels that the output lacks. Ellipses are
// opaque.
func einsumRule(n *Node) rule {
	eq, isSet := n.Attrs["equation"]
	text := strings.ReplaceAll(eq.String, " ", "")
	left, right, arrow := strings.Cut(text, "->")
	terms := strings.Split(left, ",")
	if !isSet || !arrow || strings.Contains(text, ".") || len(terms) != len(n.Inputs) {
		return opaque
	}
	size := map[byte]int{}
	var summed []byte
	free := -1 // the one operand that is not constant, -2 if several
	for i, v := range n.Inputs {
		if v == nil || len(terms[i]) != len(v.Shape) {
			return opaque
		}
		if v.Const == nil {
			if free == -1 {
				free = i
			} else {
				free = -2
			}
		}
		for j, d := range rowDims(v) {
			l := terms[i][j]
			if old, ok := size[l]; ok && old != d {
				return opaque
			}
			if _, ok := size[l]; !ok && !strings.ContainsRune(right, rune(l)) {
				summed = append(summed, l)
			}
			size[l] = d
		}
	}
	out := rowDims(n.Outputs[0])
	if len(right) != len(out) {
		return opaque
	}
	for i := range out {
		if size[right[i]] != out[i] {
			return opaque
		}
	}
	inner := make([]int, len(summed))
	for i, l := range summed {
		inner[i] = size[l]
	}
	strides := make([][]int, len(n.Inputs))
	for i, v := range n.Inputs {
		strides[i] = rowMajor(rowDims(v))
	}
	var at [256]int
	co, ci := make([]int, len(out)), make([]int, len(inner))
	index := func(i int) int {
		k := 0
		for j := range terms[i] {
			k += at[terms[i][j]] * strides[i][j]
		}
		return k
	}
	total := product(inner)
	return rule{linear: free >= 0 && n.Outputs[0].Type.Floating(), cost: total * len(n.Inputs), each: func(_, e int, yield link) {
		unravel(e, out, co)
		for i, c := range co {
			at[right[i]] = c
		}
		for s := range total {
			unravel(s, inner, ci)
			for i, c := range ci {
				at[summed[i]] = c
			}
			if free < 0 {
				for i := range n.Inputs {
					yield(i, index(i), 1)
				}
				continue
			}
			w := 1.0
			for i, v := range n.Inputs {
				if i != free {
					w *= v.Const.at(index(i))
				}
			}
			yield(free, index(free), w)
		}
	}}
}

// batchNormRule at inference: s (x - m)/sqrt(v + eps) + b by channel (axis 1).
func batchNormRule(n *Node) rule {
	d := rowDims(n.Outputs[0])
	if len(n.Inputs) < 5 || len(d) < 2 || len(n.Outputs) != 1 || int(n.attrInt("training_mode", 0)) != 0 || n.Inputs[1] == nil || n.Inputs[4] == nil {
		return opaque
	}
	s, v := n.Inputs[1].Const, n.Inputs[4].Const
	if s == nil || v == nil {
		return opaque
	}
	eps, channels, inner := n.attrFloat("epsilon", 1e-5), d[1], product(d[2:])
	return rule{linear: true, cost: 3, each: func(_, e int, yield link) {
		c := e / inner % channels
		a := s.at(c) / math.Sqrt(v.at(c)+eps)
		yield(0, e, a)
		yield(2, c, 1)
		yield(3, c, -a)
	}}
}

// reduceRule runs over the axes of the attribute or the second input.
func reduceRule(n *Node, linear bool) rule {
	rank := len(n.Inputs[0].Shape)
	var axes []int
	if strings.HasPrefix(n.Op, "Arg") {
		axes = []int{int(n.attrInt("axis", 0))}
	} else {
		given, found, known := n.intsInput("axes", 1)
		if !known {
			return opaque
		}
		if axes = given; !found || len(given) == 0 {
			if int(n.attrInt("noop_with_empty_axes", 0)) != 0 {
				return sameOrderRule(n)
			}
			for i := range rank {
				axes = append(axes, i)
			}
		}
	}
	return reduceAxesRule(n, axes, linear)
}

func spatialAxes(n *Node) []int {
	var axes []int
	for i := 2; i < len(n.Inputs[0].Shape); i++ {
		axes = append(axes, i)
	}
	return axes
}

// reduceAxesRule: an output element takes every input element that agrees with it
// on the axes that are kept.
func reduceAxesRule(n *Node, axes []int, linear bool) rule {
	in := rowDims(n.Inputs[0])
	strides := rowMajor(in)
	reduced := make([]bool, len(in))
	for _, a := range axes {
		a, ok := normalAxis(a, len(in))
		if !ok {
			return opaque
		}
		reduced[a] = true
	}
	var keep, keepStride, sum, sumStride []int
	for i, d := range in {
		if reduced[i] {
			sum, sumStride = append(sum, d), append(sumStride, strides[i])
		} else {
			keep, keepStride = append(keep, d), append(keepStride, strides[i])
		}
	}
	if product(keep) != rowElements(n.Outputs[0]) {
		return opaque
	}
	offset := func(e int, d, stride, c []int) int {
		unravel(e, d, c)
		j := 0
		for i, k := range c {
			j += k * stride[i]
		}
		return j
	}
	ck, cs := make([]int, len(keep)), make([]int, len(sum))
	total := product(sum)
	w := 1.0
	if n.Op == "ReduceMean" || n.Op == "GlobalAveragePool" {
		w = 1 / float64(total)
	}
	return rule{linear: linear && n.Outputs[0].Type.Floating(), cost: total, each: func(_, e int, yield link) {
		base := offset(e, keep, keepStride, ck)
		for s := range total {
			yield(0, base+offset(s, sum, sumStride, cs), w)
		}
	}}
}

// cumSumRule adds up along an axis.
func cumSumRule(n *Node) rule {
	d := rowDims(n.Outputs[0])
	axes, found, known := n.intsInput("axis", 1)
	if !found || !known || len(axes) != 1 || n.attrInt("reverse", 0) != 0 || n.attrInt("exclusive", 0) != 0 {
		return opaque
	}
	axis, ok := normalAxis(axes[0], len(d))
	if !ok {
		return opaque
	}
	inner := product(d[axis+1:])
	return rule{linear: n.Outputs[0].Type.Floating(), cost: d[axis], each: func(_, e int, yield link) {
		for k := range e/inner%d[axis] + 1 {
			yield(0, e-k*inner, 1)
		}
	}}
}

// scalerRule: (x - offset) scale, by the last axis or one for all.
func scalerRule(n *Node) rule {
	d := rowDims(n.Outputs[0])
	offset, scale := n.Attrs["offset"].Floats, n.Attrs["scale"].Floats
	if len(d) == 0 || rowElements(n.Inputs[0]) != product(d) || !n.Outputs[0].Type.Floating() {
		return opaque
	}
	width := d[len(d)-1]
	if len(offset) == 0 || len(offset) != 1 && len(offset) != width || len(scale) == 0 || len(scale) != 1 && len(scale) != width {
		return opaque
	}
	return rule{linear: true, cost: 2, each: func(_, e int, yield link) {
		j := e % width
		a := scale[min(j, len(scale)-1)]
		yield(0, e, a)
		yield(itself, 0, -a*offset[min(j, len(offset)-1)])
	}}
}
