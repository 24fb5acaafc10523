package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// A mask may choose rows that are read from their own and written back, and nothing else.
func TestMasksOverRows(t *testing.T) {
	in := graphtest.In
	// rows that m chooses, as r [K,1]
	rows := func(b *onnxpb.Builder, m, r string) {
		b.AddNode("NonZero", in(m), r+"/nonzero")
		b.AddNode("Transpose", in(r+"/nonzero"), r)
	}
	for _, c := range []struct {
		name  string
		nodes func(b *onnxpb.Builder)
		want  []float64
		fails string
	}{
		{"y[m] = -x[m]", func(b *onnxpb.Builder) {
			rows(b, "m", "r")
			b.AddNode("GatherND", in("x", "r"), "g")
			b.AddNode("Neg", in("g"), "u")
			b.AddNode("ScatterND", in("x", "r", "u"), "y")
		}, []float64{-1, -2, -3, 4, 5, 6}, ""},
		{"the same mask computed twice", func(b *onnxpb.Builder) {
			rows(b, "m", "r")
			rows(b, "m2", "s")
			b.AddNode("GatherND", in("x", "r"), "g")
			b.AddNode("ScatterND", in("x", "s", "g"), "y", onnxpb.Text("reduction", "add"))
		}, []float64{2, 4, 6, 4, 5, 6}, ""},
		{"a logarithm where there is one", func(b *onnxpb.Builder) {
			b.AddNode("Sub", in("x", "ones"), "z")
			b.AddNode("Greater", in("z", "none"), "p")
			b.AddNode("NonZero", in("p"), "pn")
			b.AddNode("Transpose", in("pn"), "r")
			b.AddNode("GatherND", in("z", "r"), "g")
			b.AddNode("Log", in("g"), "u")
			b.AddNode("Mul", in("u", "none"), "u0")
			b.AddNode("ScatterND", in("x", "r", "u0"), "y")
		}, []float64{1, 0, 0, 0, 0, 0}, ""},
		{"positions that others do not have", func(b *onnxpb.Builder) {
			b.AddNode("Sub", in("k", "two"), "at") // 0 and, of the other row, -2 of a table of 1
			b.AddNode("Unsqueeze", in("at", "last"), "at1")
			rows(b, "m", "r")
			b.AddNode("GatherND", in("at1", "r"), "g")
			b.AddNode("Gather", in("table", "g"), "u")
			b.AddNode("Expand", in("u", "row"), "u3")
			b.AddNode("ScatterND", in("x", "r", "u3"), "y")
		}, []float64{9, 9, 9, 4, 5, 6}, ""},
		{"rows of another mask", func(b *onnxpb.Builder) {
			b.AddNode("Not", in("m"), "other")
			rows(b, "m", "r")
			rows(b, "other", "s")
			b.AddNode("GatherND", in("x", "r"), "g")
			b.AddNode("ScatterND", in("x", "s", "g"), "y")
		}, nil, "another does"},
		{"with all rows", func(b *onnxpb.Builder) {
			rows(b, "m", "r")
			b.AddNode("GatherND", in("x", "r"), "g")
			b.AddNode("Add", in("x", "g"), "y")
		}, nil, "with all rows"},
		{"the chosen rows by number", func(b *onnxpb.Builder) {
			rows(b, "m", "r")
			b.AddNode("GatherND", in("x", "r"), "g")
			b.AddNode("GatherND", in("g", "r"), "h")
			b.AddNode("ScatterND", in("x", "r", "h"), "y")
		}, nil, "mixes rows"},
		{"the chosen rows", func(b *onnxpb.Builder) {
			rows(b, "m", "r")
			b.AddNode("GatherND", in("x", "r"), "y")
		}, nil, "has a row for each one that the mask"},
		{"where they stand", func(b *onnxpb.Builder) { b.AddNode("NonZero", in("x"), "y") }, nil, "has a row for each one that the mask"},
		{"how many there are", func(b *onnxpb.Builder) {
			rows(b, "m", "r")
			b.AddNode("Shape", in("r"), "s")
			b.AddNode("Cast", in("s"), "f", onnxpb.Int("to", 1))
			b.AddNode("ReduceMax", in("f"), "c", onnxpb.Int("keepdims", 0))
			b.AddNode("Mul", in("x", "c"), "y")
		}, nil, "how many the mask"},
		{"numbers of several rows in one", func(b *onnxpb.Builder) {
			b.AddNode("Greater", in("x", "none"), "p")
			b.AddNode("NonZero", in("p"), "pn")
			b.AddNode("Transpose", in("pn"), "r")
			b.AddNode("GatherND", in("x", "r"), "g")
			b.AddNode("Reshape", in("g", "threes"), "h")
			b.AddNode("ReduceSum", in("h", "last"), "y")
		}, nil, "another shape"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := rowsOf(func(b *onnxpb.Builder) {
				graphtest.Number(b, "two", 2)
				b.AddInts("threes", -1, 3)
				b.AddInts("row", 1, 3)
				b.AddInit("none", []int{1}, 0)
				b.AddInit("ones", []int{1}, 1)
				b.AddInit("table", []int{1}, 9)
				for _, m := range []string{"m", "m2"} {
					b.AddNode("Greater", in("k", "one"), m)
				}
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
