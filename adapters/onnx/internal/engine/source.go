package engine

import (
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
	"github.com/pho-go/pho/internal/base/kernel"
)

// taker is the number of a node that moves an input to its tensor itself, and how.
type taker[T kernel.Float] struct {
	node  int
	enter func(dst []T, src []float64)
}

func takersOf[T kernel.Float](nodes map[*graph.Value]int) map[*graph.Value]taker[T] {
	out := map[*graph.Value]taker[T]{}
	for v, node := range nodes {
		out[v] = taker[T]{node, entering[T](v.RoundedTo())}
	}
	return out
}

// takers finds, for inputs that one product alone reads, the number of its node: it takes
// their rows from memory while it multiplies others.
func (p *runPlan) takers(inputs, want []*graph.Value) map[*graph.Value]int {
	readers, last := map[*graph.Value]int{}, map[*graph.Value]int{}
	for i, n := range p.nodes {
		for _, v := range n.Inputs {
			readers[v]++
			last[v] = i
		}
	}
	found := map[*graph.Value]int{}
	for _, v := range inputs {
		if readers[v] != 1 || slices.Contains(want, v) || !p.batchFirst(v) {
			continue
		}
		n := p.nodes[last[v]]
		if takes := p.table.Of(n).TakesSource; n.Inputs[0] == v && operator.PiecesOf(n) == nil && takes != nil && takes(n) {
			found[v] = last[v]
		}
	}
	return found
}
