package onnx

// link receives one dependency of an output element: element ie of input in
// enters, in a linear rule with weight w, otherwise with w = 1. With in = itself
// the node adds the constant w.
type link func(in, ie int, w float64)

const itself = -1

// rule says how the elements of a node's outputs depend on those of its inputs,
// on the shapes of one row. A linear rule is exact:
//
//	output[e] = sum over links of w * input[in][ie]
//
// constants included, as links to constant inputs. A nil each means that every
// output element depends on every input element, non-linearly: sound for any
// operator.
type rule struct {
	linear bool
	cost   int // links of one output element, at most
	each   func(out, e int, yield link)
}

var opaque = rule{}

// ruleOf looks the operator up. What is not known exactly is opaque.
func ruleOf(n *Node) rule {
	if len(n.Inputs) == 0 || len(n.Outputs) == 0 || n.Inputs[0] == nil || n.Outputs[0] == nil {
		return opaque
	}
	switch n.Domain {
	case "":
	case "ai.onnx.ml":
		return mlRule(n)
	default:
		return opaque
	}
	out := n.Outputs[0]
	switch n.Op {
	case "Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze":
		return sameOrderRule(n)
	case "Dropout":
		if len(n.Outputs) == 1 {
			return sameOrderRule(n)
		}
	case "Cast", "CastLike":
		if out.Type.Floating() && !n.rounds {
			return sameOrderRule(n)
		}
		return elementwiseRule(n)
	case "Neg":
		return weightedRule(n, -1)
	case "Add", "Sum":
		if out.Type.Floating() {
			return weightedRule(n, 1)
		}
		return elementwiseRule(n)
	case "Sub":
		if out.Type.Floating() {
			return weightedRule(n, 1, -1)
		}
		return elementwiseRule(n)
	case "Mean":
		return weightedRule(n, 1/float64(len(n.Inputs)))
	case "Mul", "Div":
		return scaleRule(n)
	case "Where":
		return whereRule(n)
	case "Expand":
		return expandRule(n)
	case "Tile":
		return tileRule(n)
	case "Concat":
		return concatRule(n)
	case "Split":
		return splitRule(n)
	case "Slice":
		return sliceRule(n)
	case "Gather":
		return gatherRule(n)
	case "Transpose":
		return transposeRule(n)
	case "Gemm":
		return gemmRule(n)
	case "MatMul":
		return matMulRule(n)
	case "Einsum":
		return einsumRule(n)
	case "Conv":
		return convRule(n)
	case "BatchNormalization":
		return batchNormRule(n)
	case "ReduceSum", "ReduceMean":
		return reduceRule(n, true)
	case "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare", "ArgMax", "ArgMin":
		return reduceRule(n, false)
	case "GlobalAveragePool":
		return reduceAxesRule(n, spatialAxes(n), true)
	case "GlobalMaxPool":
		return reduceAxesRule(n, spatialAxes(n), false)
	case "CumSum":
		return cumSumRule(n)
	case "Pad":
		return padRule(n)
	case "GatherElements":
		return gatherElementsRule(n)
	case "Softmax", "LogSoftmax", "Hardmax":
		return softmaxRule(n)
	case "LayerNormalization":
		return layerNormRule(n)
	case "OneHot":
		return oneHotRule(n)
	case "Abs", "Acos", "Acosh", "And", "Asin", "Asinh", "Atan", "Atanh", "BitShift", "Ceil", "Celu", "Clip", "Cos", "Cosh", "Elu", "Equal", "Erf", "Exp", "Floor",
		"Gelu", "Greater", "GreaterOrEqual", "HardSigmoid", "HardSwish", "IsInf", "IsNaN", "LeakyRelu", "Less", "LessOrEqual", "Log", "Max", "Min", "Mish", "Mod",
		"Not", "Or", "PRelu", "Pow", "Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh",
		"ThresholdedRelu", "Xor":
		return elementwiseRule(n)
	}
	return opaque
}

// mlRule: preprocessing that scikit-learn exports.
func mlRule(n *Node) rule {
	if n.rounds {
		return opaque
	}
	switch n.Op {
	case "FeatureVectorizer":
		return vectorizerRule(n)
	case "Scaler":
		return scalerRule(n)
	case "Binarizer", "Imputer":
		return elementwiseRule(n)
	}
	return opaque
}

// sameOrderRule: a copy of the first input in the same row-major order, whatever
// the shape (a reshape that keeps rows apart does not reorder a row).
func sameOrderRule(n *Node) rule {
	if n.Inputs[0] == nil || rowElements(n.Inputs[0]) != rowElements(n.Outputs[0]) {
		return opaque
	}
	return rule{linear: true, cost: 1, each: func(_, e int, yield link) { yield(0, e, 1) }}
}

// indices broadcasts every input to the first output.
func indices(n *Node) ([]func(int) int, bool) {
	out := rowDims(n.Outputs[0])
	at := make([]func(int) int, len(n.Inputs))
	for i, v := range n.Inputs {
		if v == nil {
			continue
		}
		var ok bool
		if at[i], ok = broadcastIndex(rowDims(v), out); !ok {
			return nil, false
		}
	}
	return at, true
}

