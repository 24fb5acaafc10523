package operator_test

import (
	"slices"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// quantised networks around x [N,3]; values by hand.
var quantised = []struct {
	name  string
	nodes func(b *onnxpb.Builder)
	x     []float64
	want  []float64
}{
	{"ties to even, saturated, about a zero point", func(b *onnxpb.Builder) {
		b.AddInit("s", nil, 2)
		b.AddIntegers("z", tUint8, nil, 3)
		b.AddNode("QuantizeLinear", graphtest.In("x", "s", "z"), "y")
	}, []float64{1, 3, 5, -7, -100, 1e30}, []float64{3, 5, 5, 0, 0, 255}},
	{"a scale for each column", func(b *onnxpb.Builder) {
		b.AddInit("s", []int{3}, 1, 2, 4)
		b.AddIntegers("z", tInt8, []int{3}, 0, 1, -1)
		b.AddNode("QuantizeLinear", graphtest.In("x", "s", "z"), "q")
		b.AddNode("DequantizeLinear", graphtest.In("q", "s", "z"), "d")
		b.AddNode("Cast", graphtest.In("q"), "f", onnxpb.Int("to", 1))
		b.AddNode("Concat", graphtest.In("f", "d"), "y", onnxpb.Int("axis", 1))
	}, []float64{7, 7, 7, -500, 500, 2}, []float64{7, 5, 1, 7, 8, 8, -128, 127, -1, -128, 252, 0}},
	{"blocks of two columns, the last shorter", func(b *onnxpb.Builder) {
		b.AddInit("s", []int{1, 2}, 1, 4)
		b.AddInit("c", []int{1, 3}, 6, -20, 9)
		b.AddNode("QuantizeLinear", graphtest.In("c", "s"), "q", onnxpb.Int("axis", 1), onnxpb.Int("block_size", 2), onnxpb.Int("output_dtype", 22))
		b.AddNode("DequantizeLinear", graphtest.In("q", "s"), "d", onnxpb.Int("axis", 1), onnxpb.Int("block_size", 2))
		b.AddNode("Add", graphtest.In("x", "d"), "y")
	}, []float64{0, 0, 0, 1, 2, 3}, []float64{6, -8, 8, 7, -6, 11}},
	{"blocks with scales of the row", func(b *onnxpb.Builder) {
		b.AddInts("to", 2)
		b.AddInts("from", 0)
		b.AddInts("one", 1)
		b.AddNode("Slice", graphtest.In("x", "from", "to", "one"), "s")
		b.AddNode("QuantizeLinear", graphtest.In("x", "s"), "q", onnxpb.Int("axis", 1), onnxpb.Int("block_size", 2))
		b.AddNode("Cast", graphtest.In("q"), "f", onnxpb.Int("to", 1))
		b.AddNode("DequantizeLinear", graphtest.In("q", "s"), "d", onnxpb.Int("axis", 1), onnxpb.Int("block_size", 2))
		b.AddNode("Concat", graphtest.In("f", "d"), "y", onnxpb.Int("axis", 1))
	}, []float64{2, 4, 8, 1, 5, 20}, []float64{1, 2, 2, 2, 4, 8, 1, 5, 4, 1, 5, 20}},
	{"weights of int4, two in a byte", func(b *onnxpb.Builder) {
		b.AddIntegers("w", tUint8, []int{2}, 0x87, 0x0f)
		p := b.Model().Graph.Initializer[0]
		p.DataType, p.Dims = 22, []int64{3}
		b.AddInit("s", nil, 0.5)
		b.AddNode("DequantizeLinear", graphtest.In("w", "s"), "d")
		b.AddNode("Mul", graphtest.In("x", "d"), "y")
	}, []float64{1, 1, 1, 2, 2, 2}, []float64{3.5, -4, -0.5, 7, -8, -1}},
	// Each row has its range: 0 to 255, and -1 to 254.
	{"by the range of the row", func(b *onnxpb.Builder) {
		b.AddNodes("", "DynamicQuantizeLinear", graphtest.In("x"), graphtest.In("q", "scale", "point"))
		b.AddIntegers("w", tInt8, []int{3, 1}, 1, 2, -3)
		b.AddNode("MatMulInteger", graphtest.In("q", "w", "point"), "k")
		b.AddNode("Cast", graphtest.In("k"), "f", onnxpb.Int("to", 1))
		b.AddNode("Mul", graphtest.In("f", "scale"), "y")
	}, []float64{255, 10, 1, -1, 254, 0.5}, []float64{255 + 20 - 3, -1 + 508}},
	{"by the range of the row, zero points as a vector", func(b *onnxpb.Builder) {
		b.AddNodes("", "DynamicQuantizeLinear", graphtest.In("x"), graphtest.In("q", "scale", "point"))
		b.AddInts("one", 1)
		b.AddNode("Squeeze", graphtest.In("point", "one"), "points")
		b.AddIntegers("w", tInt8, []int{3, 1}, 1, 2, -3)
		b.AddNode("MatMulInteger", graphtest.In("q", "w", "points"), "k")
		b.AddNode("Cast", graphtest.In("k"), "y", onnxpb.Int("to", 1))
	}, []float64{255, 10, 1, -1, 254, 0.5}, []float64{255 + 20 - 3, -1 + 508}},
	{"products of int8, requantised by column", func(b *onnxpb.Builder) {
		b.AddInit("s", nil, 1)
		b.AddIntegers("z", tInt8, nil, 1)
		b.AddNode("QuantizeLinear", graphtest.In("x", "s", "z"), "q")
		b.AddIntegers("w", tInt8, []int{3, 2}, 1, 4, 2, 5, 3, 6)
		b.AddInit("sw", []int{2}, 0.5, 0.25)
		b.AddIntegers("zw", tInt8, []int{2}, 1, 2)
		b.AddNode("QLinearMatMul", graphtest.In("q", "s", "z", "w", "sw", "zw", "s", "z"), "y")
	}, []float64{1, 2, 3, 10, 20, 40}, []float64{1*0 + 2*1/2.0 + 3*2/2.0 + 1, 5 + 1, 51, 1 + 60}},
	{"a layer of ONNX Runtime, transposed, with an addend, in floats", func(b *onnxpb.Builder) {
		b.Import("com.microsoft", 1)
		b.AddInit("s", nil, 1)
		b.AddIntegers("z", tUint8, nil, 5)
		b.AddNode("QuantizeLinear", graphtest.In("x", "s", "z"), "q")
		b.AddIntegers("w", tInt8, []int{2, 3}, 1, 2, 3, 4, 5, 6)
		b.AddInit("sw", []int{2}, 0.5, 0.25)
		b.AddIntegers("zw", tInt8, []int{2}, 0, 1)
		b.AddIntegers("c", onnxpb.TensorProto_INT32, []int{2}, 100, -8)
		b.AddNodes("com.microsoft", "QGemm", graphtest.In("q", "s", "z", "w", "sw", "zw", "c"), graphtest.In("y"), onnxpb.Int("transB", 1), onnxpb.Float("alpha", 2))
	}, []float64{1, 2, 3, 4, 5, 6}, []float64{14 + 100, (3 + 8 + 15 - 8) / 2.0, 32 + 100, (12 + 20 + 30 - 8) / 2.0}},
	{"a convolution with a border", func(b *onnxpb.Builder) {
		b.AddInit("s", nil, 1)
		b.AddIntegers("z", tUint8, nil, 7)
		b.AddNode("QuantizeLinear", graphtest.In("x", "s", "z"), "q")
		b.AddInts("one", 1)
		b.AddNode("Unsqueeze", graphtest.In("q", "one"), "u")
		b.AddIntegers("w", tInt8, []int{1, 1, 2}, 1, 2)
		b.AddInit("half", nil, 0.5)
		b.AddIntegers("zw", tInt8, nil, 0)
		b.AddIntegers("c", onnxpb.TensorProto_INT32, []int{1}, 4)
		b.AddNode("QLinearConv", graphtest.In("u", "s", "z", "w", "half", "zw", "s", "zw", "c"), "v", onnxpb.Ints("pads", 1, 0))
		b.AddNode("ConvInteger", graphtest.In("u", "w", "z"), "i", onnxpb.Ints("pads", 1, 0))
		b.AddNode("Cast", graphtest.In("v"), "vf", onnxpb.Int("to", 1))
		b.AddNode("Cast", graphtest.In("i"), "if", onnxpb.Int("to", 1))
		b.AddNode("Concat", graphtest.In("vf", "if"), "y", onnxpb.Int("axis", 1))
	}, []float64{1, 2, 3, 0, -4, 4}, []float64{3, 4, 6, 2, 5, 8, 2, -2, 4, 0, -8, 4}},
}

func TestQuantisation(t *testing.T) {
	for _, c := range quantised {
		got, _ := evaluate(t, graphtest.Model(21, c.nodes), c.x)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		for i := range 2 { // a row alone
			w := len(c.want) / 2
			if alone, _ := evaluate(t, graphtest.Model(21, c.nodes), c.x[3*i:3*i+3]); !slices.Equal(alone, got[w*i:w*i+w]) {
				t.Errorf("%s: row %d is %v alone", c.name, i, alone)
			}
		}
	}
}

// What a quantised network depends on is known element by element: numbers that are
// quantised alone stay apart, and from short integers back it is linear.
func TestQuantisationRules(t *testing.T) {
	linear := 0
	for i, c := range quantised {
		g, err := graphtest.Load(graphtest.Bytes(t, graphtest.Model(21, c.nodes)))
		if err != nil {
			t.Fatal(err)
		}
		linear += graphtest.CheckRules(t, g, uint64(i))
		for _, n := range g.Nodes {
			if r, err := operator.New[float64]().RuleOf(n); err != nil || r.Each == nil && n.Op != "DynamicQuantizeLinear" {
				t.Errorf("%s: the rule of %s is opaque", c.name, n)
			}
			if r, _ := operator.New[float64]().RuleOf(n); n.Op == "DequantizeLinear" && n.Inputs[1].Const != nil && !r.Linear {
				t.Errorf("%s: the rule of %s is not linear", c.name, n)
			}
		}
	}
	if linear < 10 {
		t.Errorf("only %d linear nodes", linear)
	}
}
