package engine_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// spatialSeeds reach the operators on images, signals and regions: some of each of
// testdata/golden/ort_spatial.json, and what is not there.
func spatialSeeds(t testing.TB) [][]byte {
	raw, err := os.ReadFile(graphtest.GoldenFile("ort_spatial.json"))
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Cases []struct{ Model []byte } }
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for i, c := range f.Cases {
		if i%6 == 0 || i > len(f.Cases)-35 {
			out = append(out, c.Model)
		}
	}
	add := func(opset int64, nodes func(b *onnxpb.Builder)) {
		out = append(out, graphtest.Bytes(t, graphtest.Model(opset, nodes)))
	}
	add(22, func(b *onnxpb.Builder) {
		b.AddInts("axes", 1)
		b.AddNode("Unsqueeze", graphtest.In("x", "axes"), "u")
		b.AddNodes("", "MaxPool", graphtest.In("u"), graphtest.In("m", "at"), onnxpb.Ints("kernel_shape", 2), onnxpb.Int("storage_order", 1))
		b.AddNode("Shape", graphtest.In("u"), "size")
		b.AddNode("MaxUnpool", graphtest.In("m", "at", "size"), "y", onnxpb.Ints("kernel_shape", 2))
	})
	add(20, func(b *onnxpb.Builder) {
		b.AddInit("t", []int{6}, 1, 0, 0, 0, 1, 0)
		b.AddInts("six", -1, 2, 3)
		b.AddInts("size", 1, 1, 3, 2)
		b.AddInts("zero", 0)
		b.AddInts("rest", 1, 3, 2)
		b.AddNode("Shape", graphtest.In("x"), "s")
		b.AddNode("Gather", graphtest.In("s", "zero"), "n")
		b.AddNode("Concat", graphtest.In("n", "rest"), "sizes", onnxpb.Int("axis", 0))
		b.AddNode("Concat", graphtest.In("x", "x"), "xx", onnxpb.Int("axis", 1))
		b.AddNode("Reshape", graphtest.In("xx", "six"), "theta")
		b.AddNode("AffineGrid", graphtest.In("theta", "sizes"), "g")
		b.AddNode("ReduceSum", graphtest.In("g"), "y", onnxpb.Int("noop_with_empty_axes", 1))
	})
	add(17, func(b *onnxpb.Builder) {
		b.AddInts("four", 4)
		b.AddInts("bands", 2)
		b.AddInts("rate", 16)
		b.AddInit("low", []int{}, 0)
		b.AddInit("high", []int{}, 8)
		b.AddNode("MelWeightMatrix", graphtest.In("bands", "four", "rate", "low", "high"), "mel")
		b.AddNode("HammingWindow", graphtest.In("four"), "w", onnxpb.Int("periodic", 0))
		b.AddNode("MatMul", graphtest.In("x", "mel"), "p")
		b.AddNode("ReduceSum", graphtest.In("w"), "s", onnxpb.Int("keepdims", 0))
		b.AddNode("Mul", graphtest.In("p", "s"), "y")
	})
	add(27, func(b *onnxpb.Builder) {
		b.AddInts("axes", 2)
		b.AddInit("w", []int{3, 1, 2}, 1, 2, 3, 4, 5, 6)
		b.AddNode("Unsqueeze", graphtest.In("x", "axes"), "u")
		b.AddNodes("", "CausalConvWithState", graphtest.In("u", "w"), graphtest.In("c", "state"), onnxpb.Text("activation", "silu"))
		b.AddNode("Add", graphtest.In("c", "state"), "y")
	})
	return out
}
