package onnx

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/onnxpb"
)

// RNN, GRU and LSTM whose weights, states or attributes do not fit each other.
func TestHostileRecurrent(t *testing.T) {
	in := graphtest.In
	// base is an LSTM of 2 steps of 3 numbers with a state of 2; without a name an input
	// is left out.
	base := func(op string, inputs []string, attrs ...onnxpb.Attr) func(b *onnxpb.Builder) {
		return func(b *onnxpb.Builder) {
			b.AddInts("steps", 1)
			b.AddNode("Unsqueeze", in("x", "zero"), "u")
			b.AddInts("zero", 0)
			b.AddNode("Concat", in("u", "u"), "s", onnxpb.Int("axis", 0))
			b.AddInit("w", []int{1, 8, 3}, make([]float64, 24)...)
			b.AddInit("r", []int{1, 8, 2}, make([]float64, 16)...)
			b.AddInit("short", []int{1, 7}, make([]float64, 7)...)
			b.AddInit("h", []int{1, 5, 2}, make([]float64, 10)...)
			b.AddNodes("", op, inputs, in("y", "yh"), attrs...)
		}
	}
	weights := in("s", "w", "r")
	node := `onnx: node "y" (LSTM): `
	for _, c := range []struct {
		name  string
		nodes func(b *onnxpb.Builder)
		want  string
	}{
		{"rows as steps", base("LSTM", weights, onnxpb.Int("layout", 1)), node + `mixes rows: it takes axis 0 of [2 N 3] for the rows, and the batch axis is 1; exchange them with Transpose, or set layout`},
		{"two axes", base("LSTM", in("x", "w", "r")), node + `needs a tensor of three axes, has [N 3]`},
		{"weights of another operator", base("GRU", weights), `onnx: node "y" (GRU): input 1 ("w") has shape [1 8 3], needs [1 6 3]`},
		{"two directions", base("LSTM", weights, onnxpb.Text("direction", "bidirectional")), node + `input 1 ("w") has shape [1 8 3], needs [2 8 3]`},
		{"no direction", base("LSTM", weights, onnxpb.Text("direction", "sideways")), node + `unknown direction "sideways"`},
		{"hidden size", base("LSTM", weights, onnxpb.Int("hidden_size", 1<<40)), node + `attribute "hidden_size" is 1099511627776, and the weights are for 2`},
		{"bias", base("LSTM", in("s", "w", "r", "short")), node + `input 3 ("short") has shape [1 7], needs [1 16]`},
		{"state", base("LSTM", in("s", "w", "r", "", "", "h")), node + `input 5 ("h") has shape [1 5 2], needs a state of 2 for each row and direction`},
		{"lengths", base("LSTM", in("s", "w", "r", "", "x")), node + `input 4 ("x") must be the length of each sequence, is float [N 3]`},
		{"peepholes", base("LSTM", in("s", "w", "r", "", "", "", "", "short")), node + `input 7 ("short") has shape [1 7], needs [1 6]`},
		{"types", base("LSTM", in("s", "zero", "r")), node + `input 1 ("zero") must be of the floating type of input 0, is int64`},
		{"too few activations", base("LSTM", weights, texts("activations", "Tanh")), node + `attribute "activations" names 1 functions, needs 3`},
		{"unknown activation", base("LSTM", weights, texts("activations", "Tanh", "Magic", "Relu")), node + `unknown activation "Magic"`},
		{"activation without numbers", base("LSTM", weights, texts("activations", "Tanh", "Affine", "Relu")),
			node + `activation "Affine" is given no alpha or beta, and there is no default that all engines share; export the model with attributes activation_alpha and activation_beta`},
		{"much work", func(b *onnxpb.Builder) {
			b.AddInts("shape", 1<<23, 1, 3)
			b.AddNode("Expand", in("x", "shape"), "s")
			b.AddInit("w", []int{1, 256, 3}, make([]float64, 768)...)
			b.AddInit("r", []int{1, 256, 64}, make([]float64, 256*64)...)
			b.AddNode("LSTM", weights, "y")
		}, node + `the graph needs more than 100000000000 multiply-adds for one row (MaxWork)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Load(bytes.NewReader(graphtest.Bytes(t, graphtest.Model(13, c.nodes))), nil)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error\n  %v\nwant\n  %s", err, c.want)
			}
		})
	}
}

// A length beyond the end of the sequences is found when the network runs, and names the
// row.
func TestRecurrentLength(t *testing.T) {
	b := onnxpb.NewBuilder(14)
	b.AddInput("x", graphtest.TFloat, onnxpb.Rows, 2, 1)
	b.AddInput("k", onnxpb.TensorProto_INT32, onnxpb.Rows)
	b.AddInit("w", []int{1, 1, 1}, 1)
	b.AddInit("r", []int{1, 1, 1}, 1)
	b.AddNodes("", "RNN", graphtest.In("x", "w", "r", "", "k"), graphtest.In("", "y"), onnxpb.Int("layout", 1))
	b.Output("y", graphtest.TFloat, onnxpb.Rows, 1, 1)
	g, err := Load(bytes.NewReader(graphtest.Bytes(t, b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := GoEngine{}.Prepare(g, []string{"y"})
	if err != nil {
		t.Fatal(err)
	}
	err = e.Run([][]float64{make([]float64, 3)}, [][]float64{make([]float64, 6), {0, 2, 3}}, 3)
	if want := `onnx: node "y" (RNN): row 2 of the block: a length of 3 in sequences of 2 steps`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
