package onnx_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Where a graph has a value for a missing number, NaN enters, however it tells; where its
// predictor is NaN all the same, the row says so.
func TestMissingNumbers(t *testing.T) {
	in := func(names ...string) []string { return names }
	nan := math.NaN()
	for _, c := range []struct {
		name  string
		nodes func(b *onnxpb.Builder)
		want  float64 // of x[0] missing, x[1] = 2; NaN: an error that names the row
		may   string  // the columns that may be missing
	}{
		{"Where by x == x", func(b *onnxpb.Builder) {
			b.AddNode("Equal", in("x", "x"), "is")
			b.AddNode("Sin", in("x"), "s")
			b.AddNode("Where", in("is", "s", "one"), "w")
		}, 1 + math.Sin(2), "x[0] x[1]"},
		{"Where by IsNaN through Cast", func(b *onnxpb.Builder) {
			b.AddNode("IsNaN", in("x"), "is")
			b.AddNode("Cast", in("is"), "f", onnxpb.Int("to", 1))
			b.AddNode("Cast", in("f"), "t", onnxpb.Int("to", 9))
			b.AddNode("Where", in("t", "one", "x"), "w")
		}, 3, "x[0] x[1]"},
		{"comparisons", func(b *onnxpb.Builder) {
			b.AddNode("Greater", in("x", "one"), "is")
			b.AddNode("Cast", in("is"), "w", onnxpb.Int("to", 1))
		}, 1, "x[0] x[1]"},
		{"as nan_to_num has it", func(b *onnxpb.Builder) {
			b.AddNode("IsNaN", in("x"), "is")
			b.AddNode("IsInf", in("x"), "far")
			b.AddNode("Where", in("is", "one", "x"), "u")
			b.AddNode("Where", in("far", "one", "u"), "w")
		}, 3, "x[0] x[1]"},
		{"by its own column alone", func(b *onnxpb.Builder) {
			b.AddNode("Gather", in("x", "first"), "x0", onnxpb.Int("axis", 1))
			b.AddNode("IsNaN", in("x0"), "is")
			b.AddNode("Where", in("is", "one", "x"), "w")
		}, 2, "x[0]"},
		{"a branch that has none", func(b *onnxpb.Builder) {
			b.AddNode("Greater", in("x", "one"), "is")
			b.AddNode("Where", in("is", "one", "x"), "w")
		}, nan, "x[0] x[1]"},
		{"a way round the choice", func(b *onnxpb.Builder) {
			b.AddNode("IsNaN", in("x"), "is")
			b.AddNode("Where", in("is", "one", "x"), "u")
			b.AddNode("Add", in("u", "x"), "w")
		}, nan, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := onnxpb.NewBuilder(20)
			b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
			b.AddInit("one", []int{}, 1)
			b.AddInts("first", 0)
			b.AddInts("last", 1)
			c.nodes(b)
			b.AddNode("ReduceSum", in("w", "last"), "y")
			b.Output("y", onnxpb.TensorProto_FLOAT)
			b.Model().Graph.Output[0].Type = nil
			file, err := b.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			g, err := onnx.Load(bytes.NewReader(file), nil)
			if err != nil {
				t.Fatal(err)
			}
			m, err := onnx.NewModel(g, onnx.Unbound(g), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(m.Missing(), " "); got != c.may {
				t.Errorf("%q may be missing, want %q", got, c.may)
			}
			rows := data.NewBatch(1, 0)
			for name, x := range map[string]float64{"x[0]": nan, "x[1]": 2} {
				if err := rows.SetNumeric(name, []float64{x}); err != nil {
					t.Fatal(err)
				}
			}
			out, err := forwardOf(t, m, rows)
			switch {
			case math.IsNaN(c.want):
				if err == nil || !strings.Contains(err.Error(), "data row 1") {
					t.Errorf("error %v", err)
				}
			case err != nil:
				t.Error(err)
			case math.Abs(out.Eta.At(0, 0)-c.want) > 1e-9:
				t.Errorf("%v, want %v", out.Eta.At(0, 0), c.want)
			}
		})
	}
}
