package onnx

import (
	"context"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
)

// manySubnetworks is a NAM of p subnetworks 1-64-64, a deep net p-200-200 and
// linear terms.
func manySubnetworks(p int) *graph.Graph {
	x := graphtest.Input("x", graph.Batch, p)
	h := graphtest.NewHand(x)
	hidden := func(v *graph.Value, from, to int) *graph.Value {
		v = h.Node("Gemm", nil, graphtest.Rows(to), v, graphtest.RampNamed(h, from, to), graphtest.RampNamed(h, to))
		return h.Node("Relu", nil, graphtest.Rows(to), v)
	}
	out := func(v *graph.Value, from int) *graph.Value {
		return h.Node("MatMul", nil, graphtest.Rows(1), v, graphtest.RampNamed(h, from, 1))
	}
	eta := h.Add(out(x, p), out(hidden(hidden(x, p, 200), 200, 200), 200))
	for j := range p {
		eta = h.Add(eta, out(hidden(hidden(h.Slice(x, int64(j), int64(j)+1), 1, 64), 64, 64), 64))
	}
	return h.Output("y", eta)
}

func BenchmarkDiscover(b *testing.B) {
	g := loaded(b, manySubnetworks(100), 13)
	for b.Loop() {
		if _, err := Discover(g, Unbound(g), nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkModelForward compares Forward with the engine alone on the same
// tensors: the difference is what checking and collecting cost.
func BenchmarkModelForward(b *testing.B) {
	g := loaded(b, manySubnetworks(10), 13)
	const n = 4096
	rows := someRows(b, g, n)
	m, err := NewModel(g, Unbound(g), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("model", func(b *testing.B) {
		out := outputsFor(m, n)
		b.ReportAllocs()
		for b.Loop() {
			if err := m.Forward(context.Background(), out, rows); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "rows/s")
	})
	b.Run("engine", func(b *testing.B) {
		buf := m.buffer()
		for j := range m.columns {
			buf.columns[j], _ = rows.Numeric(m.columns[j])
		}
		for b.Loop() {
			for at := 0; at < n; at += forwardRows {
				if err := m.evaluate(buf, at, forwardRows); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "rows/s")
	})
}
