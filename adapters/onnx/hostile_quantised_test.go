package onnx_test

import (
	"bytes"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Scales, zero points and types that do not fit are refused when the network is read, and
// so is what would mix rows.
func TestHostileQuantisation(t *testing.T) {
	uint8s, int8s := onnxpb.TensorProto_UINT8, onnxpb.TensorProto_INT8
	type nodes = func(b *onnxpb.Builder)
	// one node on x, or on q, which is x quantised.
	node := func(domain, op string, inputs []string, attrs ...onnxpb.Attr) nodes {
		return func(b *onnxpb.Builder) { b.AddNodes(domain, op, inputs, []string{"y"}, attrs...) }
	}
	in := func(names ...string) []string { return names }
	for _, c := range []struct {
		name  string
		nodes nodes
		want  string
	}{
		{"scales of other columns", node("", "QuantizeLinear", in("x", "two")), "2 scales for axis 1 of shape [N 3]"},
		{"scales of rows", node("", "QuantizeLinear", in("x", "two"), onnxpb.Int("axis", 0)), "mixes rows: it has scales for 2 rows along the batch axis 0; quantise along another axis"},
		{"an axis that is not there", node("", "QuantizeLinear", in("x", "two"), onnxpb.Int("axis", 9)), "axis 9 is outside a tensor of 2 axes"},
		{"scales of no shape", node("", "QuantizeLinear", in("x", "square")), "scales of shape [2 2] are not one, one for each position along an axis of [N 3], or blocks"},
		{"integer scale", node("", "QuantizeLinear", in("x", "z")), `the scale ("z") must be floating point, is uint8`},
		{"zero points of other shape", node("", "QuantizeLinear", in("x", "s", "zz")), "zero points of shape [2] and scales of shape [] must have one"},
		{"to 32 bits", node("", "QuantizeLinear", in("x", "s", "wide")), "quantises to int32; integers of 4 to 16 bits are supported"},
		{"to floats", node("", "QuantizeLinear", in("x", "s", "s")), "quantises to float; integers of 4 to 16 bits are supported"},
		{"two types", node("", "QuantizeLinear", in("x", "s", "z"), onnxpb.Int("output_dtype", 3)), "output_dtype is int8, the zero point uint8"},
		{"to float8", node("", "QuantizeLinear", in("x", "s"), onnxpb.Int("output_dtype", 17)), "output_dtype: element type 17, floating point of 8 bits or fewer, is not supported; quantise to int8, or save the weights as float16"},
		{"blocks of rows", node("", "QuantizeLinear", in("x", "square"), onnxpb.Int("axis", 0), onnxpb.Int("block_size", 2)), "mixes rows: blocks along the batch axis 0 share a scale; quantise along another axis"},
		{"blocks that do not fit", node("", "QuantizeLinear", in("x", "square"), onnxpb.Int("block_size", 2)), "blocks of 2 along axis 1 of [N 3] do not fit scales of shape [2 2]"},
		{"endless blocks", node("", "QuantizeLinear", in("x", "square"), onnxpb.Int("block_size", 1<<62)), "blocks of 4611686018427387904 along axis 1 of [N 3] do not fit scales of shape [2 2]"},
		{"floats dequantised", node("", "DequantizeLinear", in("x", "s")), `input 0 ("x") must be integers of 4 to 16 bits or int32, is float`},
		{"dequantised to integers", node("", "DequantizeLinear", in("q", "s"), onnxpb.Int("output_dtype", 7)), "output_dtype must be a floating type"},
		{"zero point of another type", node("", "DequantizeLinear", in("q", "s", "i")), "input 0 is uint8, the zero point int8"},
		{"floats multiplied as bytes", node("", "MatMulInteger", in("x", "w")), "the factors must be int8 or uint8, are float and int8"},
		{"sizes that differ", node("", "MatMulInteger", in("q", "v")), "inner sizes differ: shapes [N 3] and [2 2]"},
		{"sums over rows", node("", "MatMulInteger", in("v8", "q")), "mixes rows: it sums over the batch axis (shapes [2 2] and [N 3])"},
		{"zero points for rows", node("", "MatMulInteger", in("q", "w", "zz")), `zero points of shape [2] do not fit the factor "q" of shape [N 3]: export the model with one, or with one for each column of the weights`},
		{"a scale that is computed", node("", "QLinearMatMul", in("q", "sx", "z", "w", "s", "i", "s", "z")), `input 1 ("sx") must be one constant number; of the weights' scales one for each column`},
		{"quantised to 32 bits", node("", "QLinearMatMul", in("q", "s", "z", "w", "s", "i", "s", "wide")), "quantises to int32; int8 and uint8 are supported"},
		{"rows in columns", node("com.microsoft", "QGemm", in("q", "s", "z", "w", "s", "i"), onnxpb.Int("transA", 1)), "mixes rows: it sums over them (transA); quantise a model that has the rows first"},
		{"half an output", node("com.microsoft", "QGemm", in("q", "s", "z", "w", "s", "i", "", "s")), "scale and zero point of the output belong together"},
		{"an addend of bytes", node("com.microsoft", "QGemm", in("q", "s", "z", "w", "s", "i", "z")), `the addend ("z") must be constant int32 of a shape that broadcasts to [N 2], is uint8 []`},
		{"a convolution of matrices", node("", "ConvInteger", in("q", "w")), "needs [rows, channels, ...] and weights of as many axes, has [N 3] and [3 2]"},
		{"bytes of two types", node("com.microsoft", "QLinearAdd", in("q", "s", "z", "w8", "s", "i", "s", "z")), "inputs 0 and 3 have types uint8 and int8"},
		{"a function of floats", node("com.microsoft", "QLinearSigmoid", in("x", "s", "z", "s", "z")), "works on int8 and uint8, not on float"},
		{"too few to join", node("com.microsoft", "QLinearConcat", in("s", "z", "q", "s", "z", "q")), "its inputs are not the output's scale and zero point and three for each tensor"},
		{"rows joined", node("com.microsoft", "QLinearConcat", in("s", "z", "q", "s", "z"), onnxpb.Int("axis", 0)), "mixes rows: it concatenates along the batch axis 0"},
		{"a scale of the batch asked for", node("", "DynamicQuantizeLinear", in("x")), "mixes rows: scale and zero point are outputs of the network, and are those of all rows together; take them from the outputs, or quantise statically"},
		{"floats in a dynamic product", node("", "DynamicQuantizeLinear", in("q")), `input 0 ("q") must be float, is uint8`},
	} {
		b := onnxpb.NewBuilder(25)
		b.Import("com.microsoft", 1)
		b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 3)
		b.AddInit("s", nil, 0.5)
		b.AddInit("two", []int{2}, 1, 2)
		b.AddInit("square", []int{2, 2}, 1, 2, 3, 4)
		b.AddIntegers("z", uint8s, nil, 5)
		b.AddIntegers("i", int8s, nil, 5)
		b.AddIntegers("zz", uint8s, []int{2}, 5, 5)
		b.AddIntegers("wide", onnxpb.TensorProto_INT32, nil, 5)
		b.AddIntegers("w", int8s, []int{3, 2}, 1, 2, 3, 4, 5, 6)
		b.AddIntegers("w8", int8s, []int{3}, 1, 2, 3)
		b.AddIntegers("v", int8s, []int{2, 2}, 1, 2, 3, 4)
		b.AddIntegers("v8", uint8s, []int{2, 2}, 1, 2, 3, 4)
		b.AddNode("QuantizeLinear", in("x", "s", "z"), "q")
		b.AddNode("Abs", in("x"), "sx")
		c.nodes(b)
		b.Output("y", onnxpb.TensorProto_FLOAT)
		b.Model().Graph.Output[0].Type = nil
		if g := b.Model().Graph; strings.HasPrefix(c.want, "mixes rows: scale") {
			n := g.Node[len(g.Node)-1]
			n.Output = []string{"bytes", "y"}
		}
		raw, err := proto.Marshal(b.Model())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := onnx.Load(bytes.NewReader(raw), nil); err == nil || !strings.HasPrefix(err.Error(), "onnx: node \"y\" (") || !strings.HasSuffix(err.Error(), "): "+c.want) {
			t.Errorf("%s: %v, want\n%s", c.name, err, c.want)
		}
	}
}
