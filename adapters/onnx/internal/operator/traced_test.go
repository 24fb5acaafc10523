package operator_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// A network that was traced with one row has 1 where the number of rows belongs, and
// constants for each row: its rows among others are what each is alone.
func TestTracedRowsApart(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes func(b *onnxpb.Builder)
		width int
	}{
		{"a token for each row, in front", func(b *onnxpb.Builder) {
			b.AddDouble("cls", []int{1, 1, 6}, 1, 2, 3, 4, 5, 6)
			b.AddNode("Concat", graphtest.In("cls", "x"), "y", onnxpb.Int("axis", 1))
		}, 30},
		{"a token behind, the rows second", func(b *onnxpb.Builder) {
			b.AddDouble("last", []int{2, 1, 6}, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
			b.AddNode("Transpose", graphtest.In("x"), "t", onnxpb.Ints("perm", 1, 0, 2))
			b.AddNode("Concat", graphtest.In("t", "last"), "y", onnxpb.Int("axis", 0))
		}, 36},
		{"a key for each head, joined with the rows", func(b *onnxpb.Builder) {
			b.AddInts("heads", 8, 3)
			b.AddDouble("key", []int{8, 1}, 1, 2, 3, 4, 5, 6, 7, 8)
			b.AddNode("Transpose", graphtest.In("x"), "t", onnxpb.Ints("perm", 1, 0, 2))
			b.AddNode("Reshape", graphtest.In("t", "heads"), "h")
			b.AddNode("Concat", graphtest.In("h", "key"), "y", onnxpb.Int("axis", 1))
		}, 32},
		{"heads joined with the rows, steps first", func(b *onnxpb.Builder) {
			b.AddInts("heads", 4, 2, 3)
			b.AddInts("flat", 4, 6)
			b.AddInts("back", 4, 1, 6)
			b.AddDouble("w", []int{6, 6}, slices.Repeat([]float64{1, -2, 0.5, 3, -1, 2, 0.25}, 6)[:36]...)
			b.AddNode("Transpose", graphtest.In("x"), "t", onnxpb.Ints("perm", 1, 0, 2))
			b.AddNode("Reshape", graphtest.In("t", "heads"), "h")
			b.AddNode("Transpose", graphtest.In("h"), "q", onnxpb.Ints("perm", 1, 0, 2))
			b.AddNode("Transpose", graphtest.In("q"), "k", onnxpb.Ints("perm", 0, 2, 1))
			b.AddNode("MatMul", graphtest.In("q", "k"), "s")
			b.AddNode("Softmax", graphtest.In("s"), "p")
			b.AddNode("MatMul", graphtest.In("p", "q"), "a")
			b.AddNode("Transpose", graphtest.In("a"), "at", onnxpb.Ints("perm", 1, 0, 2))
			b.AddNode("Reshape", graphtest.In("at", "flat"), "f")
			b.AddNode("Gemm", graphtest.In("f", "w"), "g")
			b.AddNode("Reshape", graphtest.In("g", "back"), "y")
		}, 24},
		{"rows twice, and the first of them", func(b *onnxpb.Builder) {
			b.AddInts("zero", 0)
			b.AddInts("one", 1)
			b.AddNode("Neg", graphtest.In("x"), "n")
			b.AddNode("Concat", graphtest.In("n", "x"), "c", onnxpb.Int("axis", 0))
			b.AddNode("Slice", graphtest.In("c", "zero", "one"), "d")
			b.AddNodes("", "Split", graphtest.In("c"), graphtest.In("e", "f"), onnxpb.Int("axis", 0), onnxpb.Ints("split", 1, 1))
			b.AddNode("Sub", graphtest.In("d", "f"), "y")
		}, 24},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := onnxpb.NewBuilder(12)
			b.AddInput("x", graphtest.TDouble, 1, 4, 6)
			c.nodes(b)
			b.Output("y", graphtest.TDouble)
			b.Model().Graph.Output[0].Type = nil
			g, err := graphtest.Load(graphtest.Bytes(t, b))
			if err != nil {
				t.Fatal(err)
			}
			if w := g.Outputs[0].Width(); w != c.width {
				t.Errorf("%d numbers a row, want %d", w, c.width)
			}
			graphtest.CheckRules(t, g, 1)
			r, err := engine.New(g, g.Outputs, engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(3, 4))
			x := make([]float64, 3*24)
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			all := graphtest.Run(t, r, g, [][]float64{x}, 0, 3)[0]
			for i := range 3 {
				if one := graphtest.Run(t, r, g, [][]float64{x}, i, i+1)[0]; !slices.Equal(one, all[i*c.width:(i+1)*c.width]) {
					t.Errorf("row %d is %v alone, %v among others", i, one, all[i*c.width:(i+1)*c.width])
				}
			}
		})
	}
}
