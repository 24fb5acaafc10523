package engine

import (
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// rectified finds the products that a Relu follows, by the Relu, if nobody else
// reads them: one pass over memory then does both. The Relu has to write over
// its input, where the product is.
func (p *runPlan) rectified(want []*graph.Value) map[*graph.Node]*graph.Node {
	readers, producer := map[*graph.Value]int{}, map[*graph.Value]*graph.Node{}
	for _, n := range p.nodes {
		for _, v := range n.Inputs {
			readers[v]++
		}
		producer[n.Outputs[0]] = n
	}
	found := map[*graph.Node]*graph.Node{}
	for _, n := range p.nodes {
		if n.Key() != "Relu" {
			continue
		}
		in := n.Inputs[0]
		from := producer[in]
		if from == nil || operator.PiecesOf(from) != nil || p.table.Of(from).TakesRelu == nil || readers[in] != 1 || slices.Contains(want, in) {
			continue
		}
		if p.slot[in] == p.slot[n.Outputs[0]] && p.table.Of(from).TakesRelu(from) {
			found[n] = from
		}
	}
	return found
}
