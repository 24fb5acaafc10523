package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// embedder builds graphs of numbers x (n x 6) and codes (n x 3, from -5 to 4) with embeddings.
type embedder struct {
	*onnxpb.Builder
	rng  *rand.Rand
	made int
}

func newEmbedder() *embedder {
	e := &embedder{onnxpb.NewBuilder(20), rand.New(rand.NewPCG(5, 6)), 0}
	e.AddInput("x", graphtest.TFloat, onnxpb.Rows, 6)
	e.AddInput("codes", onnxpb.TensorProto_INT64, onnxpb.Rows, 3)
	return e
}

func (e *embedder) name() string { e.made++; return fmt.Sprintf("v%d", e.made) }

func (e *embedder) constant(shape ...int) string {
	w := make([]float64, graph.Product(shape))
	for i := range w {
		w[i] = float64(float32(e.rng.NormFloat64()))
	}
	name := e.name()
	e.AddInit(name, shape, w...)
	return name
}

func (e *embedder) node(op string, in []string, attrs ...onnxpb.Attr) string {
	name := e.name()
	e.AddNode(op, in, name, attrs...)
	return name
}

// lookup is an embedding of so many rows, of one column of the codes.
func (e *embedder) lookup(column, size, width int) string {
	j := e.name()
	e.AddIntegers(j, onnxpb.TensorProto_INT64, []int{}, int64(column))
	code := e.node("Gather", graphtest.In("codes", j), onnxpb.Int("axis", 1))
	return e.node("Gather", graphtest.In(e.constant(size, width), code))
}

func (e *embedder) concat(parts ...string) string {
	return e.node("Concat", parts, onnxpb.Int("axis", 1))
}

// Embeddings in front of a layer are looked up as what they contribute to it, whatever stands beside
// them; the nodes one by one are the judge, and a row's bits do not depend on how many there are.
func TestEmbedded(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(e *embedder) string
		steps []string
		width int
	}{
		{"numbers first", func(e *embedder) string {
			x := e.concat("x", e.lookup(0, 5, 8), e.lookup(2, 7, 5))
			return e.node("Relu", []string{e.node("Gemm", graphtest.In(x, e.constant(19, 33), e.constant(33)))})
		}, []string{"Gemm", "Relu"}, 33},
		{"numbers between, weights transposed, a norm behind", func(e *embedder) string {
			x := e.concat(e.lookup(1, 5, 8), "x", e.lookup(-1, 7, 5))
			p := e.node("Gemm", graphtest.In(x, e.constant(64, 19), e.constant(64)), onnxpb.Int("transB", 1), onnxpb.Float("alpha", 0.5), onnxpb.Float("beta", 2))
			one := e.name()
			e.AddInit(one, []int{64}, slices.Repeat([]float64{1.5}, 64)...)
			return e.node("BatchNormalization", graphtest.In(p, e.constant(64), e.constant(64), e.constant(64), one))
		}, []string{"Gemm"}, 64},
		{"some of the numbers, without a bias", func(e *embedder) string {
			for name, k := range map[string]int64{"second": 1, "fourth": 3, "axis": 1} {
				e.AddInts(name, k)
			}
			x := e.concat(e.lookup(0, 5, 8), e.node("Slice", graphtest.In("x", "second", "fourth", "axis")))
			return e.node("Gemm", graphtest.In(x, e.constant(10, 16)))
		}, []string{"Gemm"}, 16},
		{"MatMul and Add", func(e *embedder) string {
			x := e.concat("x", e.lookup(0, 5, 8), e.lookup(0, 9, 4))
			return e.node("Relu", []string{e.node("Add", []string{e.node("MatMul", graphtest.In(x, e.constant(18, 128))), e.constant(128)})})
		}, []string{"MatMul", "Relu"}, 128},
		{"embeddings alone", func(e *embedder) string {
			x := e.concat(e.lookup(0, 5, 8), e.lookup(1, 6, 8), e.lookup(2, 7, 8))
			return e.node("Relu", []string{e.node("Gemm", graphtest.In(x, e.constant(24, 200), e.constant(200)))})
		}, []string{"Gemm", "Relu"}, 200},
		{"one embedding", func(e *embedder) string {
			return e.node("Gemm", graphtest.In(e.lookup(1, 6, 8), e.constant(8, 20), e.constant(20)))
		}, []string{"Gemm"}, 20},
		{"one embedding for all columns", func(e *embedder) string {
			rows := e.node("Gather", graphtest.In(e.constant(5, 8), "codes"))
			return e.node("Gemm", graphtest.In(e.concat("x", e.node("Flatten", []string{rows})), e.constant(30, 20), e.constant(20)))
		}, []string{"Gemm"}, 20},
		{"one embedding for all columns alone", func(e *embedder) string {
			e.AddInts("flat", 0, 24)
			rows := e.node("Gather", graphtest.In(e.constant(5, 8), "codes"))
			return e.node("Gemm", graphtest.In(e.node("Reshape", []string{rows, "flat"}), e.constant(24, 20), e.constant(20)))
		}, []string{"Gemm"}, 20},
		{"one embedding for all columns, with room for one", func(e *embedder) string {
			e.AddInts("flat", 0, 24)
			rows := e.node("Gather", graphtest.In(e.constant(30_000, 8), "codes"))
			return e.node("Gemm", graphtest.In(e.node("Reshape", []string{rows, "flat"}), e.constant(24, 20), e.constant(20)))
		}, []string{"Concat", "Gemm"}, 20},
		{"a column of codes that stays one", func(e *embedder) string {
			for name, k := range map[string]int64{"second": 1, "third": 2, "axis": 1} {
				e.AddInts(name, k)
			}
			code := e.node("Slice", graphtest.In("codes", "second", "third", "axis"))
			rows := e.node("Squeeze", graphtest.In(e.node("Gather", graphtest.In(e.constant(5, 8), code)), "axis"))
			return e.node("Gemm", graphtest.In(e.concat(rows, "x"), e.constant(14, 20), e.constant(20)))
		}, []string{"Slice", "Gemm"}, 20},
		{"rows of codes summed", func(e *embedder) string {
			e.AddInts("axis", 1)
			rows := e.node("Gather", graphtest.In(e.constant(5, 8), "codes"))
			return e.node("Gemm", graphtest.In(e.node("ReduceSum", graphtest.In(rows, "axis"), onnxpb.Int("keepdims", 0)), e.constant(8, 20), e.constant(20)))
		}, []string{"Gather", "ReduceSum", "Gemm"}, 20},
		{"numbers of two kinds, and embeddings that are too narrow or too long", func(e *embedder) string {
			x := e.concat("x", e.lookup(0, 5, 2), e.lookup(1, 6, 8), e.lookup(2, 1<<16, 8), e.node("Tanh", []string{"x"}))
			return e.node("Gemm", graphtest.In(x, e.constant(30, 32), e.constant(32)))
		}, []string{"Tanh", "Concat", "Gemm"}, 32},
		{"a layer that is too narrow", func(e *embedder) string {
			return e.node("Gemm", graphtest.In(e.concat("x", e.lookup(1, 6, 8)), e.constant(14, 3), e.constant(3)))
		}, []string{"Concat", "Gemm"}, 3},
		{"rows that two layers read", func(e *embedder) string {
			x := e.concat("x", e.lookup(1, 6, 8))
			return e.node("Mul", []string{e.node("Gemm", graphtest.In(x, e.constant(14, 32))), e.node("Gemm", graphtest.In(x, e.constant(14, 32)))})
		}, []string{"Concat", "Gemm", "Gemm", "Mul"}, 32},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEmbedder()
			e.AddNode("Identity", []string{c.build(e)}, "y")
			e.Output("y", graphtest.TFloat, onnxpb.Rows, c.width)
			g, err := graphtest.Load(graphtest.Bytes(t, e.Builder))
			if err != nil {
				t.Fatal(err)
			}
			if steps := engine.Steps(g, g.Outputs, engine.Options{Precision: engine.Single}); !slices.Equal(steps, append(c.steps, "Identity")) {
				t.Errorf("runs %v, want %v", steps, c.steps)
			}
			for precision, most := range map[engine.Precision]float64{engine.Double: 1e-13, engine.Single: 1e-5} {
				embeddedAsApart(t, g, precision, most)
			}
		})
	}
}

