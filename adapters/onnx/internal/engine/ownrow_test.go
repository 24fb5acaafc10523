package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// rowsOf begins a file of x [N,3] and k [N] int64, with i = arange(N) and some constants.
func rowsOf(nodes func(b *onnxpb.Builder)) *onnxpb.Builder {
	b := onnxpb.NewBuilder(18)
	b.AddInput("x", graphtest.TFloat, onnxpb.Rows, 3)
	b.AddInput("k", graphtest.TInt64, onnxpb.Rows)
	for name, v := range map[string]int64{"zero": 0, "one": 1, "three": 3} {
		graphtest.Number(b, name, v)
	}
	b.AddInts("last", -1)
	b.AddInts("first", 0)
	b.AddNode("Shape", graphtest.In("x"), "shape")
	b.AddNode("Gather", graphtest.In("shape", "zero"), "n")
	b.AddNode("Range", graphtest.In("zero", "n", "one"), "i")
	nodes(b)
	b.Output("y", graphtest.TFloat)
	b.Model().Graph.Output[0].Type = nil
	return b
}

// The number of a row may pick the row itself, and nothing else.
func TestRowNumbersPickTheirOwnRow(t *testing.T) {
	in := graphtest.In
	pairs := func(b *onnxpb.Builder, a, c string) {
		b.AddNode("Unsqueeze", in(a, "last"), "iu")
		b.AddNode("Unsqueeze", in(c, "last"), "cu")
		b.AddNode("Concat", in("iu", "cu"), "ij", onnxpb.Int("axis", 1))
	}
	for _, c := range []struct {
		name  string
		nodes func(b *onnxpb.Builder)
		want  []float64
		fails string
	}{
		{"x[i, k]", func(b *onnxpb.Builder) {
			pairs(b, "i", "k")
			b.AddNode("GatherND", in("x", "ij"), "y")
		}, []float64{3, 4}, ""},
		{"x[i]", func(b *onnxpb.Builder) { b.AddNode("Gather", in("x", "i"), "y") }, []float64{1, 2, 3, 4, 5, 6}, ""},
		{"flat x at 3 i + k", func(b *onnxpb.Builder) {
			b.AddNode("Reshape", in("x", "last"), "flat")
			b.AddNode("Mul", in("i", "three"), "from")
			b.AddNode("Add", in("k", "from"), "at")
			b.AddNode("Gather", in("flat", "at"), "y")
		}, []float64{3, 4}, ""},
		{"flat x at 3 i + k - 1, before the row", func(b *onnxpb.Builder) {
			b.AddNode("Reshape", in("x", "last"), "flat")
			b.AddNode("Mul", in("i", "three"), "from")
			b.AddNode("Sub", in("k", "one"), "before")
			b.AddNode("Add", in("before", "from"), "at")
			b.AddNode("Gather", in("flat", "at"), "y")
		}, nil, "outside an axis of size 3"},
		{"as JAX has it: where(i < 0, i + N, i)", func(b *onnxpb.Builder) {
			b.AddNode("Less", in("i", "zero"), "low")
			b.AddNode("Add", in("i", "n"), "wrapped")
			b.AddNode("Where", in("low", "wrapped", "i"), "at")
			pairs(b, "at", "k")
			b.AddNode("GatherND", in("x", "ij"), "y")
		}, []float64{3, 4}, ""},
		{"a column written", func(b *onnxpb.Builder) {
			b.AddNode("Mul", in("k", "zero"), "kz")
			pairs(b, "i", "kz")
			b.AddNode("Cast", in("k"), "u", onnxpb.Int("to", 1))
			b.AddNode("ScatterND", in("x", "ij", "u"), "y")
		}, []float64{2, 2, 3, 0, 5, 6}, ""},
		{"added at a negative column", func(b *onnxpb.Builder) {
			b.AddNode("Expand", in("last", "shape1"), "c")
			pairs(b, "i", "c")
			b.AddNode("Cast", in("k"), "u", onnxpb.Int("to", 1))
			b.AddNode("ScatterND", in("x", "ij", "u"), "y", onnxpb.Text("reduction", "add"))
		}, []float64{1, 2, 5, 4, 5, 6}, ""},
		{"the row before", func(b *onnxpb.Builder) {
			b.AddNode("Sub", in("i", "one"), "before")
			b.AddNode("Gather", in("x", "before"), "y")
		}, nil, "mixes rows"},
		{"every other row", func(b *onnxpb.Builder) {
			b.AddNode("Add", in("i", "i"), "twice")
			b.AddNode("Gather", in("x", "twice"), "y")
		}, nil, "mixes rows"},
		{"the row that the data name", func(b *onnxpb.Builder) {
			b.AddNode("Add", in("i", "k"), "at")
			b.AddNode("Gather", in("x", "at"), "y")
		}, nil, "mixes rows"},
		{"the number itself", func(b *onnxpb.Builder) { b.AddNode("Cast", in("i"), "y", onnxpb.Int("to", 1)) }, nil, "number of the row"},
		{"the number as an output", func(b *onnxpb.Builder) { b.AddNode("Add", in("i", "k"), "y") }, nil, "number of the row"},
		{"its parity", func(b *onnxpb.Builder) {
			b.AddNode("Mod", in("i", "three"), "m")
			b.AddNode("Cast", in("m"), "y", onnxpb.Int("to", 1))
		}, nil, "number of the row"},
		{"compared with the data", func(b *onnxpb.Builder) {
			b.AddNode("Less", in("i", "k"), "m")
			b.AddNode("Cast", in("m"), "y", onnxpb.Int("to", 1))
		}, nil, "number of the row"},
		{"the first row alone", func(b *onnxpb.Builder) {
			b.AddNode("Equal", in("i", "zero"), "m")
			b.AddNode("Cast", in("m"), "y", onnxpb.Int("to", 1))
		}, nil, "number of the row"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := rowsOf(func(b *onnxpb.Builder) {
				b.AddNode("Unsqueeze", in("n", "first"), "shape1")
				c.nodes(b)
			})
			if c.fails == "" {
				if got := answers(t, b, 2, []float64{1, 2, 3, 4, 5, 6}, []float64{2, 0}); !slices.Equal(got, c.want) {
					t.Errorf("%v, want %v", got, c.want)
				}
				return
			}
			if err := refused(t, b, 2, []float64{1, 2, 3, 4, 5, 6}, []float64{2, 0}); err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("error %v, want %q", err, c.fails)
			}
		})
	}
}
