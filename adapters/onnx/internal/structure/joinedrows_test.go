package structure_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// What is additive is found through axes that hold the rows several times, and beside an
// attention.
func TestDiscoverThroughJoinedRows(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes func(b *onnxpb.Builder)
		want  []string
	}{
		{"one network for all columns, which are rows to it", func(b *onnxpb.Builder) {
			b.AddInts("rows", -1, 1)
			b.AddNode("Reshape", graphtest.In("x", "rows"), "each")
			b.AddInit("w", []int{1, 3}, 1, -2, 0.5)
			b.AddInit("c", []int{3}, 0.25, 1, -1)
			b.AddNode("Gemm", graphtest.In("each", "w", "c"), "h")
			b.AddNode("Tanh", graphtest.In("h"), "t")
			b.AddInit("v", []int{3, 1}, 1, 2, 3)
			b.AddNode("MatMul", graphtest.In("t", "v"), "f")
			b.AddInts("columns", -1, 4)
			b.AddNode("Reshape", graphtest.In("f", "columns"), "fs")
			b.AddInts("last", 1)
			b.AddNode("ReduceSum", graphtest.In("fs", "last"), "y")
		}, []string{"eta[] = 0 + f(x[0]):3 + f(x[1]):3 + f(x[2]):3 + f(x[3]):3"}},
		{"a linear part beside an attention with its heads among the rows", func(b *onnxpb.Builder) {
			linearBeside(b, func() {
				b.AddInts("heads", -1, 4, 1)
				b.AddInts("perm", -1, 4, 2)
				for _, name := range graphtest.In("q", "k", "v") {
					b.AddNode("Reshape", graphtest.In(name, "perm"), name+"2")
					b.AddNode("Transpose", graphtest.In(name+"2"), name+"t", onnxpb.Ints("perm", 0, 2, 1))
					b.AddNode("Reshape", graphtest.In(name+"t", "heads"), name+"h")
				}
				b.AddNode("Transpose", graphtest.In("kh"), "kht", onnxpb.Ints("perm", 0, 2, 1))
				b.AddNode("MatMul", graphtest.In("qh", "kht"), "scores")
				b.AddNode("Softmax", graphtest.In("scores"), "weights")
				b.AddNode("MatMul", graphtest.In("weights", "vh"), "a")
			})
		}, []string{"eta[] = 0.5 + 1 x[0] + -2 x[1] + 0.5 x[2] + 3 x[3] + deep(x[0],x[1],x[2],x[3]):8"}},
		{"a linear part beside an attention in one node", func(b *onnxpb.Builder) {
			linearBeside(b, func() {
				b.AddNode("Attention", graphtest.In("q", "k", "v"), "a", onnxpb.Int("q_num_heads", 2), onnxpb.Int("kv_num_heads", 2))
			})
		}, []string{"eta[] = 0.5 + 1 x[0] + -2 x[1] + 0.5 x[2] + 3 x[3] + deep(x[0],x[1],x[2],x[3]):8"}},
		{"a causal attention, whose first token sees itself alone", func(b *onnxpb.Builder) {
			tokens(b)
			b.AddNode("Attention", graphtest.In("q", "k", "v"), "a", onnxpb.Int("q_num_heads", 1), onnxpb.Int("kv_num_heads", 1), onnxpb.Int("is_causal", 1))
			b.AddInts("both", 1, 2)
			b.AddNode("ReduceSum", graphtest.In("a", "both"), "y", onnxpb.Int("keepdims", 0))
		}, []string{"eta[] = 0 + f(x[0]):2 + f(x[0],x[1]):2 + f(x[0],x[1],x[2]):2 + deep(x[0],x[1],x[2],x[3]):2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := onnxpb.NewBuilder(23)
			b.AddInput("x", graphtest.TFloat, onnxpb.Rows, 4)
			c.nodes(b)
			b.Output("y", graphtest.TFloat)
			b.Model().Graph.Output[0].Type = nil
			g := load(t, b)
			graphtest.CheckRules(t, g, 3)
			f := find(t, g, nil)
			if d := cmp.Diff(c.want, graphtest.Brief(f)); d != "" {
				t.Error(d)
			}
			checkSums(t, f, 1e-12)
		})
	}
}

// tokens makes queries, keys and values [N 4 2] of the columns, one token each.
func tokens(b *onnxpb.Builder) {
	b.AddInts("behind", 2)
	b.AddNode("Unsqueeze", graphtest.In("x", "behind"), "token")
	for i, name := range graphtest.In("q", "k", "v") {
		s := float64(i + 1)
		b.AddInit(name+"w", []int{4, 2}, 1, -s, 0.5, 2, s, 1, -0.25, 0.75)
		b.AddNode("Mul", graphtest.In("token", name+"w"), name)
	}
}

// linearBeside is 0.5 + x'b plus a network on the attention's result a, [N 4 2] or joined.
func linearBeside(b *onnxpb.Builder, attention func()) {
	tokens(b)
	attention()
	b.AddInts("flat", -1, 8)
	b.AddNode("Reshape", graphtest.In("a", "flat"), "all")
	b.AddInit("dw", []int{8, 1}, 1, 2, 3, 4, 5, 6, 7, 8)
	b.AddNode("MatMul", graphtest.In("all", "dw"), "deep")
	b.AddInit("lw", []int{4, 1}, 1, -2, 0.5, 3)
	b.AddInit("lb", []int{1}, 0.5)
	b.AddNode("Gemm", graphtest.In("x", "lw", "lb"), "linear")
	b.AddNode("Add", graphtest.In("linear", "deep"), "y")
}