func embeddedAsApart(t *testing.T, g *graph.Graph, precision engine.Precision, most float64) {
	t.Helper()
	const rows = 131
	rng := rand.New(rand.NewPCG(1, 2))
	x, codes := make([]float64, rows*6), make([]float64, rows*3)
	for i := range x {
		x[i] = float64(float32(rng.NormFloat64()))
	}
	for i := range codes {
		codes[i] = float64(rng.IntN(10) - 5)
	}
	width := g.Outputs[0].Width()
	run := func(apart bool, from, n int) ([]float64, error) {
		r, err := engine.New(g, g.Outputs, engine.Options{Precision: precision, Apart: apart})
		if err != nil {
			t.Fatal(err)
		}
		y := make([]float64, n*width)
		return y, r.Run([][]float64{y}, [][]float64{x[from*6:][:n*6], codes[from*3:][:n*3]}, n)
	}
	want, err := run(true, 0, rows)
	if err != nil {
		t.Fatal(err)
	}
	got, err := run(false, 0, rows)
	if err != nil {
		t.Fatal(err)
	}
	if d := distance(got, want); d > most {
		t.Errorf("precision %d: joined and apart differ by %g", precision, d)
	}
	for _, n := range []int{1, 2, 13, 48, 49} {
		if some, err := run(false, rows-n, n); err != nil || !slices.Equal(some, got[(rows-n)*width:]) {
			t.Errorf("precision %d: the last %d rows alone have other bits, or %v", precision, n, err)
		}
	}
	for _, bad := range []float64{-10, 11} {
		codes[40*3], codes[40*3+1], codes[40*3+2] = bad*1e5, bad*1e5, bad*1e5
		_, want := run(true, 0, rows)
		if _, err := run(false, 0, rows); err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("precision %d: error %v, apart %v", precision, err, want)
		}
	}
}
