package engine_test

import (
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// indexSeeds reach operators that pick, place, order, select and accumulate, work on bits
// and compare with classes.
func indexSeeds(t testing.TB) [][]byte {
	var out [][]byte
	add := func(nodes func(b *onnxpb.Builder)) {
		out = append(out, graphtest.Bytes(t, graphtest.Model(26, func(b *onnxpb.Builder) {
			b.AddInts("zero", 0)
			b.AddInts("one", 1)
			b.AddInts("two", 2)
			b.AddInit("c", []int{3}, 2, 0, 2)
			nodes(b)
		})))
	}
	add(func(b *onnxpb.Builder) {
		b.AddNodes("", "TopK", graphtest.In("x", "two"), graphtest.In("v", "k"), onnxpb.Int("largest", 0))
		b.AddInit("table", []int{3, 2}, 1, 2, 3, 4, 5, 6)
		b.AddNode("Unsqueeze", graphtest.In("k", "two"), "kk")
		b.AddNode("GatherND", graphtest.In("table", "kk"), "g")
		b.AddNode("ScatterElements", graphtest.In("x", "k", "v"), "s", onnxpb.Int("axis", 1), onnxpb.Text("reduction", "add"))
		b.AddNode("GatherND", graphtest.In("s", "kk"), "p", onnxpb.Int("batch_dims", 1))
		b.AddNode("Einsum", graphtest.In("g", "p", "s"), "y", onnxpb.Text("equation", "nij,ni,nk->nkj"))
	})
	add(func(b *onnxpb.Builder) {
		b.AddNode("Transpose", graphtest.In("x"), "t")
		b.AddNode("Unsqueeze", graphtest.In("two", "one"), "at")
		b.AddNode("Slice", graphtest.In("t", "zero", "one"), "u")
		b.AddNode("ScatterND", graphtest.In("t", "at", "u"), "s", onnxpb.Text("reduction", "mul"))
		b.AddNode("Transpose", graphtest.In("s"), "r")
		b.AddNode("CumSum", graphtest.In("r", "one"), "a", onnxpb.Int("reverse", 1))
		b.AddNode("CumProd", graphtest.In("a", "one"), "b", onnxpb.Int("exclusive", 1))
		b.AddNode("Unsqueeze", graphtest.In("b", "one"), "m")
		b.AddNode("Trilu", graphtest.In("m"), "l", onnxpb.Int("upper", 0))
		b.AddNode("Hardmax", graphtest.In("l"), "h")
		b.AddNode("Shrink", graphtest.In("h"), "y")
	})
	add(func(b *onnxpb.Builder) {
		b.AddNode("Cast", graphtest.In("x"), "k", onnxpb.Int("to", 7))
		b.AddNode("BitShift", graphtest.In("k", "one"), "s", onnxpb.Text("direction", "LEFT"))
		b.AddNode("BitwiseAnd", graphtest.In("s", "k"), "a")
		b.AddNode("BitwiseNot", graphtest.In("a"), "n")
		b.AddNode("ReduceMax", graphtest.In("n", "one"), "m", onnxpb.Int("keepdims", 0))
		b.AddNode("Abs", graphtest.In("m"), "p")
		b.AddNode("Mod", graphtest.In("p", "two"), "class")
		b.AddNodes("", "SoftmaxCrossEntropyLoss", graphtest.In("x", "class", "c"), graphtest.In("loss", "log"), onnxpb.Text("reduction", "none"))
		b.AddNode("BitCast", graphtest.In("loss"), "bits", onnxpb.Int("to", 6))
		b.AddNode("IsInf", graphtest.In("log"), "y")
	})
	add(func(b *onnxpb.Builder) {
		b.AddNodes("", "Unique", graphtest.In("c"), graphtest.In("v", "first", "which", "count"), onnxpb.Int("sorted", 0))
		b.AddNode("NonZero", graphtest.In("c"), "at")
		b.AddNode("Gather", graphtest.In("v", "which"), "w")
		b.AddNode("Cast", graphtest.In("c"), "on", onnxpb.Int("to", 9))
		b.AddNode("Compress", graphtest.In("x", "on"), "p", onnxpb.Int("axis", 1))
		b.AddNode("Unsqueeze", graphtest.In("p", "two"), "q")
		b.AddNode("Einsum", graphtest.In("q", "w"), "e", onnxpb.Text("equation", "...a,b->...b"))
		b.AddNode("IsNaN", graphtest.In("e"), "y")
	})
	add(func(b *onnxpb.Builder) {
		b.AddInit("boxes", []int{1, 2, 4}, 0, 0, 1, 1, 0, 0, 1, 0.9)
		b.AddInit("scores", []int{1, 1, 2}, 0.5, 0.75)
		b.AddInit("half", []int{}, 0.5)
		b.AddNode("NonMaxSuppression", graphtest.In("boxes", "scores", "two", "half"), "s")
		b.AddNode("EyeLike", graphtest.In("s"), "e", onnxpb.Int("dtype", 1))
		b.AddNode("Unsqueeze", graphtest.In("x", "two"), "u")
		b.AddInts("n", 1)
		b.AddNode("Transpose", graphtest.In("u"), "t", onnxpb.Ints("perm", 1, 2, 0))
		b.AddInts("lengths", 1, 0, 1)
		b.AddNode("ReverseSequence", graphtest.In("t", "lengths"), "r", onnxpb.Int("batch_axis", 0), onnxpb.Int("time_axis", 1))
		b.AddNode("Transpose", graphtest.In("r"), "b", onnxpb.Ints("perm", 2, 1, 0))
		b.AddNode("Squeeze", graphtest.In("b", "one"), "p")
		b.AddNode("MatMul", graphtest.In("e", "c"), "w")
		b.AddNode("Einsum", graphtest.In("p", "w"), "y", onnxpb.Text("equation", "ni,j->n"))
	})
	return out
}

// The seeds are whole: each is loaded.
func TestIndexSeeds(t *testing.T) {
	for i, b := range indexSeeds(t) {
		if _, err := graphtest.Load(b); err != nil {
			t.Errorf("seed %d: %v", i, err)
		}
	}
}
