package engine_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// network begins a graph of 4 inputs x, with constants of random numbers.
func network(t *testing.T) *onnxpb.Builder {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	b := onnxpb.NewBuilder(20)
	b.AddInput("x", graphtest.TFloat, onnxpb.Rows, 4)
	draw := func(n int, least float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(float32(least + rng.Float64()))
		}
		return v
	}
	for _, c := range []struct {
		name  string
		shape []int
	}{{"w45", []int{4, 5}}, {"w54", []int{5, 4}}, {"w53", []int{5, 3}}, {"w43", []int{4, 3}}, {"b5", []int{5}}, {"b3", []int{3}}, {"b1", []int{1}}, {"whole", []int{2, 5}},
		{"kernel", []int{3, 4, 1}}, {"w41", []int{4, 1}}, {"w15", []int{1, 5}}, {"w93", []int{9, 3}}, {"w63", []int{6, 3}}} {
		b.AddInit(c.name, c.shape, draw(graph.Product(c.shape), -0.5)...)
	}
	for _, n := range []string{"3", "4", "5"} {
		k := int(n[0] - '0')
		for _, what := range []string{"scale", "shift", "mean", "variance"} {
			b.AddInit(what+n, []int{k}, draw(k, 0.5)...)
		}
	}
	b.AddInit("wide", []int{4, 5}, slices.Repeat([]float64{1 << 70}, 20)...)
	b.AddInit("large45", []int{4, 5}, slices.Repeat([]float64{1 << 40}, 20)...)
	b.AddInit("large53", []int{5, 3}, slices.Repeat([]float64{1 << 40}, 15)...)
	b.AddInit("tiny", []int{5, 3}, slices.Repeat([]float64{1. / (1 << 60)}, 15)...)
	b.AddInit("one", nil, 1)
	b.AddInit("half", nil, 0.5)
	b.AddInit("two", nil, 2)
	b.AddInit("root", nil, float64(float32(math.Sqrt2)))
	b.AddInit("near", nil, 1.4140625) // the root of 2 in half precision
	return b
}

