package engine

import "github.com/pho-go/pho/adapters/onnx/internal/graph"

// Joined counts the products that apply the Relu that follows them.
func Joined(g *graph.Graph, want []*graph.Value) int {
	return len(planRun(g, want, Options{}).rectified(want))
}

// Steps are the operators that are run for want, in order.
func Steps(g *graph.Graph, want []*graph.Value, o Options) []string {
	var out []string
	for _, n := range planRun(g, want, o).nodes {
		out = append(out, n.Op)
	}
	return out
}
