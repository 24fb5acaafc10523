package onnx

import "slices"

// rectified finds the products that a Relu follows, by the Relu, if nobody else
// reads them: one pass over memory then does both. The Relu has to write over
// its input, where the product is.
func (p *runPlan) rectified(want []*Value) map[*Node]*Node {
	readers := map[*Value]int{}
	for _, n := range p.nodes {
		for _, v := range n.Inputs {
			readers[v]++
		}
	}
	found := map[*Node]*Node{}
	for _, n := range p.nodes {
		if opKey(n) != "Relu" {
			continue
		}
		in := n.Inputs[0]
		from := in.Producer
		if from == nil || opKey(from) != "Gemm" || readers[in] != 1 || slices.Contains(want, in) {
			continue
		}
		if p.slot[in] == p.slot[n.Outputs[0]] && oneProduct(from) {
			found[n] = from
		}
	}
	return found
}

// oneProduct reports whether a Gemm is one product with prepared weights.
func oneProduct(n *Node) bool {
	if n.Inputs[1].Const == nil {
		return false
	}
	if len(n.Inputs) < 3 || n.Inputs[2] == nil {
		return true
	}
	_, ok := columnBias[float64](n.Inputs[2], n.Outputs[0].Shape[1], 1)
	return ok
}
