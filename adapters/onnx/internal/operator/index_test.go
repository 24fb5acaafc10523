package operator_test

import (
	"math"
	"slices"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// indexed is a graph of x [N,3], m [N,2,3], k [N,2] of 0 and 1, and t [2,N] of them.
func indexed(t *testing.T, nodes func(b *onnxpb.Builder)) *graph.Graph {
	t.Helper()
	b := onnxpb.NewBuilder(26)
	b.AddInput("x", graphtest.TFloat, onnxpb.Rows, 3)
	b.AddInput("m", graphtest.TFloat, onnxpb.Rows, 2, 3)
	b.AddInput("k", graphtest.TInt64, onnxpb.Rows, 2)
	b.AddInput("tk", graphtest.TInt64, 2, onnxpb.Rows)
	b.Output("y", graphtest.TFloat)
	b.Model().Graph.Output[0].Type = nil
	nodes(b)
	g, err := graphtest.Load(graphtest.Bytes(t, b))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Rules of operators that pick, place, order and accumulate: sound, and exact where they
// are linear.
func TestRulesOfIndexOperators(t *testing.T) {
	constants := func(b *onnxpb.Builder) {
		b.AddInts("one", 1)
		b.AddInts("zero", 0)
		b.AddInts("two", 2)
		b.AddInit("table", []int{2, 3}, 1, 2, 3, 4, 5, 6)
		b.AddInit("zeros", []int{1, 2}, 0, 0)
	}
	reshaped := func(b *onnxpb.Builder, in, out string, shape ...int64) {
		b.AddInts(out+"shape", shape...)
		b.AddNode("Reshape", graphtest.In(in, out+"shape"), out)
	}
	for _, c := range []struct {
		name   string
		linear bool
		nodes  func(b *onnxpb.Builder)
	}{
		{"GatherND, positions of each row", false, func(b *onnxpb.Builder) {
			reshaped(b, "k", "kk", 0, 1, 2)
			b.AddNode("GatherND", graphtest.In("m", "kk"), "y", onnxpb.Int("batch_dims", 1))
		}},
		{"GatherND, a table", false, func(b *onnxpb.Builder) { b.AddNode("GatherND", graphtest.In("table", "k"), "y") }},
		{"GatherND, known positions", true, func(b *onnxpb.Builder) {
			b.AddNode("Transpose", graphtest.In("m"), "t", onnxpb.Ints("perm", 1, 2, 0))
			b.AddInts("flat", 0, 2, 1, -1, -2, 0)
			b.AddInts("pairs", 3, 2)
			b.AddNode("Reshape", graphtest.In("flat", "pairs"), "at")
			b.AddNode("GatherND", graphtest.In("t", "at"), "y")
		}},
		{"ScatterElements, positions of each row", false, func(b *onnxpb.Builder) {
			b.AddNode("Cast", graphtest.In("k"), "u", onnxpb.Int("to", 1))
			b.AddNode("ScatterElements", graphtest.In("x", "k", "u"), "y", onnxpb.Int("axis", 1), onnxpb.Text("reduction", "add"))
		}},
		{"ScatterElements over other lines", false, func(b *onnxpb.Builder) {
			reshaped(b, "k", "kk", 0, 2, 1)
			b.AddNode("Cast", graphtest.In("kk"), "u", onnxpb.Int("to", 1))
			b.AddNode("ScatterElements", graphtest.In("m", "kk", "u"), "y", onnxpb.Int("axis", 2))
		}},
		{"ScatterND", true, func(b *onnxpb.Builder) {
			b.AddNode("Transpose", graphtest.In("x"), "t")
			b.AddInts("flat", 2, 0, 2)
			b.AddInts("column", 3, 1)
			b.AddNode("Reshape", graphtest.In("flat", "column"), "at")
			b.AddNode("Neg", graphtest.In("t"), "u")
			b.AddNode("ScatterND", graphtest.In("t", "at", "u"), "y")
		}},
		{"ScatterND, sums", true, func(b *onnxpb.Builder) {
			b.AddNode("Transpose", graphtest.In("x"), "t")
			b.AddInts("flat", 2, 0, 2)
			b.AddInts("column", 3, 1)
			b.AddNode("Reshape", graphtest.In("flat", "column"), "at")
			b.AddNode("Neg", graphtest.In("t"), "u")
			b.AddNode("ScatterND", graphtest.In("t", "at", "u"), "y", onnxpb.Text("reduction", "add"))
		}},
		{"ScatterND, largest", false, func(b *onnxpb.Builder) {
			b.AddNode("Transpose", graphtest.In("x"), "t")
			b.AddInts("flat", 2, 0, 2)
			b.AddInts("column", 3, 1)
			b.AddNode("Reshape", graphtest.In("flat", "column"), "at")
			b.AddNode("ScatterND", graphtest.In("t", "at", "t"), "y", onnxpb.Text("reduction", "max"))
		}},
		{"TopK", false, func(b *onnxpb.Builder) {
			b.AddNodes("", "TopK", graphtest.In("m", "one"), graphtest.In("y", "at"), onnxpb.Int("axis", 1))
		}},
		{"Hardmax", false, func(b *onnxpb.Builder) { b.AddNode("Hardmax", graphtest.In("m"), "y", onnxpb.Int("axis", 1)) }},
		{"Trilu", true, func(b *onnxpb.Builder) { b.AddNode("Trilu", graphtest.In("m", "one"), "y") }},
		{"Trilu, lower", true, func(b *onnxpb.Builder) { b.AddNode("Trilu", graphtest.In("m"), "y", onnxpb.Int("upper", 0)) }},
		{"Compress", true, func(b *onnxpb.Builder) {
			b.AddInit("numbers", []int{3}, 1, 0, 1)
			b.AddNode("Cast", graphtest.In("numbers"), "on", onnxpb.Int("to", 9))
			b.AddNode("Compress", graphtest.In("m", "on"), "y", onnxpb.Int("axis", 2))
		}},
		{"ReverseSequence, lengths of each row", false, func(b *onnxpb.Builder) {
			b.AddNode("ReduceSum", graphtest.In("k", "one"), "n", onnxpb.Int("keepdims", 0))
			b.AddNode("ReverseSequence", graphtest.In("m", "n"), "y", onnxpb.Int("batch_axis", 0), onnxpb.Int("time_axis", 1))
		}},
		{"ReverseSequence", true, func(b *onnxpb.Builder) {
			b.AddInts("n", 3, 2)
			b.AddNode("Transpose", graphtest.In("m"), "t", onnxpb.Ints("perm", 1, 2, 0))
			b.AddNode("ReverseSequence", graphtest.In("t", "n"), "y", onnxpb.Int("batch_axis", 0), onnxpb.Int("time_axis", 1))
		}},
		{"CumSum backwards", true, func(b *onnxpb.Builder) {
			b.AddNode("CumSum", graphtest.In("m", "two"), "y", onnxpb.Int("reverse", 1))
		}},
		{"CumSum without itself", true, func(b *onnxpb.Builder) {
			b.AddNode("CumSum", graphtest.In("m", "one"), "y", onnxpb.Int("exclusive", 1))
		}},
		{"CumProd", false, func(b *onnxpb.Builder) { b.AddNode("CumProd", graphtest.In("m", "two"), "y", onnxpb.Int("reverse", 1)) }},
		{"Shrink", false, func(b *onnxpb.Builder) { b.AddNode("Shrink", graphtest.In("m"), "y", onnxpb.Float("bias", 0.25)) }},
		{"IsNaN and IsInf", false, func(b *onnxpb.Builder) {
			b.AddNode("IsNaN", graphtest.In("x"), "a")
			b.AddNode("IsInf", graphtest.In("x"), "b")
			b.AddNode("Or", graphtest.In("a", "b"), "y")
		}},
		{"bits", false, func(b *onnxpb.Builder) {
			b.AddNode("BitShift", graphtest.In("k", "one"), "s", onnxpb.Text("direction", "LEFT"))
			b.AddNode("BitwiseNot", graphtest.In("s"), "n")
			b.AddNode("BitwiseAnd", graphtest.In("n", "k"), "a")
			b.AddNode("BitwiseXor", graphtest.In("a", "s"), "y")
		}},
		{"the bits of a number", false, func(b *onnxpb.Builder) { b.AddNode("BitCast", graphtest.In("x"), "y", onnxpb.Int("to", 6)) }},
		{"losses of rows", false, func(b *onnxpb.Builder) {
			b.AddInit("w", []int{3}, 1, 2, 0.5)
			b.AddNode("ReduceMax", graphtest.In("k", "one"), "class", onnxpb.Int("keepdims", 0))
			b.AddNodes("", "SoftmaxCrossEntropyLoss", graphtest.In("x", "class", "w"), graphtest.In("y", "p"), onnxpb.Text("reduction", "none"))
		}},
		{"losses of places", false, func(b *onnxpb.Builder) {
			b.AddNode("Transpose", graphtest.In("m"), "t", onnxpb.Ints("perm", 0, 2, 1))
			b.AddNode("NegativeLogLikelihoodLoss", graphtest.In("t", "k"), "y", onnxpb.Text("reduction", "none"), onnxpb.Int("ignore_index", 1))
		}},
		{"Einsum of three", false, func(b *onnxpb.Builder) {
			b.AddNode("Einsum", graphtest.In("x", "m", "table"), "y", onnxpb.Text("equation", "ni,nji,ki->njk"))
		}},
		{"Einsum of three, two of them constants", true, func(b *onnxpb.Builder) {
			b.AddInit("v", []int{2}, -1, 0.5)
			b.AddNode("Einsum", graphtest.In("v", "m", "table"), "y", onnxpb.Text("equation", "j,nji,ki->nk"))
		}},
		{"Einsum with ellipsis and diagonal", true, func(b *onnxpb.Builder) {
			b.AddInit("square", []int{3, 3}, 1, 2, 3, 4, 5, 6, 7, 8, 9)
			b.AddNode("Einsum", graphtest.In("m", "square"), "y", onnxpb.Text("equation", "...i, ii -> ...i"))
		}},
		{"Einsum that repeats an axis of size 1", true, func(b *onnxpb.Builder) {
			b.AddInit("row", []int{1, 3}, 1, 2, 3)
			b.AddNode("Einsum", graphtest.In("m", "row"), "y", onnxpb.Text("equation", "nji,ji->nij"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := indexed(t, func(b *onnxpb.Builder) { constants(b); c.nodes(b) })
			graphtest.CheckRules(t, g, 5)
			n := g.Outputs[0].Producer
			r, err := operator.New[float64]().RuleOf(n)
			if err != nil || r.Each == nil || r.Linear != c.linear {
				t.Errorf("%s: opaque %v, linear %v, want %v (%v)", n, r.Each == nil, r.Linear, c.linear, err)
			}
		})
	}
}

// Values by hand, of what neither the backend tests nor the networks of testdata/zoo have.
func TestIndexOperators(t *testing.T) {
	x := []float64{3, 1, 3, -1, 5, 5}
	for _, c := range []struct {
		name  string
		nodes func(b *onnxpb.Builder)
		want  []float64
	}{
		{"TopK, equal ones in order", func(b *onnxpb.Builder) {
			b.AddInts("two", 2)
			b.AddNodes("", "TopK", graphtest.In("x", "two"), graphtest.In("", "at"))
			b.AddNode("Cast", graphtest.In("at"), "y", onnxpb.Int("to", 1))
		}, []float64{0, 2, 1, 2}},
		{"TopK, NaN is the largest", func(b *onnxpb.Builder) {
			b.AddInts("three", 3)
			b.AddInit("one", []int{1}, 1)
			b.AddNode("Sub", graphtest.In("x", "one"), "d")
			b.AddNode("Sqrt", graphtest.In("d"), "s")
			b.AddNodes("", "TopK", graphtest.In("s", "three"), graphtest.In("", "at"), onnxpb.Int("largest", 0))
			b.AddNode("Cast", graphtest.In("at"), "y", onnxpb.Int("to", 1))
		}, []float64{1, 0, 2, 1, 2, 0}},
		{"ScatterElements, the last of several", func(b *onnxpb.Builder) {
			b.AddInit("u", []int{1}, 7)
			b.AddNode("Mul", graphtest.In("x", "u"), "up")
			b.AddNode("ArgMax", graphtest.In("x"), "k1", onnxpb.Int("axis", 1))
			b.AddNode("Concat", graphtest.In("k1", "k1"), "k", onnxpb.Int("axis", 1))
			b.AddInts("two", 2)
			b.AddInts("zero", 0)
			b.AddInts("one", 1)
			b.AddNode("Slice", graphtest.In("up", "zero", "two", "one"), "u2")
			b.AddNode("ScatterElements", graphtest.In("x", "k", "u2"), "y", onnxpb.Int("axis", 1))
		}, []float64{7, 1, 3, -1, 35, 5}},
		{"Unique of a constant, in order of appearance", func(b *onnxpb.Builder) {
			b.AddInit("c", []int{3}, 2, 1, 2)
			b.AddNodes("", "Unique", graphtest.In("c"), graphtest.In("v", "", "inv"), onnxpb.Int("sorted", 0))
			b.AddNode("Gather", graphtest.In("v", "inv"), "again")
			b.AddNode("Add", graphtest.In("x", "again"), "y")
		}, []float64{5, 2, 5, 1, 6, 7}},
		{"NonZero of a constant", func(b *onnxpb.Builder) {
			b.AddInit("c", []int{3}, 0, 1, 2)
			b.AddNode("NonZero", graphtest.In("c"), "at")
			b.AddInts("flat", -1)
			b.AddNode("Reshape", graphtest.In("at", "flat"), "k")
			b.AddNode("Gather", graphtest.In("x", "k"), "y", onnxpb.Int("axis", 1))
		}, []float64{1, 3, 5, 5}},
		{"IsInf as the graph declares", func(b *onnxpb.Builder) {
			b.AddInit("big", []int{1}, 3e38)
			b.AddNode("Mul", graphtest.In("x", "big"), "h")
			b.AddNode("IsInf", graphtest.In("h"), "i", onnxpb.Int("detect_negative", 0))
			b.AddNode("Cast", graphtest.In("i"), "y", onnxpb.Int("to", 1))
		}, []float64{1, 0, 1, 0, 1, 1}},
		{"whole numbers wrap around", func(b *onnxpb.Builder) {
			b.AddInit("big", []int{1}, 1<<30)
			b.AddNode("Mul", graphtest.In("x", "big"), "h")
			b.AddNode("Cast", graphtest.In("h"), "k", onnxpb.Int("to", 7))
			b.AddNode("Cast", graphtest.In("k"), "k32", onnxpb.Int("to", 6))
			b.AddInts("one", 1)
			b.AddNode("ReduceSum", graphtest.In("k32", "one"), "s")
			b.AddNode("Cast", graphtest.In("s"), "y", onnxpb.Int("to", 1))
		}, []float64{-(1 << 30), 1 << 30}},
		{"shifts beyond the width", func(b *onnxpb.Builder) {
			b.AddNode("Cast", graphtest.In("x"), "k", onnxpb.Int("to", 7))
			b.AddInts("by", 63, 64, -1)
			b.AddNode("BitShift", graphtest.In("k", "by"), "s", onnxpb.Text("direction", "RIGHT"))
			b.AddNode("Cast", graphtest.In("s"), "y", onnxpb.Int("to", 1))
		}, []float64{0, 0, 0, -1, 0, 0}},
		{"Einsum of one, implicit", func(b *onnxpb.Builder) {
			b.AddNode("Einsum", graphtest.In("x"), "y", onnxpb.Text("equation", "ab"))
		}, x},
		{"log of a probability, the class ignored", func(b *onnxpb.Builder) {
			b.AddNode("ArgMax", graphtest.In("x"), "k", onnxpb.Int("axis", 1), onnxpb.Int("keepdims", 0))
			b.AddNodes("", "SoftmaxCrossEntropyLoss", graphtest.In("x", "k"), graphtest.In("y"), onnxpb.Text("reduction", "none"), onnxpb.Int("ignore_index", 1))
		}, []float64{math.Log(2 + math.Exp(-2)), 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := evaluate(t, graphtest.Model(21, c.nodes), x)
			if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-12 }) {
				t.Fatalf("%v, want %v", got, c.want)
			}
		})
	}
}