// TestJoined: the nodes that are joined, and that they give the numbers of the nodes one
// by one.
func TestJoined(t *testing.T) {
	norm := func(in, n string) []string {
		return graphtest.In(in, "scale"+n, "shift"+n, "mean"+n, "variance"+n)
	}
	gemm := func(b *onnxpb.Builder) { b.AddNode("Gemm", graphtest.In("x", "w45", "b5"), "p") }
	for _, c := range []struct {
		name  string
		build func(b *onnxpb.Builder)
		nodes []string // in float32
		width int
	}{
		{"norm behind a Gemm", func(b *onnxpb.Builder) {
			b.AddNode("Gemm", graphtest.In("x", "w54", "b5"), "p", onnxpb.Int("transB", 1), onnxpb.Float("alpha", 0.5), onnxpb.Float("beta", 2))
			b.AddNode("BatchNormalization", norm("p", "5"), "y")
		}, []string{"Gemm"}, 5},
		{"norm behind a MatMul", func(b *onnxpb.Builder) {
			b.AddNode("MatMul", graphtest.In("x", "w45"), "p")
			b.AddNode("BatchNormalization", norm("p", "5"), "y")
		}, []string{"MatMul"}, 5},
		{"norm behind a MatMul and an Add", func(b *onnxpb.Builder) {
			b.AddNode("MatMul", graphtest.In("x", "w45"), "p")
			b.AddNode("Add", graphtest.In("b5", "p"), "q")
			b.AddNode("BatchNormalization", norm("q", "5"), "y")
		}, []string{"MatMul"}, 5},
		{"norm before a Gemm", func(b *onnxpb.Builder) {
			b.AddNode("Tanh", graphtest.In("x"), "h")
			b.AddNode("BatchNormalization", norm("h", "4"), "p")
			b.AddNode("Gemm", graphtest.In("p", "w45", "b5"), "y")
		}, []string{"Tanh", "Gemm"}, 5},
		{"norm of the inputs and behind a Relu", func(b *onnxpb.Builder) {
			b.AddNode("BatchNormalization", norm("x", "4"), "n")
			b.AddNode("Gemm", graphtest.In("n", "w54", "b5"), "p", onnxpb.Int("transB", 1))
			b.AddNode("Relu", graphtest.In("p"), "h")
			b.AddNode("BatchNormalization", norm("h", "5"), "q")
			b.AddNode("MatMul", graphtest.In("q", "w53"), "y")
		}, []string{"Gemm", "Relu", "MatMul"}, 3},
		{"norm behind a convolution", func(b *onnxpb.Builder) {
			b.AddInts("last", 2)
			b.AddNode("Unsqueeze", graphtest.In("x", "last"), "image")
			b.AddNode("Conv", graphtest.In("image", "kernel", "b3"), "p")
			b.AddNode("BatchNormalization", norm("p", "3"), "y")
		}, []string{"Unsqueeze", "Conv"}, 3},
		{"norm of a product that others read", func(b *onnxpb.Builder) {
			gemm(b)
			b.AddNode("BatchNormalization", norm("p", "5"), "q")
			b.AddNode("Mul", graphtest.In("p", "q"), "y")
		}, []string{"Gemm", "BatchNormalization", "Mul"}, 5},
		{"one number added", func(b *onnxpb.Builder) {
			b.AddNode("MatMul", graphtest.In("x", "w45"), "p")
			b.AddNode("Add", graphtest.In("p", "b1"), "y")
		}, []string{"MatMul"}, 5},
		{"layers in a row", func(b *onnxpb.Builder) {
			gemm(b)
			b.AddNode("BatchNormalization", norm("p", "5"), "n")
			b.AddNode("Gemm", graphtest.In("n", "w45"), "q", onnxpb.Int("transB", 1), onnxpb.Float("alpha", 0.5))
			b.AddNode("Gemm", graphtest.In("q", "w43", "b3"), "y", onnxpb.Float("alpha", 3), onnxpb.Float("beta", 2))
		}, []string{"Gemm"}, 3},
		{"layers of three axes", func(b *onnxpb.Builder) {
			b.AddInts("second", 1)
			b.AddNode("Unsqueeze", graphtest.In("x", "second"), "u")
			b.AddNode("MatMul", graphtest.In("u", "w45"), "p")
			b.AddNode("Add", graphtest.In("p", "b5"), "q")
			b.AddNode("MatMul", graphtest.In("q", "w53"), "r")
			b.AddNode("Add", graphtest.In("r", "b3"), "s")
			b.AddNode("Squeeze", graphtest.In("s", "second"), "y")
		}, []string{"Unsqueeze", "MatMul", "Squeeze"}, 3},
		{"a residual block before two narrow layers", func(b *onnxpb.Builder) {
			gemm(b)
			b.AddNode("Relu", graphtest.In("p"), "h")
			b.AddNode("MatMul", graphtest.In("h", "w54"), "q")
			b.AddNode("Sum", graphtest.In("b1", "q", "x"), "s")
			b.AddNode("MatMul", graphtest.In("s", "w41"), "t")
			b.AddNode("Gemm", graphtest.In("s", "w41", "b1"), "u", onnxpb.Float("alpha", -2))
			b.AddNode("Mul", graphtest.In("t", "u"), "y")
		}, []string{"Gemm", "Relu", "MatMul", "MatMul", "MatMul", "Sum", "Gemm", "Sum", "Mul"}, 1},
		{"a residual block before a wide layer", func(b *onnxpb.Builder) {
			b.AddNode("Tanh", graphtest.In("x"), "h")
			b.AddNode("Gemm", graphtest.In("h", "w43"), "p")
			b.AddNode("Gemm", graphtest.In("x", "w43"), "q")
			b.AddNode("Relu", graphtest.In("q"), "r")
			b.AddNode("Add", graphtest.In("p", "r"), "s")
			b.AddNode("Gemm", graphtest.In("s", "w53", "b5"), "y", onnxpb.Int("transB", 1))
		}, []string{"Tanh", "Gemm", "Gemm", "Relu", "Add", "Gemm"}, 5},
		{"a layer of layers side by side", func(b *onnxpb.Builder) {
			gemm(b)
			b.AddNode("Tanh", graphtest.In("x"), "h")
			b.AddNode("Concat", graphtest.In("h", "p"), "s", onnxpb.Int("axis", -1))
			b.AddNode("Gemm", graphtest.In("s", "w93", "b3"), "y")
		}, []string{"Gemm", "Tanh", "Gemm", "Sum"}, 3},
		{"a bottleneck", func(b *onnxpb.Builder) {
			b.AddNode("Gemm", graphtest.In("x", "w41"), "p")
			b.AddNode("Gemm", graphtest.In("p", "w15", "b5"), "y")
		}, []string{"Gemm", "Gemm"}, 5},
		{"weights that are not moderate", func(b *onnxpb.Builder) {
			b.AddNode("Gemm", graphtest.In("x", "wide"), "p")
			b.AddNode("Gemm", graphtest.In("p", "tiny"), "y")
		}, []string{"Gemm", "Gemm"}, 3},
		{"weights that would not be moderate", func(b *onnxpb.Builder) {
			b.AddNode("Gemm", graphtest.In("x", "large45"), "p")
			b.AddNode("Gemm", graphtest.In("p", "large53"), "y")
		}, []string{"Gemm", "Gemm"}, 3},
		{"a layer of a bottleneck and another side by side", func(b *onnxpb.Builder) {
			gemm(b)
			b.AddNode("Gemm", graphtest.In("x", "w41"), "q")
			b.AddNode("Concat", graphtest.In("q", "p"), "s", onnxpb.Int("axis", 1))
			b.AddNode("Gemm", graphtest.In("s", "w63"), "y")
		}, []string{"Gemm", "Gemm", "Gemm", "Sum"}, 3},
		{"layers one behind the other", func(b *onnxpb.Builder) {
			b.AddInts("second", 1)
			b.AddNode("Unsqueeze", graphtest.In("x", "second"), "u")
			b.AddNode("MatMul", graphtest.In("u", "w45"), "p")
			b.AddNode("MatMul", graphtest.In("u", "w45"), "q")
			b.AddNode("Concat", graphtest.In("p", "q"), "s", onnxpb.Int("axis", 1))
			b.AddNode("MatMul", graphtest.In("s", "w53"), "r")
			b.AddNode("Flatten", graphtest.In("r"), "y")
		}, []string{"Unsqueeze", "MatMul", "MatMul", "Concat", "MatMul", "Flatten"}, 6},
		{"a column added to a layer", func(b *onnxpb.Builder) {
			gemm(b)
			b.AddNode("Gemm", graphtest.In("x", "w41"), "t")
			b.AddNode("Add", graphtest.In("p", "t"), "s")
			b.AddNode("Gemm", graphtest.In("s", "w53"), "y")
		}, []string{"Gemm", "Gemm", "Add", "Gemm"}, 3},
		{"a column of a layer", func(b *onnxpb.Builder) {
			gemm(b)
			for name, k := range map[string]int64{"second": 2, "third": 3, "axis": 1} {
				b.AddInts(name, k)
			}
			b.AddNode("Slice", graphtest.In("p", "second", "third", "axis"), "s")
			b.AddNode("Gemm", graphtest.In("s", "w15", "b5"), "y")
		}, []string{"Gemm", "Gemm"}, 5},
		{"a layer that something else reads, too", func(b *onnxpb.Builder) {
			gemm(b)
			b.AddNode("Tanh", graphtest.In("p"), "h")
			b.AddNode("Gemm", graphtest.In("p", "w53"), "q")
			b.AddNode("Gemm", graphtest.In("h", "w53"), "r")
			b.AddNode("Mul", graphtest.In("q", "r"), "y")
		}, []string{"Gemm", "Tanh", "Gemm", "Gemm", "Mul"}, 3},
		{"a layer of columns", func(b *onnxpb.Builder) {
			b.AddNode("Transpose", graphtest.In("x"), "t")
			b.AddNode("Gemm", graphtest.In("t", "w45"), "p", onnxpb.Int("transA", 1))
			b.AddNode("Gemm", graphtest.In("p", "w53"), "y")
		}, []string{"Transpose", "Gemm", "Gemm"}, 3},
		{"SiLU", func(b *onnxpb.Builder) {
			b.AddNode("Sigmoid", graphtest.In("x"), "s")
			b.AddNode("Mul", graphtest.In("s", "x"), "y")
		}, []string{"Swish"}, 4},
		{"embeddings side by side", func(b *onnxpb.Builder) {
			b.AddNode("Abs", graphtest.In("x"), "a")
			b.AddNode("Clip", graphtest.In("a", "", "two"), "c")
			b.AddNode("Cast", graphtest.In("c"), "codes", onnxpb.Int("to", int64(onnxpb.TensorProto_INT64)))
			b.AddIntegers("j0", onnxpb.TensorProto_INT64, []int{}, 0)
			b.AddIntegers("j3", onnxpb.TensorProto_INT64, []int{}, 3)
			b.AddNode("Gather", graphtest.In("codes", "j0"), "i0", onnxpb.Int("axis", 1))
			b.AddNode("Gather", graphtest.In("codes", "j3"), "i3", onnxpb.Int("axis", 1))
			b.AddNode("Gather", graphtest.In("w45", "i0"), "e0")
			b.AddNode("Gather", graphtest.In("w53", "i3"), "e3")
			b.AddNode("Concat", graphtest.In("e0", "x", "e3"), "y", onnxpb.Int("axis", 1))
		}, []string{"Abs", "Clip", "Cast", "Concat"}, 12},
		{"an embedding beside columns", func(b *onnxpb.Builder) {
			for name, k := range map[string]int64{"first": 0, "second": 1, "fourth": 3, "end": 1 << 40, "axis": 1, "every": 1, "other": 2} {
				b.AddInts(name, k)
			}
			b.AddNode("Abs", graphtest.In("x"), "a")
			b.AddNode("Clip", graphtest.In("a", "", "two"), "c")
			b.AddNode("Cast", graphtest.In("c"), "codes", onnxpb.Int("to", int64(onnxpb.TensorProto_INT64)))
			b.AddIntegers("j", onnxpb.TensorProto_INT64, []int{}, 2)
			b.AddNode("Gather", graphtest.In("codes", "j"), "i", onnxpb.Int("axis", 1))
			b.AddNode("Gather", graphtest.In("w53", "i"), "e")
			b.AddNode("Slice", graphtest.In("x", "second", "fourth", "axis"), "s")
			b.AddNode("Slice", graphtest.In("x", "first", "end", "axis", "other"), "apart")
			b.AddNode("Slice", graphtest.In("a", "fourth", "end", "axis", "every"), "last")
			b.AddNode("Concat", graphtest.In("s", "e", "apart", "last"), "y", onnxpb.Int("axis", 1))
		}, []string{"Abs", "Clip", "Cast", "Slice", "Concat"}, 8},
		{"products of a column", func(b *onnxpb.Builder) {
			for name, k := range map[string]int64{"second": 2, "third": 3, "last": -1, "end": 1 << 40, "axis": 1} {
				b.AddInts(name, k)
			}
			b.AddInit("row", []int{1, 5}, 0.3, -0.4, 0.5, 0.6, -0.7)
			b.AddNode("Slice", graphtest.In("x", "second", "third", "axis"), "s")
			b.AddNode("Gemm", graphtest.In("s", "row", "b5"), "p")
			b.AddNode("Relu", graphtest.In("p"), "h")
			b.AddNode("Slice", graphtest.In("x", "last", "end", "axis"), "t")
			b.AddNode("Gemm", graphtest.In("t", "row"), "q")
			b.AddNode("BatchNormalization", norm("q", "5"), "n")
			b.AddNode("Add", graphtest.In("h", "n"), "y")
		}, []string{"Gemm", "Relu", "Gemm", "Add"}, 5},
		{"a product of two columns", func(b *onnxpb.Builder) {
			for name, k := range map[string]int64{"first": 0, "third": 2, "axis": 1} {
				b.AddInts(name, k)
			}
			b.AddInit("rows", []int{2, 1}, 0.3, -0.4)
			b.AddNode("Slice", graphtest.In("x", "first", "third", "axis"), "s")
			b.AddNode("Gemm", graphtest.In("s", "rows"), "y")
		}, []string{"Slice", "Gemm"}, 1},
		{"a gate of something else", func(b *onnxpb.Builder) {
			b.AddNode("Tanh", graphtest.In("x"), "h")
			b.AddNode("Sigmoid", graphtest.In("x"), "s")
			b.AddNode("Mul", graphtest.In("s", "h"), "y")
		}, []string{"Tanh", "Sigmoid", "Mul"}, 4},
		{"GELU, halved last", func(b *onnxpb.Builder) {
			b.AddNode("Div", graphtest.In("x", "root"), "d")
			b.AddNode("Erf", graphtest.In("d"), "e")
			b.AddNode("Add", graphtest.In("e", "one"), "s")
			b.AddNode("Mul", graphtest.In("x", "s"), "m")
			b.AddNode("Mul", graphtest.In("m", "half"), "y")
		}, []string{"Gelu"}, 4},
		{"GELU, halved first", func(b *onnxpb.Builder) {
			b.AddNode("Div", graphtest.In("x", "root"), "d")
			b.AddNode("Erf", graphtest.In("d"), "e")
			b.AddNode("Add", graphtest.In("one", "e"), "s")
			b.AddNode("Div", graphtest.In("x", "two"), "h")
			b.AddNode("Mul", graphtest.In("s", "h"), "y")
		}, []string{"Gelu"}, 4},
		{"GELU of another root", func(b *onnxpb.Builder) {
			b.AddNode("Div", graphtest.In("x", "near"), "d")
			b.AddNode("Erf", graphtest.In("d"), "e")
			b.AddNode("Add", graphtest.In("one", "e"), "s")
			b.AddNode("Div", graphtest.In("x", "two"), "h")
			b.AddNode("Mul", graphtest.In("s", "h"), "y")
		}, []string{"Div", "Erf", "Add", "Div", "Mul"}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := network(t)
			c.build(b)
			b.Output("y", graphtest.TFloat, onnxpb.Rows, c.width)
			bytes := graphtest.Bytes(t, b)
			g, err := graphtest.Load(bytes)
			if err != nil {
				t.Fatal(err)
			}
			if nodes := engine.Steps(g, g.Outputs, engine.Options{Precision: engine.Single}); !slices.Equal(nodes, c.nodes) {
				t.Errorf("runs %v, want %v", nodes, c.nodes)
			}
			for _, precision := range []engine.Precision{engine.Double, engine.Single} {
				closeToApart(t, g, precision)
			}
			// What is asked for is computed.
			var all []*graph.Value
			for _, n := range g.Nodes {
				all = append(all, n.Outputs[0])
			}
			if nodes := engine.Steps(g, all, engine.Options{}); len(nodes) != len(g.Nodes) {
				t.Errorf("wanting every tensor, %v run", nodes)
			}
		})
	}
}

// closeToApart compares with the nodes run one by one.
func closeToApart(t *testing.T, g *graph.Graph, precision engine.Precision) {
	t.Helper()
	const rows = 50
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, rows*4)
	for i := range x {
		x[i] = 3 * rng.NormFloat64()
	}
	var got [2][]float64
	for i, apart := range []bool{false, true} {
		r, err := engine.New(g, g.Outputs, engine.Options{Precision: precision, Apart: apart})
		if err != nil {
			t.Fatal(err)
		}
		got[i] = make([]float64, rows*g.Outputs[0].Width())
		if err := r.Run([][]float64{got[i]}, [][]float64{x}, rows); err != nil {
			t.Fatal(err)
		}
	}
	most := 1e-13
	if precision == engine.Single {
		most = 1e-6
	}
	if d := distance(got[0], got[1]); d > most {
		t.Errorf("precision %d: joined and apart differ by %g", precision, d)
	}
}
