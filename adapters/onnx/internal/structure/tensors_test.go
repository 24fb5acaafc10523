package structure_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// TestTensors: an array is one column, whatever is computed of it is deep, and what other columns add is found beside it.
func TestTensors(t *testing.T) {
	in := graphtest.In
	for _, c := range []struct {
		name  string
		nodes func(b *onnxpb.Builder) // of img and other, 4 numbers a row each, and a
		want  []string
	}{
		{"beside a column", func(b *onnxpb.Builder) {
			b.AddNode("Tanh", in("img"), "h")
			b.AddNode("MatMul", in("h", "four"), "s")
			b.AddNode("Add", in("s", "a"), "y")
		}, []string{
			`eta[] = 0 + 1 a + deep(img):4`,
			`semi-structured: 1 linear term and a deep part`,
			`4 features of node "h" (Tanh) depend on array "img", 4 alone`,
		}},
		{"two arrays, number by number", func(b *onnxpb.Builder) {
			b.AddNode("Mul", in("img", "other"), "p")
			b.AddNode("Tanh", in("p"), "h")
			b.AddNode("MatMul", in("h", "four"), "s")
			b.AddNode("Add", in("s", "a"), "y")
		}, []string{
			`eta[] = 0 + 1 a + deep(img,other):4`,
			`semi-structured: 1 linear term and a deep part`,
			`4 features of node "h" (Tanh) depend on 2 columns ("img", "other"), with arrays among them`,
		}},
		{"two arrays, one after the other", func(b *onnxpb.Builder) {
			b.AddNode("Concat", in("img", "other"), "both", onnxpb.Int("axis", 1))
			b.AddNode("Tanh", in("both"), "h")
			b.AddNode("MatMul", in("h", "eight"), "s")
			b.AddNode("Add", in("s", "a"), "y")
		}, []string{
			`eta[] = 0 + 1 a + deep(img,other):8`,
			`semi-structured: 1 linear term and a deep part`,
			`4 features of node "h" (Tanh) depend on array "img", 4 alone`,
			`4 features of node "h" (Tanh) depend on array "other", 4 alone`,
		}},
		{"an array that a column weighs", func(b *onnxpb.Builder) {
			b.AddNode("Mul", in("img", "a"), "p")
			b.AddNode("Tanh", in("p"), "h")
			b.AddNode("MatMul", in("h", "four"), "y")
		}, []string{
			`eta[] = 0 + deep(img,a):4`,
			`no additive structure: a black box; a formula supplies the structure`,
			`4 features of node "h" (Tanh) depend on 2 columns ("img", "a"), with arrays among them`,
		}},
		{"an array that is clipped from above alone", func(b *onnxpb.Builder) {
			b.AddInit("most", nil, 0.5)
			b.AddNode("Clip", in("img", "", "most"), "h")
			b.AddNode("MatMul", in("h", "four"), "s")
			b.AddNode("Add", in("s", "a"), "y")
		}, []string{
			`eta[] = 0 + 1 a + deep(img):4`,
			`semi-structured: 1 linear term and a deep part`,
			`4 features of node "h" (Clip) depend on array "img", 4 alone`,
		}},
		{"an array that is no more than a sum", func(b *onnxpb.Builder) {
			b.AddNode("MatMul", in("img", "four"), "s")
			b.AddNode("Add", in("s", "a"), "y")
		}, []string{
			`eta[] = 0 + 1 a + deep(img):4`,
			`semi-structured: 1 linear term and a deep part`,
			`4 features of input "img" depend on array "img", 4 alone`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := onnxpb.NewBuilder(17)
			b.AddInput("img", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 4)
			b.AddInput("other", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 4)
			b.AddInput("a", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
			b.AddInit("four", []int{4, 1}, 1, 2, -1, 0.5)
			b.AddInit("eight", []int{8, 1}, 1, 2, -1, 0.5, 3, 1, 1, -2)
			c.nodes(b)
			b.Output("y", onnxpb.TensorProto_FLOAT)
			b.Model().Graph.Output[0].Type = nil
			f, err := discover(load(t, b), [][]string{{"img"}, {"other"}, {"a"}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, slices.Concat(graphtest.Brief(f), said(f))); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestOutputsThatAreAddends: what an earlier output adds up is no predictor of its own.
func TestOutputsThatAreAddends(t *testing.T) {
	for _, c := range []struct {
		name, outputs, lines string
		want                 []string
	}{
		{"the parts of a prediction", "y, h", "h = Tanh(u)\ny = ReduceSum(h, i1)", []string{"eta[] = 0 + deep(x[0],x[1]):2", `output "h" holds addends of output "y" and is not decomposed`}},
		{"before it", "h, y", "h = Tanh(u)\ny = ReduceSum(h, i1)", []string{"h1[] = 0 + deep(x[0],x[1]):1", "h2[] = 0 + deep(x[0],x[1]):1", "y[] = 0 + deep(x[0],x[1]):2"}},
		{"of no output", "y, h", "h = Tanh(u)\ny = Cos(u)", []string{"y1[] = 0 + deep(x[0],x[1]):1", "y2[] = 0 + deep(x[0],x[1]):1", "h1[] = 0 + deep(x[0],x[1]):1", "h2[] = 0 + deep(x[0],x[1]):1"}},
		{"behind a response", "y, p", "p = Sigmoid(u)\ny = ReduceSum(p, i1)", []string{"y[] = 0 + deep(x[0],x[1]):2", "p1[sigmoid] = 0 + 1 x[0] + -0.5 x[1]", "p2[sigmoid] = 0 + 0.25 x[0] + 0.125 x[1]"}},
	} {
		f := find(t, headModel(t, 2, strings.Split(c.outputs, ", "), c.lines), nil)
		if d := cmp.Diff(c.want, slices.Concat(graphtest.Brief(f), f.Notes)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}
