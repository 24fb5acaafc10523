package operator_test

import (
	"math"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// evaluate loads a graph around x [N,3] and runs it on rows of x.
func evaluate(t *testing.T, b *onnxpb.Builder, x []float64) ([]float64, *graph.Graph) {
	t.Helper()
	g, err := graphtest.Load(graphtest.Bytes(t, b))
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.New(g, g.Outputs, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return graphtest.Run(t, r, g, [][]float64{x}, 0, len(x)/g.Inputs[0].Width())[0], g
}

// Operators and forms of operators that PyTorch does not write; expected values
// by hand.
func TestOperators(t *testing.T) {
	x := []float64{1, -2, 3, 0.5, 0, -4}
	for _, c := range []struct {
		name  string
		opset int64
		nodes func(b *onnxpb.Builder)
		want  []float64
	}{
		{"Split without sizes, opset 11", 11, func(b *onnxpb.Builder) {
			b.AddNodes("", "Split", graphtest.In("x"), graphtest.In("a", "", "c"), onnxpb.Int("axis", 1))
			b.AddNode("Sub", graphtest.In("a", "c"), "y")
		}, []float64{-2, 4.5}},
		{"Split by num_outputs, uneven", 18, func(b *onnxpb.Builder) {
			b.AddNodes("", "Split", graphtest.In("x"), graphtest.In("a", "b"), onnxpb.Int("axis", -1), onnxpb.Int("num_outputs", 2))
			b.AddNode("Concat", graphtest.In("b", "a"), "y", onnxpb.Int("axis", 1))
		}, []float64{3, 1, -2, -4, 0.5, 0}},
		{"Slice by attributes, opset 9", 9, func(b *onnxpb.Builder) {
			b.AddNode("Slice", graphtest.In("x"), "y", onnxpb.Ints("starts", 0, -2), onnxpb.Ints("ends", math.MaxInt32, 9))
		}, []float64{-2, 3, 0, -4}},
		{"Slice backwards", 13, func(b *onnxpb.Builder) {
			b.AddInts("s", 5)
			b.AddInts("e", math.MinInt64)
			b.AddInts("a", 1)
			b.AddInts("st", -2)
			b.AddNode("Slice", graphtest.In("x", "s", "e", "a", "st"), "y")
		}, []float64{3, 1, -4, 0.5}},
		{"Clip by attributes, opset 7", 7, func(b *onnxpb.Builder) {
			b.AddNode("Clip", graphtest.In("x"), "y", onnxpb.Float("min", -1), onnxpb.Float("max", 2))
		}, []float64{1, -1, 2, 0.5, 0, -1}},
		{"Softmax of a matrix, opset 7", 7, func(b *onnxpb.Builder) {
			b.AddNode("Mul", graphtest.In("x", "zero"), "z")
			b.AddInit("zero", []int{1}, 0)
			b.AddNode("Softmax", graphtest.In("z"), "y")
		}, []float64{1. / 3, 1. / 3, 1. / 3, 1. / 3, 1. / 3, 1. / 3}},
		{"Sum and Mean of three", 13, func(b *onnxpb.Builder) {
			b.AddInit("c", []int{1, 3}, 1, 2, 3)
			b.AddNode("Sum", graphtest.In("x", "c", "x"), "s")
			b.AddNode("Mean", graphtest.In("s", "c", "x"), "y")
		}, []float64{5. / 3, -2. / 3, 5, 3.5 / 3, 4. / 3, -2}},
		{"ReduceMax with axes as input", 18, func(b *onnxpb.Builder) {
			b.AddInts("a", -1)
			b.AddNode("ReduceMax", graphtest.In("x", "a"), "y", onnxpb.Int("keepdims", 0))
		}, []float64{3, 0.5}},
		{"Reduce of nothing", 18, func(b *onnxpb.Builder) {
			b.AddNode("ReduceSum", graphtest.In("x"), "y", onnxpb.Int("noop_with_empty_axes", 1))
		}, x},
		{"ArgMax, last of equals", 13, func(b *onnxpb.Builder) {
			b.AddNode("Relu", graphtest.In("x"), "r")
			b.AddNode("ArgMin", graphtest.In("r"), "y", onnxpb.Int("axis", 1), onnxpb.Int("select_last_index", 1))
		}, []float64{1, 2}},
		{"integer division and remainder", 13, func(b *onnxpb.Builder) {
			b.AddInts("two", 2)
			b.AddNode("Cast", graphtest.In("x"), "k", onnxpb.Int("to", 7))
			b.AddNode("Div", graphtest.In("k", "two"), "d")
			b.AddNode("Mod", graphtest.In("k", "two"), "m")
			b.AddNode("Concat", graphtest.In("d", "m"), "y", onnxpb.Int("axis", 1))
		}, []float64{0, -1, 1, 1, 0, 1, 0, 0, -2, 0, 0, 0}},
		{"folded Cast", 13, func(b *onnxpb.Builder) {
			b.AddInit("c", []int{3}, 1.7, -1.7, 0.2)
			b.AddNode("Cast", graphtest.In("c"), "k", onnxpb.Int("to", 7))
			b.AddNode("Cast", graphtest.In("k"), "f", onnxpb.Int("to", 1))
			b.AddNode("Add", graphtest.In("x", "f"), "y")
		}, []float64{2, -3, 3, 1.5, -1, -4}},
		{"Constant in all forms", 13, func(b *onnxpb.Builder) {
			b.AddNode("Constant", nil, "a", onnxpb.Float("value_float", 2))
			b.AddNode("Constant", nil, "b", onnxpb.Floats("value_floats", 1, 2, 3))
			b.AddNode("Constant", nil, "c", onnxpb.Ints("value_ints", -1, 3))
			b.AddNode("Constant", nil, "d", onnxpb.TensorAttr("value", graphtest.TFloat, []int{1}, 1.0))
			b.AddNode("Mul", graphtest.In("x", "a"), "p")
			b.AddNode("Add", graphtest.In("p", "b"), "q")
			b.AddNode("Reshape", graphtest.In("q", "c"), "r")
			b.AddNode("Sub", graphtest.In("r", "d"), "y")
		}, []float64{2, -3, 8, 1, 1, -6}},
		{"OneHot of an axis in front", 13, func(b *onnxpb.Builder) {
			b.AddInts("depth", 3)
			b.AddInit("v", []int{2}, 0, 5)
			b.AddInts("first", 0)
			b.AddNode("Abs", graphtest.In("x"), "p")
			b.AddNode("Floor", graphtest.In("p"), "f")
			b.AddNode("Gather", graphtest.In("f", "first"), "i", onnxpb.Int("axis", 1))
			b.AddNode("OneHot", graphtest.In("i", "depth", "v"), "y", onnxpb.Int("axis", 1))
		}, []float64{0, 5, 0, 5, 0, 0}},
		{"Scaler and FeatureVectorizer", 13, func(b *onnxpb.Builder) {
			b.Import("ai.onnx.ml", 1)
			b.AddNodes("ai.onnx.ml", "Scaler", graphtest.In("x"), graphtest.In("s"), onnxpb.Floats("offset", 1, 0, 0), onnxpb.Floats("scale", 2))
			b.AddNodes("ai.onnx.ml", "FeatureVectorizer", graphtest.In("s", "x"), graphtest.In("y"), onnxpb.Ints("inputdimensions", 3, 3))
		}, []float64{0, -4, 6, 1, -2, 3, -1, 0, -8, 0.5, 0, -4}},
		{"Expand to the larger of two shapes, and the smaller size", 13, func(b *onnxpb.Builder) {
			b.AddInit("c", []int{1, 3}, 1, 2, 3)
			b.AddInts("ones", 1, 1)
			b.AddInts("large", 1, 7)
			b.AddNode("Shape", graphtest.In("x"), "s")
			b.AddNode("Max", graphtest.In("s", "ones"), "m")
			b.AddNode("Expand", graphtest.In("c", "m"), "e")
			b.AddNode("Min", graphtest.In("s", "large"), "l") // 1, and 3
			b.AddNode("Expand", graphtest.In("c", "l"), "f")
			b.AddNode("Add", graphtest.In("e", "f"), "g")
			b.AddNode("Add", graphtest.In("x", "g"), "y")
		}, []float64{3, 2, 9, 2.5, 4, 2}},
		{"Tile by the number of rows", 15, func(b *onnxpb.Builder) {
			b.AddInit("c", []int{2, 3}, 1, 2, 3, 10, 20, 30)
			b.AddInts("one", 1)
			b.AddInts("apart", -1, 1, 3)
			b.AddInts("two", -1, 2, 3)
			b.AddNode("Shape", graphtest.In("x"), "s", onnxpb.Int("end", 1))
			b.AddNode("Concat", graphtest.In("s", "one"), "r", onnxpb.Int("axis", 0))
			b.AddNode("Tile", graphtest.In("c", "r"), "t")
			b.AddNode("Reshape", graphtest.In("t", "two"), "u")
			b.AddNode("Reshape", graphtest.In("x", "apart"), "v")
			b.AddNode("Add", graphtest.In("u", "v"), "y")
		}, []float64{2, 0, 6, 11, 18, 33, 1.5, 2, -1, 10.5, 20, 26}},
		{"Pad with a value", 13, func(b *onnxpb.Builder) {
			b.AddInts("p", 0, 1, 0, 2)
			b.AddInit("v", []int{}, 9)
			b.AddNode("Pad", graphtest.In("x", "p", "v"), "y")
		}, []float64{9, 1, -2, 3, 9, 9, 9, 0.5, 0, -4, 9, 9}},
		{"GatherElements", 13, func(b *onnxpb.Builder) {
			b.AddNode("ArgMax", graphtest.In("x"), "k", onnxpb.Int("axis", 1))
			b.AddNode("GatherElements", graphtest.In("x", "k"), "y", onnxpb.Int("axis", 1))
		}, []float64{3, 0.5}},
		{"CumSum", 14, func(b *onnxpb.Builder) {
			b.AddInts("a", 1)
			b.AddNode("CumSum", graphtest.In("x", "a"), "y")
		}, []float64{1, -1, 2, 0.5, 0.5, -3.5}},
		{"Dropout with a mask nobody reads", 7, func(b *onnxpb.Builder) {
			b.AddNodes("", "Dropout", graphtest.In("x"), graphtest.In("y", "mask"))
		}, x},
		// Keras through tf2onnx: the batch size goes through int32 and back.
		{"tf2onnx reshape", 13, func(b *onnxpb.Builder) {
			b.AddNode("Shape", graphtest.In("x"), "s")
			b.AddNode("Cast", graphtest.In("s"), "s32", onnxpb.Int("to", 6))
			b.AddInts("zero", 0)
			b.AddInts("one", 1)
			b.AddNode("Slice", graphtest.In("s32", "zero", "one", "zero"), "n")
			b.AddNode("Squeeze", graphtest.In("n", "zero"), "n0")
			b.AddNode("Unsqueeze", graphtest.In("n0", "zero"), "n1")
			b.AddNode("Cast", graphtest.In("n1"), "n64", onnxpb.Int("to", 7))
			b.AddInts("three", 3)
			b.AddNode("Concat", graphtest.In("n64", "three", "one"), "t", onnxpb.Int("axis", 0))
			b.AddNode("Reshape", graphtest.In("x", "t"), "r")
			b.AddNode("Transpose", graphtest.In("r"), "p", onnxpb.Ints("perm", 0, 2, 1))
			b.AddNode("Squeeze", graphtest.In("p", "one"), "y")
		}, x},
		// The whole size, divided: N*3/3.
		{"size arithmetic", 13, func(b *onnxpb.Builder) {
			b.AddNode("Size", graphtest.In("x"), "s")
			b.AddInts("three", 3)
			b.AddNode("Div", graphtest.In("s", "three"), "n")
			b.AddNode("Concat", graphtest.In("n", "three"), "t", onnxpb.Int("axis", 0))
			b.AddNode("Reshape", graphtest.In("x", "t"), "y")
		}, x},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := evaluate(t, graphtest.Model(c.opset, c.nodes), x)
			if len(got) != len(c.want) {
				t.Fatalf("%v, want %v", got, c.want)
			}
			for i, w := range c.want {
				if math.Abs(got[i]-w) > 1e-12 {
					t.Fatalf("%v, want %v", got, c.want)
				}
			}
		})
	}
}

