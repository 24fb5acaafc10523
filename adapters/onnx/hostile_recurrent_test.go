package onnx

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
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

// DynamicQuantizeLSTM whose bytes, scales and zero points do not fit.
func TestHostileByteLSTM(t *testing.T) {
	in := graphtest.In
	all := in("s", "w", "r", "", "", "", "", "", "one", "zw", "one", "zw")
	with := func(at int, name string) []string {
		names := slices.Clone(all)
		names[at] = name
		return names
	}
	node := `onnx: node "y" (com.microsoft.DynamicQuantizeLSTM): `
	for _, c := range []struct {
		name   string
		inputs []string
		want   string
		attrs  []onnxpb.Attr
	}{
		{"floats", with(1, "floats"), `input 1 ("floats") is float [1 3 8], needs int8 or uint8 [1 3 8]`, nil},
		{"as LSTM has them", with(1, "turned"), `input 1 ("turned") is int8 [1 8 3], needs int8 or uint8 [1 3 8]`, nil},
		{"of rows", with(1, "x"), `input 1 ("x") holds weights, which must be constants`, nil},
		{"no matrix", with(2, "zw"), `input 1 ("w") is int8 [1 3 8], needs int8 or uint8 [1 3 4]`, nil},
		{"state of nothing", with(2, "empty"), `input 1 ("w") is int8 [1 3 8], needs int8 or uint8 [1 3 4]`, nil},
		{"no scale", with(8, ""), `lacks input 8: weights of bytes with scale and zero point are needed`, nil},
		{"fewer inputs", all[:9], `lacks input 9: weights of bytes with scale and zero point are needed`, nil},
		{"scales of others", with(10, "floats"), `input 10 ("floats") is float [1 3 8], needs float [1] or [1 8]`, nil},
		{"zero point of another type", with(9, "zero"), `input 9 ("zero") is int64 [1], needs int8 [1] or [1 8]`, nil},
		{"hidden size", all, `attribute "hidden_size" is 3, and the weights are for 2`, []onnxpb.Attr{onnxpb.Int("hidden_size", 3)}},
		{"two directions", all, `input 1 ("w") is int8 [1 3 8], needs int8 or uint8 [2 3 8]`, []onnxpb.Attr{onnxpb.Text("direction", "bidirectional")}},
		{"bias of bytes", with(3, "w"), `input 3 ("w") must be of the floating type of input 0, is int8`, nil},
		{"two axes", with(0, "x"), `needs a tensor of three axes, has [N 3]`, nil},
		{"constants", with(0, "two"), `quantises 2 constant sequences by one range, and here each has its own; take the node out of the network, with its outputs as constants`, nil},
		{"integers", with(0, "zero"), `input 0 ("zero") must be float, is int64`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Load(bytes.NewReader(graphtest.Bytes(t, graphtest.Model(13, func(b *onnxpb.Builder) {
				b.Import("com.microsoft", 1)
				b.AddInts("zero", 0)
				b.AddNode("Unsqueeze", in("x", "zero"), "u")
				b.AddNode("Concat", in("u", "u"), "s", onnxpb.Int("axis", 0))
				int8s := onnxpb.TensorProto_INT8
				b.AddIntegers("w", int8s, []int{1, 3, 8}, make([]int64, 24)...)
				b.AddIntegers("turned", int8s, []int{1, 8, 3}, make([]int64, 24)...)
				b.AddIntegers("r", int8s, []int{1, 2, 8}, make([]int64, 16)...)
				b.AddIntegers("empty", int8s, []int{1, 0, 8})
				b.AddIntegers("zw", int8s, []int{1}, 0)
				b.AddInit("one", []int{1}, 1)
				b.AddInit("floats", []int{1, 3, 8}, make([]float64, 24)...)
				b.AddInit("two", []int{2, 2, 3}, make([]float64, 12)...)
				b.AddNodes("com.microsoft", "DynamicQuantizeLSTM", c.inputs, in("y"), c.attrs...)
			}))), nil)
			if err == nil || !strings.HasPrefix(err.Error(), node+c.want) {
				t.Errorf("error\n  %v\nwant\n  %s", err, node+c.want)
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
