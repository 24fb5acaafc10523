package engine_test

import (
	"math"
	"os"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
	"github.com/pho-go/pho/internal/onnxpb"
)

// seedModels are small graphs that reach every family of operators.
func seedModels(t testing.TB) [][]byte {
	var out [][]byte
	add := func(opset int64, nodes func(b *onnxpb.Builder)) {
		out = append(out, graphtest.Bytes(t, graphtest.Model(opset, nodes)))
	}
	add(13, func(b *onnxpb.Builder) {
		b.AddInit("w", []int{2, 3}, 1, 2, 3, 4, 5, 6)
		b.AddInit("b", []int{2}, 1, 2)
		b.AddNode("Gemm", graphtest.In("x", "w", "b"), "h", onnxpb.Int("transB", 1))
		b.AddNode("Relu", graphtest.In("h"), "y")
	})
	add(13, func(b *onnxpb.Builder) {
		b.AddNode("Shape", graphtest.In("x"), "s")
		b.AddInts("i", 0)
		b.AddInts("k", 1, -1)
		b.AddNode("Gather", graphtest.In("s", "i"), "n")
		b.AddNode("Concat", graphtest.In("n", "k"), "t", onnxpb.Int("axis", 0))
		b.AddNode("Reshape", graphtest.In("x", "t"), "r")
		b.AddNode("Transpose", graphtest.In("r"), "p", onnxpb.Ints("perm", 1, 0, 2))
		b.AddNode("ReduceMean", graphtest.In("p"), "y", onnxpb.Ints("axes", 2))
	})
	add(11, func(b *onnxpb.Builder) {
		b.AddInts("from", 1)
		b.AddInts("to", 3)
		b.AddInts("axes", 1)
		b.AddNode("Slice", graphtest.In("x", "from", "to", "axes"), "a")
		b.AddNodes("", "Split", graphtest.In("x"), graphtest.In("p", "q"), onnxpb.Int("axis", 1), onnxpb.Ints("split", 1, 2))
		b.AddNode("Concat", graphtest.In("a", "p", "q"), "c", onnxpb.Int("axis", 1))
		b.AddNode("Softmax", graphtest.In("c"), "y")
	})
	add(13, func(b *onnxpb.Builder) {
		b.AddInit("w", []int{3, 1, 1}, 1, 2, 3)
		b.AddInts("axes", 2)
		b.AddNode("Unsqueeze", graphtest.In("x", "axes"), "u")
		b.AddNode("Conv", graphtest.In("u", "w"), "c", onnxpb.Int("group", 3))
		b.AddNode("Einsum", graphtest.In("c", "x"), "y", onnxpb.Text("equation", "nfi,nf->nf"))
	})
	add(15, func(b *onnxpb.Builder) {
		b.AddInts("shape", 3)
		b.AddNode("ConstantOfShape", graphtest.In("shape"), "c", onnxpb.TensorAttr("value", graphtest.TFloat, []int{1}, 0.5))
		b.AddNode("Greater", graphtest.In("x", "c"), "g")
		b.AddNode("Where", graphtest.In("g", "x", "c"), "v")
		b.AddNode("Cast", graphtest.In("v"), "k", onnxpb.Int("to", 7))
		b.AddNode("Cast", graphtest.In("k"), "f", onnxpb.Int("to", 1))
		b.AddInit("e", []int{3, 2}, 1, 2, 3, 4, 5, 6)
		b.AddNode("Gather", graphtest.In("e", "k"), "em")
		b.AddNode("ReduceSum", graphtest.In("em", "two"), "s", onnxpb.Int("keepdims", 0))
		b.AddInts("two", 2)
		b.AddNode("Pow", graphtest.In("s", "f"), "y")
	})
	add(13, func(b *onnxpb.Builder) { // parts of a decomposition, which are passed over
		b.AddInit("w", []int{3}, 1, 2, 3)
		b.AddNode("Mul", graphtest.In("x", "w"), "y")
		b.AddInput("x5", onnxpb.TensorProto_DOUBLE, onnxpb.Rows, 1)
		b.AddNode("Exp", graphtest.In("x5"), "pho/part")
		b.Output("pho/part", onnxpb.TensorProto_DOUBLE, onnxpb.Rows, 1)
		b.AddMetadata("pho.structure", `{"format":"pho.structure/1","columns":{},"predictors":[],"parts":{"inputs":["x5"],"outputs":[{"name":"pho/part","predictor":"eta","part":"term","term":"x5"}]}}`)
	})
	return out
}

// FuzzLoad: whatever the bytes, loading and running ends soon, in an error or in
// numbers, within the bounds it is given; and a graph that was accepted keeps
// rows apart: a row alone gives the same bits as among others.
func FuzzLoad(f *testing.F) {
	for _, b := range seedModels(f) {
		f.Add(b)
	}
	for _, name := range []string{"nam_slice_13", "attention_15", "expand_11", "nam_einsum_17", "where_13", "cast_13", "conv2d_13", "onehot_13", "reduce_11"} {
		b, err := os.ReadFile(graphtest.GoldenFile("torch", name+".onnx"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := graph.Read(b, graph.Limits{MaxMemory: 1 << 20, MaxElements: 5000, MaxWork: 1e7}, operator.New[float64]())
		if err != nil {
			return
		}
		if len(g.Outputs) > 20 || len(g.Inputs) > 100 {
			return
		}
		var want []*graph.Value
		for _, v := range g.Outputs {
			if v.BatchAxis() >= 0 {
				want = append(want, v)
			}
		}
		for _, precision := range []engine.Precision{engine.Double, engine.Single} {
			r, err := engine.New(g, want, engine.Options{Precision: precision, MaxMemory: 16 << 20})
			if err != nil {
				return
			}
			const rows = 3
			var in, dst [][]float64
			for _, v := range g.Inputs {
				x := make([]float64, rows*v.Width())
				for i := range x {
					if x[i] = math.Sin(float64(i + 1)); !v.Type.Floating() {
						x[i] = float64(i % 2)
					}
				}
				in = append(in, x)
			}
			for _, v := range want {
				dst = append(dst, make([]float64, rows*v.Width()))
			}
			if err := r.Run(dst, in, rows); err != nil {
				return
			}
			for i := range rows {
				var in1, dst1 [][]float64
				for k, v := range g.Inputs {
					in1 = append(in1, in[k][i*v.Width():(i+1)*v.Width()])
				}
				for _, v := range want {
					dst1 = append(dst1, make([]float64, v.Width()))
				}
				if err := r.Run(dst1, in1, 1); err != nil {
					t.Fatalf("row %d fails alone: %v", i, err)
				}
				for k, v := range want {
					for j, y := range dst1[k] {
						if z := dst[k][i*v.Width()+j]; z != y && !(math.IsNaN(z) && math.IsNaN(y)) {
							t.Fatalf("%q: row %d is %v alone, %v among %d rows", v.Name, i, y, z, rows)
						}
					}
				}
			}
		}
	})
}