// Weights, constants and shapes fold away; only what rows touch remains.
func TestFolding(t *testing.T) {
	b := graphtest.Model(13, func(b *onnxpb.Builder) {
		b.AddInit("v", []int{3}, 1, 2, 3)
		b.AddInit("g", []int{1}, 2)
		b.AddNode("Mul", graphtest.In("v", "g"), "scaled") // weight normalisation
		b.AddNode("Sqrt", graphtest.In("scaled"), "w")
		b.AddNode("Add", graphtest.In("x", "w"), "y")
		b.AddNode("LSTM", graphtest.In("x"), "unused") // not needed: not even looked at
	})
	y, g := evaluate(t, b, []float64{0, 0, 0})
	if len(g.Nodes) != 1 || g.Nodes[0].Op != "Add" || g.Nodes[0].Inputs[1].Const == nil {
		t.Fatalf("kept %d nodes", len(g.Nodes))
	}
	if math.Abs(y[2]-math.Sqrt(6)) > 1e-15 {
		t.Fatal(y)
	}
	if _, ok := g.Value("unused"); ok {
		t.Fatal("an unused value is in the graph")
	}
}

// A graph traced with one row: its leading 1 is the batch axis.
func TestTracedWithOneRow(t *testing.T) {
	b := onnxpb.NewBuilder(13)
	b.AddInput("x", graphtest.TFloat, 1, 1, 3)
	b.AddInts("s", 1, 3)
	b.AddInts("s2", 1, -1, 1)
	b.AddInit("c", []int{1, 3}, 1, 2, 3)
	b.AddNode("Reshape", graphtest.In("x", "s"), "r")
	b.AddNode("Add", graphtest.In("r", "c"), "a")
	b.AddNode("Reshape", graphtest.In("a", "s2"), "y")
	b.Output("y", graphtest.TFloat, 1, 3, 1)
	y, g := evaluate(t, b, []float64{0, 0, 0, 10, 10, 10})
	if g.Inputs[0].BatchAxis() != 0 || g.Outputs[0].BatchAxis() != 0 {
		t.Fatalf("shapes %v %v", g.Inputs[0].Shape, g.Outputs[0].Shape)
	}
	if y[5] != 13 {
		t.Fatal(y)
	}
}

// Double tensors stay double whatever the precision asked for.
func TestDoubleGraphInSingle(t *testing.T) {
	b := onnxpb.NewBuilder(13)
	b.AddInput("x", graphtest.TDouble, onnxpb.Rows, 1)
	b.AddDouble("c", []int{1}, 1e-12)
	b.AddNode("Add", graphtest.In("x", "c"), "y")
	b.Output("y", graphtest.TDouble, onnxpb.Rows, 1)
	g, err := graphtest.Load(graphtest.Bytes(t, b))
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.New(g, g.Outputs, engine.Options{Precision: engine.Single})
	if err != nil {
		t.Fatal(err)
	}
	if y := graphtest.Run(t, r, g, [][]float64{{1}}, 0, 1)[0][0]; y != 1+1e-12 {
		t.Fatal(y)
	}
}
