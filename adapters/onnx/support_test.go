package onnx

import (
	"bytes"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
)

// loaded writes a hand-built graph to a file's bytes and loads it: what an
// exporter would have written.
func loaded(t testing.TB, g *graph.Graph, opset int64) *Graph {
	t.Helper()
	out, err := Load(bytes.NewReader(graphtest.Encoded(t, g, opset)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// unchecked is a hand-built graph as it is.
func unchecked(g *graph.Graph) *Graph { return &Graph{g: g} }
