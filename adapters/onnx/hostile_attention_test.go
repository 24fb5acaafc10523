package onnx_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	onnx "github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Files that lie about heads, caches, masks and rows are refused, by a message that says
// what does not fit.
func TestHostileAttention(t *testing.T) {
	attention := func(inputs []string, attrs ...onnxpb.Attr) func(b *onnxpb.Builder) {
		return func(b *onnxpb.Builder) { b.AddNode("Attention", inputs, "y", attrs...) }
	}
	heads := func(q, k int64) []onnxpb.Attr {
		return []onnxpb.Attr{onnxpb.Int("q_num_heads", q), onnxpb.Int("kv_num_heads", k)}
	}
	qkv := []string{"x", "x", "x"}
	const large = 1 << 20
	for _, c := range []struct {
		name  string
		nodes func(b *onnxpb.Builder)
		want  string // of the message
	}{
		{"no heads", attention(qkv), `q_num_heads 0 does not divide "x", of shape [N 4 6], into heads`},
		{"heads that do not divide", attention(qkv, heads(4, 2)...), "q_num_heads 4 does not divide"},
		{"negative heads", attention(qkv, heads(-1, -1)...), "q_num_heads -1 does not divide"},
		{"heads without end", attention(qkv, heads(math.MinInt64, math.MaxInt64)...), "does not divide"},
		{"more heads of keys", attention(qkv, heads(2, 3)...), "do not fit each other"},
		{"rows inside", func(b *onnxpb.Builder) {
			b.AddNode("Transpose", graphtest.In("x"), "t", onnxpb.Ints("perm", 1, 0, 2))
			attention([]string{"t", "t", "t"}, heads(1, 1)...)(b)
		}, `mixes rows: the batch axis of "t", of shape [4 N 6], is not the first`},
		{"keys of other rows", func(b *onnxpb.Builder) {
			b.AddInts("s", -1, 2, 6)
			b.AddNode("Reshape", graphtest.In("x", "s"), "k")
			attention([]string{"x", "k", "k"}, heads(1, 1)...)(b)
		}, "[N 4 6], [N*2 2 6] and [N*2 2 6], are not the same rows"},
		{"a past of keys alone", attention([]string{"x", "x", "x", "", "past"}, heads(1, 1)...), "belong together"},
		{"a past of others", attention([]string{"x", "x", "x", "", "past", "past"}, heads(2, 2)...), `input 4 ("past") must be float [batch 2 length 3], is float [N 1 4 6]`},
		{"a mask too long", attention([]string{"x", "x", "x", "mask"}, heads(1, 1)...), "must have an entry for each of the 4 keys"},
		{"a mask of queries", attention([]string{"x", "x", "x", "rowmask"}, heads(1, 1)...), "does not fit scores [N 1 4 4]"},
		{"a mask of rows", attention([]string{"x", "x", "x", "x"}, heads(1, 1)...), "does not fit scores [N 1 4 4]"},
		{"padding of floats", attention([]string{"x", "x", "x", "", "", "", "flat"}, heads(1, 1)...), "must be int64, one for each row"},
		{"a mode unknown", attention(qkv, append(heads(1, 1), onnxpb.Int("qk_matmul_output_mode", 9))...), "is none of 0 to 3"},
		{"a window backwards", attention(qkv, append(heads(1, 1), onnxpb.Int("left_window_size", math.MinInt64))...), "must be -1 or not negative"},
		{"scores without end", func(b *onnxpb.Builder) {
			b.AddInts("s", 0, large, 1)
			b.AddInts("one", 1, 1, 1)
			b.AddInts("last", 2)
			b.AddNode("ReduceSum", graphtest.In("x", "last"), "sum")
			b.AddInts("first", 1)
			b.AddNode("ReduceSum", graphtest.In("sum", "first"), "all")
			b.AddInts("wide", 1, large, 1)
			b.AddNode("Expand", graphtest.In("all", "wide"), "q")
			attention([]string{"q", "q", "q"}, heads(1, 1)...)(b)
		}, "MaxMemory"},
		{"rotary of odd numbers", func(b *onnxpb.Builder) {
			b.AddNode("RotaryEmbedding", graphtest.In("x", "rowmask", "rowmask"), "y", onnxpb.Int("num_heads", 2))
		}, "3 of the 3 numbers of a head cannot be turned in pairs"},
		{"rotary beyond the head", func(b *onnxpb.Builder) {
			b.AddNode("RotaryEmbedding", graphtest.In("x", "rowmask", "rowmask"), "y", onnxpb.Int("num_heads", 1), onnxpb.Int("rotary_embedding_dim", math.MaxInt64-1))
		}, "cannot be turned in pairs"},
		{"rotary by an empty table", func(b *onnxpb.Builder) {
			b.AddInit("none", []int{0, 3})
			b.AddInts("zero", 0, 0, 0, 0)
			b.AddInts("s", 1, 4)
			b.AddNode("Reshape", graphtest.In("zero", "s"), "p")
			b.AddNode("RotaryEmbedding", graphtest.In("x", "none", "none", "p"), "y", onnxpb.Int("num_heads", 1))
		}, "needs int64 and [positions 3]"},
		{"no heads at all", func(b *onnxpb.Builder) {
			b.AddNode("Expand", graphtest.In("past", "s4"), "e")
			b.AddInts("s4", 1, 1, 1, 1)
			b.AddInts("from", 0)
			b.AddInts("axis", 1)
			b.AddNode("Slice", graphtest.In("e", "from", "from", "axis"), "q")
			b.AddNode("Attention", graphtest.In("q", "past", "past"), "y")
		}, "0 heads of Q do not share 1 heads of K and V evenly"},
		{"a rule unknown", func(b *onnxpb.Builder) {
			b.AddNode("LinearAttention", qkv, "y", append(heads(1, 1), onnxpb.Text("update_rule", "delta_gated"))...)
		}, `update_rule "delta_gated" is none of`},
		{"a gate left out", func(b *onnxpb.Builder) { b.AddNode("LinearAttention", qkv, "y", heads(1, 1)...) }, `update_rule "gated_delta" has a decay: true; one is given: false`},
		{"a kernel of no length", func(b *onnxpb.Builder) {
			b.AddInit("w", []int{4, 1, 0})
			b.AddNode("CausalConvWithState", graphtest.In("x", "w"), "y")
		}, "needs [rows channels length] and [channels 1 kernel]"},
		{"a cache of rows", func(b *onnxpb.Builder) {
			b.AddNode("TensorScatter", graphtest.In("x", "x"), "y", onnxpb.Int("axis", 0))
		}, "mixes rows: it writes along axis 0"},
		{"an update too long", func(b *onnxpb.Builder) {
			b.AddNode("Concat", graphtest.In("x", "x"), "u", onnxpb.Int("axis", 1))
			b.AddNode("TensorScatter", graphtest.In("x", "u"), "y")
		}, "an update of shape [N 8 6] does not fit the cache, [N 4 6]"},
		{"rows without end", func(b *onnxpb.Builder) {
			b.AddInts("k", large, 1, 1)
			b.AddNode("Tile", graphtest.In("x", "k"), "u")
			b.AddNode("Tile", graphtest.In("u", "k"), "y")
		}, "the batch axis would hold each row 1048576 times as often"},
		{"rows times the largest number", func(b *onnxpb.Builder) {
			b.AddInts("k", math.MaxInt64, 1, 1)
			b.AddNode("Tile", graphtest.In("x", "k"), "y")
		}, "impossible repeat"},
		{"half a row", func(b *onnxpb.Builder) {
			b.AddInts("two", 2)
			b.AddNode("Shape", graphtest.In("x"), "s", onnxpb.Int("end", 1))
			b.AddNode("Concat", graphtest.In("x", "x"), "u", onnxpb.Int("axis", 0))
			b.AddInts("zero", 0)
			b.AddNode("Slice", graphtest.In("u", "two", "s", "zero"), "y")
		}, "mixes rows: it slices the batch axis (2 to 1N, step 1)"},
		{"groups of none", func(b *onnxpb.Builder) {
			b.AddInit("g", []int{4}, 1, 1, 1, 1)
			b.AddNode("GroupNormalization", graphtest.In("x", "g", "g"), "y", onnxpb.Int("num_groups", math.MinInt64))
		}, "4 channels do not divide into -9223372036854775808 groups"},
		{"an operator of plain rows", func(b *onnxpb.Builder) {
			b.AddInts("s", -1, 6)
			b.AddNode("Reshape", graphtest.In("x", "s"), "u")
			b.AddNodes("ai.onnx.ml", "Scaler", graphtest.In("u"), graphtest.In("y"), onnxpb.Floats("offset", 1), onnxpb.Floats("scale", 2))
		}, `input 0 ("u") of shape [N*4 6] holds each row several times on its batch axis`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := onnxpb.NewBuilder(28)
			b.Import("ai.onnx.ml", 3)
			b.AddInput("x", graphtest.TFloat, onnxpb.Rows, 4, 6)
			b.AddInput("past", graphtest.TFloat, onnxpb.Rows, 1, 4, 6)
			b.AddInput("flat", graphtest.TFloat, onnxpb.Rows)
			b.AddInit("mask", []int{9}, 1, 1, 1, 1, 1, 1, 1, 1, 1)
			b.AddInit("rowmask", []int{3, 4}, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
			c.nodes(b)
			b.Output("y", graphtest.TFloat)
			b.Model().Graph.Output[0].Type = nil
			g, err := onnx.Load(bytes.NewReader(graphtest.Bytes(t, b)), nil)
			if err == nil {
				t.Fatalf("loaded with outputs %v", g.Outputs())
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "node ") {
				t.Errorf("error\n  %s\nwant a node and\n  %s", err, c.want)
			}
		})
	}
}
