package operator_test

import (
	"math"
	"slices"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

const (
	tUint8  = onnxpb.TensorProto_UINT8
	tInt8   = onnxpb.TensorProto_INT8
	tUint64 = onnxpb.TensorProto_UINT64
)

// integersOf runs a graph around k [N,2] of type t and output y on two rows.
func integersOf(t *testing.T, typ onnxpb.TensorProto_DataType, opset int64, k []float64, nodes func(b *onnxpb.Builder)) []float64 {
	t.Helper()
	b := onnxpb.NewBuilder(opset)
	b.AddInput("k", typ, onnxpb.Rows, 2)
	nodes(b)
	b.Output("y", graphtest.TFloat)
	b.Model().Graph.Output[0].Type = nil
	y, _ := evaluate(t, b, k)
	return y
}

// Arithmetic of integers wraps in their type; what has no sign is compared, divided and
// converted without one, also above the numbers of int64.
func TestIntegerArithmetic(t *testing.T) {
	bytes := []float64{200, 100, 7, 0}
	two := func(op string) func(b *onnxpb.Builder) {
		return func(b *onnxpb.Builder) {
			b.AddIntegers("c", tUint8, []int{2}, 100, 7)
			b.AddNode(op, graphtest.In("k", "c"), "y")
		}
	}
	// What op makes of m = -k as numbers of uint64, and of further inputs.
	high := func(op string, c ...string) func(b *onnxpb.Builder) {
		return func(b *onnxpb.Builder) {
			for v, name := range []string{"0", "", "2", "", "", "", "", "7", "", "9", "10"} {
				if name != "" {
					b.AddIntegers(name, tUint64, nil, int64(v))
				}
			}
			b.AddNode("Sub", graphtest.In("0", "k"), "m")
			b.AddNode(op, append([]string{"m"}, c...), "y")
		}
	}
	small := []float64{1, 2, 0, 4}
	for _, c := range []struct {
		name  string
		typ   onnxpb.TensorProto_DataType
		k     []float64
		nodes func(b *onnxpb.Builder)
		want  []float64
	}{
		{"bytes added", tUint8, bytes, two("Add"), []float64{44, 107, 107, 7}},
		{"bytes subtracted", tUint8, bytes, two("Sub"), []float64{100, 93, 163, 249}},
		{"bytes multiplied", tUint8, bytes, two("Mul"), []float64{32, 188, 188, 0}},
		{"bytes divided", tUint8, bytes, two("Div"), []float64{2, 14, 0, 0}},
		{"remainders of bytes", tUint8, bytes, two("Mod"), []float64{0, 2, 7, 0}},
		{"least bytes", tUint8, bytes, two("Min"), []float64{100, 7, 7, 0}},
		{"powers of bytes", tUint8, []float64{2, 2, 3, 1}, two("Pow"), []float64{0, 128, 209, 1}},
		{"int8 negated", tInt8, []float64{-128, 1, 0, -3}, func(b *onnxpb.Builder) { b.AddNode("Neg", graphtest.In("k"), "y") }, []float64{-128, -1, 0, 3}},
		{"sizes of int8", tInt8, []float64{-128, 1, 0, -3}, func(b *onnxpb.Builder) { b.AddNode("Abs", graphtest.In("k"), "y") }, []float64{-128, 1, 0, 3}},
		{"int8 rectified", tInt8, []float64{-128, 1, 0, -3}, func(b *onnxpb.Builder) { b.AddNode("Relu", graphtest.In("k"), "y") }, []float64{0, 1, 0, 0}},
		{"int8 as bytes", tInt8, []float64{-128, 1, 0, -3}, func(b *onnxpb.Builder) { b.AddNode("Cast", graphtest.In("k"), "y", onnxpb.Int("to", 2)) }, []float64{128, 1, 0, 253}},
		{"int8 clipped", tInt8, []float64{-128, 1, 0, -3}, func(b *onnxpb.Builder) {
			b.AddIntegers("lo", tInt8, nil, -2)
			b.AddNode("Clip", graphtest.In("k", "lo"), "y")
		}, []float64{-2, 1, 0, -2}},
		{"high divided", tUint64, small, high("Div", "2"), []float64{1<<63 - 1, 1<<63 - 1, 0, 1<<63 - 2}},
		{"high remainders", tUint64, small, high("Mod", "10"), []float64{5, 4, 0, 2}},
		{"most of high", tUint64, small, high("Max", "7"), []float64{1 << 64, 1 << 64, 7, 1 << 64}},
		{"high compared", tUint64, small, high("Greater", "7"), []float64{1, 1, 0, 1}},
		{"high and less", tUint64, small, high("Less", "7"), []float64{0, 0, 1, 0}},
		{"high clipped from above", tUint64, small, high("Clip", "", "9"), []float64{9, 9, 0, 9}},
		{"sign of high", tUint64, small, high("Sign"), []float64{1, 1, 0, 1}},
		{"size of high", tUint64, small, high("Abs"), []float64{1 << 64, 1 << 64, 0, 1 << 64}},
		{"high as double", tUint64, small, func(b *onnxpb.Builder) {
			b.AddIntegers("0", tUint64, nil, 0)
			b.AddNode("Sub", graphtest.In("0", "k"), "m")
			b.AddNode("Cast", graphtest.In("m"), "y", onnxpb.Int("to", 11))
		}, []float64{1 << 64, 1 << 64, 0, 1 << 64}},
		{"int32 multiplied as matrices", onnxpb.TensorProto_INT32, []float64{1 << 30, 3, -5, 2}, func(b *onnxpb.Builder) {
			b.AddIntegers("w", onnxpb.TensorProto_INT32, []int{2, 2}, 2, 1, 1, -4)
			b.AddNode("MatMul", graphtest.In("k", "w"), "y")
		}, []float64{math.MinInt32 + 3, 1<<30 - 12, -8, -13}},
	} {
		if got := integersOf(t, c.typ, 21, c.k, c.nodes); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Numbers become integers by cutting off their fraction, and of short types the low bits.
func TestCastToShortIntegers(t *testing.T) {
	x := []float64{-1.5, 300.7, 2.5}
	for to, want := range map[int64][]float64{2: {255, 44, 2}, 3: {-1, 44, 2}, 4: {65535, 300, 2}, 5: {-1, 300, 2}, 12: {1<<32 - 1, 300, 2}, 13: {1 << 64, 300, 2}, 9: {1, 1, 1}, 10: {-1.5, 300.75, 2.5}, 16: {-1.5, 300, 2.5}} {
		got, _ := evaluate(t, graphtest.Model(21, func(b *onnxpb.Builder) { b.AddNode("Cast", graphtest.In("x"), "y", onnxpb.Int("to", to)) }), x)
		if !slices.Equal(got, want) {
			t.Errorf("to type %d: %v, want %v", to, got, want)
		}
	}
}

// A comparison of float16 reads what it is given as float16, in either precision; what
// the network computes keeps its digits otherwise.
func TestHalfIsReadWhereItJumps(t *testing.T) {
	b := graphtest.Model(21, func(b *onnxpb.Builder) {
		b.AddNode("Cast", graphtest.In("x"), "h", onnxpb.Int("to", 10))
		b.AddNode("Mul", graphtest.In("h", "h"), "p") // 1.0009765625^2 is 1.00195408, as float16 1.001953125
		b.AddInit("c", nil, 1.001953125)
		b.AddNode("Cast", graphtest.In("c"), "d", onnxpb.Int("to", 10))
		b.AddNode("Equal", graphtest.In("p", "d"), "e")
		b.AddNode("Cast", graphtest.In("e"), "f", onnxpb.Int("to", 10))
		b.AddNode("Add", graphtest.In("f", "p"), "y")
	})
	g, err := graphtest.Load(graphtest.Bytes(t, b))
	if err != nil {
		t.Fatal(err)
	}
	if g.Inputs[0].RoundedTo() != graph.Float16 {
		t.Errorf("the input is rounded to %s", g.Inputs[0].RoundedTo())
	}
	for _, p := range []engine.Precision{engine.Double, engine.Single} {
		r, err := engine.New(g, g.Outputs, engine.Options{Precision: p})
		if err != nil {
			t.Fatal(err)
		}
		got := graphtest.Run(t, r, g, [][]float64{{1.0009, 1.00098, 2}}, 0, 1)[0]
		for i, want := range []float64{1.0009765625*1.0009765625 + 1, 1.0009765625*1.0009765625 + 1, 4} {
			if math.Abs(got[i]-want) > 1e-6 {
				t.Errorf("%v: %v", p, got)
			}
		}
	}
}