// elementwiseRule: non-linear, element by element with broadcasting.
func elementwiseRule(n *Node) rule {
	at, ok := indices(n)
	if !ok || len(n.Outputs) != 1 {
		return opaque
	}
	return rule{cost: len(at), each: func(_, e int, yield link) {
		for i, f := range at {
			if f != nil {
				yield(i, f(e), 1)
			}
		}
	}}
}

// weightedRule is the sum of the broadcast inputs with the given weights, the last
// of which counts for all further inputs.
func weightedRule(n *Node, w ...float64) rule {
	r := elementwiseRule(n)
	if r.each == nil || !n.Outputs[0].Type.Floating() {
		return r
	}
	at, _ := indices(n)
	return rule{linear: true, cost: len(at), each: func(_, e int, yield link) {
		for i, f := range at {
			if f != nil {
				yield(i, f(e), w[min(i, len(w)-1)])
			}
		}
	}}
}

// scaleRule is Mul by a constant or Div by one.
func scaleRule(n *Node) rule {
	r := elementwiseRule(n)
	if r.each == nil || len(n.Inputs) != 2 || n.Inputs[0] == nil || n.Inputs[1] == nil || !n.Outputs[0].Type.Floating() {
		return r
	}
	by := 1
	if n.Op == "Mul" && n.Inputs[0].Const != nil {
		by = 0
	}
	c := n.Inputs[by].Const
	if c == nil {
		return r
	}
	at, _ := indices(n)
	return rule{linear: true, cost: 1, each: func(_, e int, yield link) {
		w := c.at(at[by](e))
		if n.Op == "Div" {
			w = 1 / w
		}
		yield(1-by, at[1-by](e), w)
	}}
}

// whereRule chooses by a constant condition; otherwise all three inputs enter.
func whereRule(n *Node) rule {
	r := elementwiseRule(n)
	if r.each == nil || len(n.Inputs) != 3 || n.Inputs[0] == nil || n.Inputs[0].Const == nil {
		return r
	}
	at, _ := indices(n)
	c := n.Inputs[0].Const
	return rule{linear: true, cost: 1, each: func(_, e int, yield link) {
		if c.at(at[0](e)) != 0 {
			yield(1, at[1](e), 1)
			return
		}
		yield(2, at[2](e), 1)
	}}
}

// softmaxRule: an element depends on those it is normalised with; before opset 13
// all axes from axis on were taken together.
func softmaxRule(n *Node) rule {
	d := rowDims(n.Outputs[0])
	def := int64(-1)
	if n.Version < 13 {
		def = 1
	}
	axis, ok := normalAxis(int(n.attrInt("axis", def)), len(d))
	if !ok {
		return opaque
	}
	size, step := d[axis], product(d[axis+1:])
	if n.Version < 13 {
		size, step = product(d[axis:]), 1
	}
	return rule{cost: size, each: func(_, e int, yield link) {
		first := e/(size*step)*(size*step) + e%step
		for k := range size {
			yield(0, first+k*step, 1)
		}
	}}
}

// layerNormRule: an element depends on all that it is normalised with. Scale and
// bias, if they are not constants, are left to the opaque rule.
func layerNormRule(n *Node) rule {
	d := rowDims(n.Outputs[0])
	axis, ok := normalAxis(int(n.attrInt("axis", -1)), len(d))
	if !ok || len(n.Outputs) != 1 {
		return opaque
	}
	for _, v := range n.Inputs[1:] {
		if v != nil && v.Const == nil {
			return opaque
		}
	}
	size := product(d[axis:])
	return rule{cost: size, each: func(_, e int, yield link) {
		first := e / size * size
		for k := range size {
			yield(0, first+k, 1)
		}
	}}
}

// oneHotRule: the positions along the new axis depend on one index.
func oneHotRule(n *Node) rule {
	out := rowDims(n.Outputs[0])
	axis, ok := normalAxis(int(n.attrInt("axis", -1)), len(out))
	if !ok || len(n.Inputs) != 3 || rowElements(n.Inputs[0])*out[axis] != product(out) || n.Inputs[2] == nil || n.Inputs[2].Const == nil {
		return opaque
	}
	inner := product(out[axis+1:])
	return rule{cost: 1, each: func(_, e int, yield link) {
		yield(0, e/(inner*out[axis])*inner+e%inner, 1)
	}}
}

// intsInput reads integers that older opsets hold in an attribute and newer
// ones in a constant input. found is false when both are absent; known is false
// when the input is not a constant.
func (n *Node) intsInput(attr string, input int) (v []int, found, known bool) {
	if a, ok := n.Attrs[attr]; ok {
		for _, x := range a.Ints {
			v = append(v, int(x))
		}
		return v, true, true
	}
	if input >= len(n.Inputs) || n.Inputs[input] == nil {
		return nil, false, true
	}
	c := n.Inputs[input].Const
	if c == nil {
		return nil, true, false
	}
	for _, x := range c.I {
		v = append(v, int(x))
	}
	return v, true, true
}
