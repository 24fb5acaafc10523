package onnx

import (
	"bytes"
	"slices"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// A tensor whose batch axis holds each row several times says so.
func TestRowLayout(t *testing.T) {
	b := onnxpb.NewBuilder(13)
	b.AddInput("x", graphtest.TFloat, onnxpb.Rows, 3)
	b.AddInts("s", -1, 1)
	b.AddNode("Transpose", graphtest.In("x"), "t")
	b.AddNode("Reshape", graphtest.In("x", "s"), "p")
	b.AddNode("Reshape", graphtest.In("t", "s"), "q")
	b.AddNode("Concat", graphtest.In("q", "q"), "twice", onnxpb.Int("axis", 0))
	for _, name := range []string{"p", "twice"} {
		b.Output(name, graphtest.TFloat)
	}
	for _, o := range b.Model().Graph.Output {
		o.Type = nil
	}
	g, err := Load(bytes.NewReader(graphtest.Bytes(t, b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name                string
		shape               []int
		outer, inner, width int
	}{
		{"x", []int{Batch, 3}, 1, 1, 3},
		{"t", []int{3, Batch}, 1, 1, 3},
		{"p", []int{3 * Batch, 1}, 1, 3, 3},
		{"q", []int{3 * Batch, 1}, 3, 1, 3},
		{"twice", []int{6 * Batch, 1}, 6, 1, 6},
	} {
		v, ok := g.Tensor(c.name)
		outer, inner := g.RowLayout(c.name)
		if !ok || !slices.Equal(v.Shape, c.shape) || outer != c.outer || inner != c.inner || v.Width() != c.width {
			t.Errorf("%s has shape %v, %d around %d, %d numbers a row; want %v, %d around %d, %d", c.name, v.Shape, outer, inner, v.Width(), c.shape, c.outer, c.inner, c.width)
		}
	}
	if outer, inner := g.RowLayout("nothing"); outer != 0 || inner != 0 {
		t.Errorf("a tensor that is not there has %d around %d", outer, inner)
	}
	r, err := GoEngine{}.Prepare(g, []string{"p", "twice"})
	if err != nil {
		t.Fatal(err)
	}
	p, twice := make([]float64, 6), make([]float64, 12)
	if err := r.Run([][]float64{p, twice}, [][]float64{{1, 2, 3, 4, 5, 6}}, 2); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p, []float64{1, 2, 3, 4, 5, 6}) || !slices.Equal(twice, []float64{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}) {
		t.Errorf("rows are %v and %v", p, twice)
	}
}
