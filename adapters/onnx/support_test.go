package onnx

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/data"
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

// brief is a structure in one line per predictor: see graphtest.Brief.
func brief(s *Structure) []string { return graphtest.Brief(s.found) }

// someRows draws data for every input; integer inputs get 0 and 1.
func someRows(t testing.TB, g *Graph, n int) *data.Batch {
	t.Helper()
	random := rand.New(rand.NewPCG(7, 7))
	b := data.NewBatch(n, 0)
	for i, in := range Unbound(g) {
		for _, c := range in.Columns {
			v := make([]float64, n)
			for r := range v {
				if v[r] = random.NormFloat64(); !g.g.Inputs[i].Type.Floating() {
					v[r] = float64(random.IntN(2))
				}
			}
			if err := b.SetNumeric(c, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b
}
