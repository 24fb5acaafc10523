package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// A Relu joins the product before it if nobody else sees the product, and the
// bits are those of two passes.
func TestReluJoinsProduct(t *testing.T) {
	for _, precision := range []engine.Precision{engine.Double, engine.Single} {
		g, err := graphtest.Load(graphtest.MLP(t))
		if err != nil {
			t.Fatal(err)
		}
		const rows = 37
		rng := rand.New(rand.NewPCG(1, 2))
		x := make([]float64, rows*10)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		run := func(joined int, names ...string) [][]float64 {
			var want []*graph.Value
			var dst [][]float64
			for _, name := range names {
				v, _ := g.Value(name)
				want = append(want, v)
				dst = append(dst, make([]float64, rows*v.Width()))
			}
			if found := engine.Joined(g, want); found != joined {
				t.Errorf("wanting %v: %d products joined, want %d", names, found, joined)
			}
			r, err := engine.New(g, want, engine.Options{Precision: precision})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Run(dst, [][]float64{x}, rows); err != nil {
				t.Fatal(err)
			}
			return dst
		}
		apart := run(0, "g0", "h0", "g1", "h1", "g2")
		for i, h := range apart[1] {
			if p := apart[0][i]; h != max(p, 0) {
				t.Fatalf("h0 element %d is %v, its product %v", i, h, p)
			}
		}
		both := run(2, "g2")[0]
		one := run(1, "g0", "g2")
		for i, want := range apart[4] {
			if both[i] != want || one[1][i] != want {
				t.Fatalf("row %d is %v with both joined, %v with one, %v apart", i, both[i], one[1][i], want)
			}
		}
	}
}

// A product that somebody else reads before the Relu stays as it is.
func TestReluKeepsOtherReaders(t *testing.T) {
	b := onnxpb.NewBuilder(13)
	b.AddInput("x", graphtest.TFloat, onnxpb.Rows, 2)
	b.AddInit("w", []int{2, 3}, 1, -1, 2, 0.5, 3, -4)
	b.AddNode("Gemm", graphtest.In("x", "w"), "p")
	b.AddNode("Abs", graphtest.In("p"), "a")
	b.AddNode("Relu", graphtest.In("p"), "h")
	b.AddNode("Sub", graphtest.In("a", "h"), "y")
	b.Output("y", graphtest.TFloat, onnxpb.Rows, 3)
	g, err := graphtest.Load(graphtest.Bytes(t, b))
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.New(g, g.Outputs, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float64, 3)
	if err := r.Run([][]float64{dst}, [][]float64{{1, 1}}, 1); err != nil {
		t.Fatal(err)
	}
	if want := []float64{0, 0, 2}; !slices.Equal(dst, want) { // products 1.5, 2, -2
		t.Errorf("|p| - relu(p) is %v, want %v", dst, want)
	}
}
