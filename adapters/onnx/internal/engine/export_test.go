package engine

import "github.com/pho-go/pho/adapters/onnx/internal/graph"

// Joined counts the products that apply the Relu that follows them.
func Joined(g *graph.Graph, want []*graph.Value) int {
	return len(planRun(g, want, Options{}).rectified(want))
}
