package structure_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/adapters/onnx/internal/structure"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// counted is a linear layer behind x (1, 0, ..., 0), with what update says added at the places a and b, or reduced otherwise.
func counted(b *onnxpb.Builder, update, reduction string) {
	b.AddNode("Shape", graphtest.In("x"), "shape")
	b.AddNode("ConstantOfShape", graphtest.In("shape"), "zeros")
	b.AddInit("one number", nil, 1)
	b.AddNode("Add", graphtest.In("zeros", "one number"), "ones")
	b.AddNode("Concat", graphtest.In(update, update), "updates", onnxpb.Int("axis", 1))
	b.AddNode("Concat", graphtest.In("a", "b"), "codes", onnxpb.Int("axis", 1))
	b.AddInit("first", []int{1, 6}, 1, 0, 0, 0, 0, 0)
	b.AddNode("Mul", graphtest.In("x", "first"), "begin")
	b.AddNode("ScatterElements", graphtest.In("begin", "codes", "updates"), "counts", onnxpb.Int("axis", 1), onnxpb.Text("reduction", reduction))
	b.AddInit("weights", []int{6, 1}, 2, -1, 0.5, 3, 1, -2)
	b.AddNode("MatMul", graphtest.In("counts", "weights"), "wide")
}

// TestCodes: look-ups of a table are factors of the columns whose codes are known, and others
// stay as they are.
func TestCodes(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes func(b *onnxpb.Builder)
		o     *structure.Options
		want  string
	}{
		{"a wide part of one column", graphtest.WideOfA, nil, "a:6"},
		{"an embedding of several numbers, with a layer behind it", func(b *onnxpb.Builder) {
			b.AddInit("wider", []int{6, 2}, 1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6)
			graphtest.LookUp(b, "wider", "a", "e")
			b.AddNode("Tanh", graphtest.In("e"), "te")
			b.AddInit("o", []int{2, 1}, 1, 1)
			b.AddNode("MatMul", graphtest.In("te", "o"), "wide")
		}, nil, "a:6"},
		{"a cross of two columns", func(b *onnxpb.Builder) {
			graphtest.Crossing(b, 24)
			graphtest.LookUp(b, "table", "row", "wide")
		}, nil, "a:b:24"},
		{"a hashed cross: the other tables say which codes there are", func(b *onnxpb.Builder) {
			graphtest.Crossing(b, 7)
			b.AddIntegers("seven", onnxpb.TensorProto_INT64, nil, 7)
			b.AddNode("Mod", graphtest.In("row", "seven"), "hash")
			graphtest.LookUp(b, "table", "hash", "wide")
		}, nil, "a:b:24"},
		{"codes from 1: what both tables have", func(b *onnxpb.Builder) {
			b.AddIntegers("one", onnxpb.TensorProto_INT64, nil, 1)
			b.AddInit("from one", []int{6, 1}, 1, 2, 4, 8, 16, 32)
			b.AddNode("Sub", graphtest.In("a", "one"), "less")
			graphtest.LookUp(b, "from one", "less", "wide")
		}, nil, "a:5"},
		{"codes that a table translates", func(b *onnxpb.Builder) {
			b.AddIntegers("other", onnxpb.TensorProto_INT64, []int{6}, 2, 1, 0, 0, 1, 2)
			b.AddNode("Gather", graphtest.In("other", "a"), "other code")
			b.AddInit("three", []int{3, 1}, 1, 2, 4)
			graphtest.LookUp(b, "three", "other code", "wide")
		}, nil, "a:6"},
		{"codes of which a table takes all above one as one: another table has each", func(b *onnxpb.Builder) {
			b.AddIntegers("largest", onnxpb.TensorProto_INT64, nil, 3)
			b.AddNode("Min", graphtest.In("a", "largest"), "at most 3")
			b.AddInit("four rows", []int{4, 1}, 1, 2, 4, 8)
			graphtest.LookUp(b, "four rows", "at most 3", "wide")
		}, nil, "a:6"},
		{"a cross that has no row for some of the codes", func(b *onnxpb.Builder) {
			graphtest.Crossing(b, 20)
			b.AddIntegers("last of 24", onnxpb.TensorProto_INT64, nil, 23)
			b.AddNode("Sub", graphtest.In("last of 24", "row"), "from the end")
			graphtest.LookUp(b, "table", "from the end", "wide")
		}, nil, "f(a,b):1"},
		{"counts of one code after another", func(b *onnxpb.Builder) {
			counted(b, "ones", "add")
			b.AddNode("ScatterElements", graphtest.In("counts", "codes", "updates"), "more", onnxpb.Int("axis", 1), onnxpb.Text("reduction", "add"))
			b.AddNode("MatMul", graphtest.In("more", "weights"), "wider")
			b.AddNode("Add", graphtest.In("wide", "wider"), "sum")
			b.Model().Graph.Node[len(b.Model().Graph.Node)-1].Output[0] = "sum"
		}, nil, "a:6 b:4 x:1"},
		{"a linear layer behind counts of codes", func(b *onnxpb.Builder) { counted(b, "ones", "add") }, nil, "a:6 b:4 x:1"},
		{"the largest of what is counted, no sum", func(b *onnxpb.Builder) { counted(b, "ones", "max") }, nil, "f(a,b):5"},
		{"codes whose counts weigh as another column", func(b *onnxpb.Builder) { counted(b, "x", "add") }, nil, "x:1 f(a,x):1 f(b,x):1"},
		{"not alone: the number itself acts, too", func(b *onnxpb.Builder) {
			b.AddNode("Cast", graphtest.In("a"), "number", onnxpb.Int("to", 1))
			b.AddNode("Mul", graphtest.In("ea", "number"), "wide")
		}, nil, "f(a):1"},
		{"forced to be a learned term", graphtest.WideOfA, &structure.Options{Learned: []string{"a"}}, "f(a):1"},
		{"forced into the deep part", graphtest.WideOfA, &structure.Options{Deep: []string{"a"}}, ""},
		{"no structure", graphtest.WideOfA, &structure.Options{NoStructure: true}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := find(t, load(t, graphtest.CodedNetwork(c.nodes)), c.o)
			var got []string
			for _, p := range f.Predictors {
				for _, term := range p.Terms {
					got = append(got, fmt.Sprintf("%s:%d", term.Name, term.Width))
				}
			}
			if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
				t.Error(d)
			}
			checkSums(t, f, 1e-12)
		})
	}
}

