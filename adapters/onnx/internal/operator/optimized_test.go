package operator_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// A node that ONNX Runtime's optimizer joins from several computes the same as they did: a
// network writes the difference of both. (What they are was compared with ONNX Runtime
// itself, their epsilons and other defaults included.)
func TestOptimizedNodes(t *testing.T) {
	const ms = "com.microsoft"
	one := func(b *onnxpb.Builder, op string, inputs []string, attrs ...onnxpb.Attr) {
		b.AddNodes(ms, op, inputs, graphtest.In("fused"), attrs...)
	}
	turned := func(b *onnxpb.Builder, from, to string) {
		b.AddNode("Transpose", graphtest.In(from), to, onnxpb.Ints("perm", 0, 2, 1))
	}
	for _, c := range []struct {
		name  string
		nodes func(b *onnxpb.Builder) // of x [N 3 4], c [4], w [4 3], s [1 3 4]; writes fused and plain
	}{
		{"FusedMatMul of weights", func(b *onnxpb.Builder) {
			one(b, "FusedMatMul", graphtest.In("x", "w"), onnxpb.Float("alpha", 0.5))
			b.AddNode("MatMul", graphtest.In("x", "w"), "p")
			b.AddNode("Mul", graphtest.In("p", "half"), "plain")
		}},
		{"FusedMatMul of turned weights", func(b *onnxpb.Builder) {
			b.AddNode("Transpose", graphtest.In("w"), "wt")
			one(b, "FusedMatMul", graphtest.In("x", "wt"), onnxpb.Int("transB", 1))
			b.AddNode("MatMul", graphtest.In("x", "w"), "plain")
		}},
		{"FusedMatMul of two, the second turned", func(b *onnxpb.Builder) {
			one(b, "FusedMatMul", graphtest.In("x", "x"), onnxpb.Int("transB", 1), onnxpb.Float("alpha", 0.5))
			turned(b, "x", "t")
			b.AddNode("MatMul", graphtest.In("x", "t"), "p")
			b.AddNode("Mul", graphtest.In("p", "half"), "plain")
		}},
		{"FusedMatMul of two, the first turned", func(b *onnxpb.Builder) {
			one(b, "FusedMatMul", graphtest.In("x", "s"), onnxpb.Int("transA", 1))
			turned(b, "x", "t")
			b.AddNode("MatMul", graphtest.In("t", "s"), "plain")
		}},
		{"FusedMatMul of two, both turned", func(b *onnxpb.Builder) {
			one(b, "FusedMatMul", graphtest.In("x", "z"), onnxpb.Int("transA", 1), onnxpb.Int("transB", 1))
			turned(b, "x", "t")
			b.AddNode("MatMul", graphtest.In("t", "s"), "plain")
			turned(b, "s", "z")
		}},
		{"FusedMatMul of steps first, and turned", func(b *onnxpb.Builder) {
			b.AddNode("Transpose", graphtest.In("x"), "steps", onnxpb.Ints("perm", 1, 0, 2))
			one(b, "FusedMatMul", graphtest.In("steps", "steps"), onnxpb.Int("transBatchA", 1), onnxpb.Int("transBatchB", 1), onnxpb.Int("transB", 1), onnxpb.Float("alpha", 0.5))
			turned(b, "x", "t")
			b.AddNode("MatMul", graphtest.In("x", "t"), "p")
			b.AddNode("Mul", graphtest.In("p", "half"), "plain")
		}},
		{"FusedMatMul of steps first by weights", func(b *onnxpb.Builder) {
			b.AddNode("Transpose", graphtest.In("x"), "steps", onnxpb.Ints("perm", 1, 0, 2))
			one(b, "FusedMatMul", graphtest.In("steps", "w"), onnxpb.Int("transBatchA", 1))
			b.AddNode("MatMul", graphtest.In("x", "w"), "plain")
		}},
		{"FusedGemm", func(b *onnxpb.Builder) {
			b.AddInts("flat", -1, 4)
			b.AddInit("bias", []int{3}, 1, -1, 0.5)
			b.AddNode("Reshape", graphtest.In("x", "flat"), "f")
			one(b, "FusedGemm", graphtest.In("f", "w", "bias"), onnxpb.Float("alpha", 2), onnxpb.Text("activation", "LeakyRelu"), onnxpb.Float("activation_alpha", 0.25))
			b.AddNode("Gemm", graphtest.In("f", "w", "bias"), "p", onnxpb.Float("alpha", 2))
			b.AddNode("LeakyRelu", graphtest.In("p"), "plain", onnxpb.Float("alpha", 0.25))
		}},
		{"Gelu", func(b *onnxpb.Builder) {
			one(b, "Gelu", graphtest.In("x"))
			b.AddNode("Gelu", graphtest.In("x"), "plain")
		}},
		{"BiasGelu", func(b *onnxpb.Builder) {
			one(b, "BiasGelu", graphtest.In("x", "c"))
			b.AddNode("Add", graphtest.In("x", "c"), "p")
			b.AddNode("Gelu", graphtest.In("p"), "plain")
		}},
		{"FastGelu", func(b *onnxpb.Builder) {
			one(b, "FastGelu", graphtest.In("x", "c"))
			b.AddNode("Add", graphtest.In("x", "c"), "p")
			b.AddNode("Gelu", graphtest.In("p"), "plain", onnxpb.Text("approximate", "tanh"))
		}},
		{"QuickGelu", func(b *onnxpb.Builder) {
			one(b, "QuickGelu", graphtest.In("x"))
			b.AddInit("a", []int{}, 1.702)
			b.AddNode("Mul", graphtest.In("x", "a"), "p")
			b.AddNode("Sigmoid", graphtest.In("p"), "q")
			b.AddNode("Mul", graphtest.In("x", "q"), "plain")
		}},
		{"SkipLayerNormalization", func(b *onnxpb.Builder) {
			one(b, "SkipLayerNormalization", graphtest.In("x", "s", "c", "c", "c"), onnxpb.Float("epsilon", 1e-3))
			b.AddNode("Add", graphtest.In("x", "s"), "p")
			b.AddNode("Add", graphtest.In("p", "c"), "q")
			b.AddNode("LayerNormalization", graphtest.In("q", "c", "c"), "plain", onnxpb.Float("epsilon", 1e-3))
		}},
		{"SkipLayerNormalization's sum", func(b *onnxpb.Builder) {
			b.AddNodes(ms, "SkipLayerNormalization", graphtest.In("x", "x", "c"), graphtest.In("n", "", "", "fused"))
			b.AddNode("Add", graphtest.In("x", "x"), "plain")
		}},
		{"SkipSimplifiedLayerNormalization", func(b *onnxpb.Builder) {
			one(b, "SkipSimplifiedLayerNormalization", graphtest.In("x", "x", "c", "c"), onnxpb.Float("epsilon", 1e-3))
			b.AddNode("Add", graphtest.In("x", "x"), "p")
			b.AddNode("Add", graphtest.In("p", "c"), "q")
			b.AddNode("RMSNormalization", graphtest.In("q", "c"), "plain", onnxpb.Float("epsilon", 1e-3))
		}},
		{"SimplifiedLayerNormalization", func(b *onnxpb.Builder) {
			b.AddNode("SimplifiedLayerNormalization", graphtest.In("x", "c"), "fused")
			b.AddNode("RMSNormalization", graphtest.In("x", "c"), "plain")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := onnxpb.NewBuilder(23)
			b.Import(ms, 1)
			b.AddInput("x", graphtest.TFloat, onnxpb.Rows, 3, 4)
			b.AddInit("half", []int{}, 0.5)
			b.AddInit("c", []int{4}, 1, -2, 0.5, 3)
			b.AddInit("w", []int{4, 3}, 1, 2, 3, -1, 0.5, 4, 2, -2, 1, 0.25, 1, -3)
			b.AddInit("s", []int{1, 3, 4}, 1, 2, 3, 4, -1, -2, -3, -4, 0.5, 0.25, 0.75, 1)
			c.nodes(b)
			b.AddNode("Sub", graphtest.In("fused", "plain"), "y")
			b.Output("y", graphtest.TFloat)
			b.Model().Graph.Output[0].Type = nil
			x := make([]float64, 5*12)
			rng := rand.New(rand.NewPCG(1, 8))
			for i := range x {
				x[i] = float64(float32(rng.NormFloat64()))
			}
			got, g := evaluate(t, b, x)
			for i, d := range got {
				if math.Abs(d) > 1e-12 {
					t.Fatalf("element %d differs by %g from the plain nodes", i, d)
				}
			}
			graphtest.CheckRules(t, g, 2)
		})
	}
}
