package structure_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/adapters/onnx/internal/structure"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// TestConstantUnits: units that no column reaches are part of the intercept, with what the network computes.
func TestConstantUnits(t *testing.T) {
	x := graphtest.Input("x", graph.Batch, 2)
	h := graphtest.NewHand(x)
	weights := graphtest.Floats([]int{2, 3}, 0, 1, 0, 0, 0, 1)
	units := h.Node("Sigmoid", nil, graphtest.Rows(3), h.Node("MatMul", nil, graphtest.Rows(3), x, weights))
	f := find(t, h.Output("y", h.Linear(units, 4, 1, 1)), nil) // 4 sigmoid(0) is 2
	if d := cmp.Diff([]string{"eta[] = 2 + f(x[0]):1 + f(x[1]):1"}, graphtest.Brief(f)); d != "" {
		t.Error(d)
	}
	if !slices.Contains(f.Notes, "1 unit that depends on no column is part of the intercept") {
		t.Errorf("notes %q", f.Notes)
	}
	checkSums(t, f, 1e-12)
}

// TestUndefined: 0 times a number is 0, but not where it may be no number and somebody looks: then the column stays, and a choice
// between such rows and others is no head.
func TestUndefined(t *testing.T) {
	for operator, want := range map[string]string{
		"Abs": "eta[exp] = 0 + 1 x[1]", "Log": "eta[] = 0 + deep(x[0],x[1]):1", "Sqrt": "eta[] = 0 + deep(x[0],x[1]):1", "Acos": "eta[] = 0 + deep(x[0],x[1]):1",
	} {
		f := find(t, load(t, graphtest.Model(17, func(b *onnxpb.Builder) {
			b.AddInts("first", 0)
			b.AddInts("second", 1)
			b.AddNode("Gather", graphtest.In("x", "first"), "a", onnxpb.Int("axis", 1))
			b.AddNode("Gather", graphtest.In("x", "second"), "b", onnxpb.Int("axis", 1))
			b.AddNode(operator, graphtest.In("a"), "u")
			b.AddNode("Concat", graphtest.In("u", "b"), "both", onnxpb.Int("axis", 1))
			b.AddInit("w", []int{2, 1}, 0, 1)
			b.AddNode("MatMul", graphtest.In("both", "w"), "s")
			b.AddNode("IsNaN", graphtest.In("s"), "is")
			b.AddInit("one", nil, 1)
			b.AddNode("Exp", graphtest.In("b"), "e")
			b.AddNode("Where", graphtest.In("is", "one", "e"), "y")
		})), nil)
		if got := graphtest.Brief(f); got[0] != want {
			t.Errorf("%s: %q, want %q", operator, got, want)
		}
	}
}

// TestMissing: columns may be missing if every way from them leads through a node that has a value for NaN.
func TestMissing(t *testing.T) {
	in := graphtest.In
	for _, c := range []struct {
		name  string
		nodes func(b *onnxpb.Builder)
		want  string
	}{
		{"a choice by x == x", func(b *onnxpb.Builder) {
			b.AddNode("Equal", in("x", "x"), "is")
			b.AddNode("Where", in("is", "x", "one"), "w")
		}, "x[0] x[1] x[2]"},
		{"a choice by its own column alone", func(b *onnxpb.Builder) {
			b.AddInts("first", 0)
			b.AddNode("Gather", in("x", "first"), "x0", onnxpb.Int("axis", 1))
			b.AddNode("IsNaN", in("x0"), "is")
			b.AddNode("Where", in("is", "one", "x"), "w")
		}, "x[0]"},
		{"a way round the choice", func(b *onnxpb.Builder) {
			b.AddNode("IsNaN", in("x"), "is")
			b.AddNode("Where", in("is", "one", "x"), "u")
			b.AddNode("Add", in("u", "x"), "w")
		}, ""},
		{"a comparison", func(b *onnxpb.Builder) {
			b.AddNode("Less", in("x", "one"), "is")
			b.AddNode("Cast", in("is"), "w", onnxpb.Int("to", 1))
		}, "x[0] x[1] x[2]"},
		{"none", func(b *onnxpb.Builder) { b.AddNode("Tanh", in("x"), "w") }, ""},
	} {
		f := find(t, load(t, graphtest.Model(20, func(b *onnxpb.Builder) {
			b.AddInit("one", nil, 1)
			c.nodes(b)
			b.AddInts("last", 1)
			b.AddNode("ReduceSum", in("w", "last"), "y")
		})), nil)
		var may []string
		for i, name := range f.Columns {
			if f.Missing[i] {
				may = append(may, name)
			}
		}
		if got := strings.Join(may, " "); got != c.want {
			t.Errorf("%s: %q may be missing, want %q", c.name, got, c.want)
		}
	}
}

// TestVotes: leaves that hold shares of the classes are decomposed on the scale of probabilities, where these may be 0, and
// of log odds where Clip keeps them from it or no leaf has 0.
func TestVotes(t *testing.T) {
	votes := func(least float64, classes int) *onnxpb.Builder {
		b := onnxpb.NewBuilder(17)
		b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
		b.Import("ai.onnx.ml", 3)
		yes, no := []float64{least, 1 - least}, []float64{0.75, 0.25}
		labels := []string{"no", "yes"}
		if classes == 3 {
			yes, no, labels = append(yes, 0), append(no, 0), append(labels, "perhaps")
			yes[1], yes[2] = 0.5, 0.5-least
		}
		tree := new(graphtest.Trees).Branch(0, 0, 0, "BRANCH_LEQ", 0, 1, 2).Leaf(0, 1, yes...).Leaf(0, 2, no...)
		b.AddNodes("ai.onnx.ml", "TreeEnsembleClassifier", []string{"x"}, []string{"label", "p"}, tree.Attrs("class", onnxpb.Texts("classlabels_strings", labels...))...)
		b.Output("label", onnxpb.TensorProto_STRING, onnxpb.Rows)
		b.Output("p", onnxpb.TensorProto_FLOAT, onnxpb.Rows, classes)
		return b
	}
	for _, c := range []struct {
		least   float64
		classes int
		clip    float64
		want    string // predictors, head
	}{{0, 2, 0, "eta "}, {0.125, 2, 0, "eta sigmoid"}, {0, 2, 0.01, "eta sigmoid"}, {0, 3, 0, "no  yes  perhaps "}} {
		f := find(t, load(t, votes(c.least, c.classes)), &structure.Options{Clip: c.clip})
		var got []string
		for _, p := range f.Predictors {
			got = append(got, p.Name+" "+p.Head)
			if p.Probability != (p.Head == "") {
				t.Errorf("%+v: Probability is %v", c, p.Probability)
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%+v: %q, want %q", c, text, c.want)
		}
		if got := len(f.Predictors[0].Classes); got != c.classes {
			t.Errorf("%+v: %d classes", c, got)
		}
		checkSums(t, f, 1e-12)
	}
}