// TestOnlyCode: the one column of a network is a factor where it only looks up a table, and part of a black box where more is done.
func TestOnlyCode(t *testing.T) {
	for _, c := range []struct {
		name, operator, want string
	}{{"a table", "Identity", "eta[] = 0 + a:4"}, {"a layer behind it", "Tanh", "eta[] = 0 + deep(a):1"}} {
		b := onnxpb.NewBuilder(17)
		b.AddInput("a", onnxpb.TensorProto_INT64, onnxpb.Rows, 1)
		b.Output("y", onnxpb.TensorProto_FLOAT)
		b.Model().Graph.Output[0].Type = nil
		b.AddInts("last", 1)
		b.AddInit("table", []int{4, 1}, 1, -1, 0.5, 2)
		graphtest.LookUp(b, "table", "a", "e")
		b.AddNode(c.operator, graphtest.In("e"), "y")
		if d := cmp.Diff([]string{c.want}, graphtest.Brief(find(t, load(t, b), nil))); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// TestOpenCodes: a column whose code is clipped may hold any number, and has no levels.
func TestOpenCodes(t *testing.T) {
	b := onnxpb.NewBuilder(17)
	b.AddInput("a", onnxpb.TensorProto_INT64, onnxpb.Rows, 1)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	b.Output("y", onnxpb.TensorProto_FLOAT)
	b.Model().Graph.Output[0].Type = nil
	b.AddInts("last", 1)
	b.AddIntegers("largest", onnxpb.TensorProto_INT64, nil, 3)
	b.AddNode("Min", graphtest.In("a", "largest"), "code")
	b.AddInit("table", []int{4, 1}, 1, -1, 0.5, 2)
	graphtest.LookUp(b, "table", "code", "e")
	b.AddNode("Tanh", graphtest.In("x"), "u")
	b.AddNode("Add", graphtest.In("e", "u"), "y")
	if d := cmp.Diff([]string{"eta[] = 0 + f(a):1 + f(x):1"}, graphtest.Brief(find(t, load(t, b), nil))); d != "" {
		t.Error(d)
	}
}
