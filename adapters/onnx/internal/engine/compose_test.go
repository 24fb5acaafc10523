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

// linearGraph draws a graph of layers, sums and values side by side, some behind a Relu, that read
// each other, and some of its values to ask for.
type linearGraph struct {
	*onnxpb.Builder
	rng    *rand.Rand
	values []string
	width  map[string]int
}

func (g *linearGraph) node(op string, width int, inputs []string, attrs ...onnxpb.Attr) string {
	name := fmt.Sprintf("t%d", len(g.values))
	g.AddNode(op, inputs, name, attrs...)
	g.values, g.width[name] = append(g.values, name), width
	return name
}

func (g *linearGraph) constant(shape ...int) string {
	name := fmt.Sprintf("c%d", g.rng.Uint32())
	v := make([]float64, graph.Product(shape))
	for i := range v {
		v[i] = float64(float32(g.rng.NormFloat64()))
	}
	g.AddInit(name, shape, v...)
	return name
}

// any draws a value, more likely a late one; of that width, if it is not 0.
func (g *linearGraph) any(width int) string {
	for range 20 {
		v := g.values[max(g.rng.IntN(len(g.values)), g.rng.IntN(len(g.values)))]
		if width == 0 || g.width[v] == width {
			return v
		}
	}
	return g.layer(g.any(0), width)
}

// layer is a product, one of three forms.
func (g *linearGraph) layer(x string, n int) string {
	k := g.width[x]
	switch g.rng.IntN(4) {
	case 0:
		return g.node("MatMul", n, graphtest.In(x, g.constant(k, n)))
	case 1:
		p := g.node("MatMul", n, graphtest.In(x, g.constant(k, n)))
		return g.node("Add", n, graphtest.In(g.constant(n), p))
	case 2:
		return g.node("Gemm", n, graphtest.In(x, g.constant(n, k), g.constant(n)), onnxpb.Int("transB", 1))
	}
	return g.node("Gemm", n, graphtest.In(x, g.constant(k, n), g.constant(1, n)), onnxpb.Float("alpha", 0.5), onnxpb.Float("beta", -2))
}

func (g *linearGraph) grow() {
	widths := []int{1, 2, 17, 33, 40}
	switch x := g.any(0); g.rng.IntN(10) {
	case 0:
		g.node("Relu", g.width[x], graphtest.In(x))
	case 1:
		y := g.any(0)
		g.node("Concat", g.width[x]+g.width[y], graphtest.In(x, y), onnxpb.Int("axis", 1))
	case 2, 3:
		g.node("Add", g.width[x], graphtest.In(x, g.any(g.width[x])))
	case 4:
		g.node("Sum", g.width[x], graphtest.In(g.any(g.width[x]), g.constant(1), x, g.constant(1, g.width[x])))
	default:
		g.layer(x, widths[g.rng.IntN(len(widths))])
	}
}

// Composed layers give the numbers of single ones, for any readers and any tensors asked
// for.
func TestComposed(t *testing.T) {
	fewer := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		b := &linearGraph{onnxpb.NewBuilder(20), rng, []string{"x"}, map[string]int{"x": 5}}
		b.AddInput("x", graphtest.TFloat, onnxpb.Rows, 5)
		for range 4 + rng.IntN(12) {
			b.grow()
		}
		last := b.layer(b.any(0), 1+rng.IntN(3))
		b.Output(last, graphtest.TFloat, onnxpb.Rows, b.width[last])
		g, err := graphtest.Load(graphtest.Bytes(t, b.Builder))
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Clone(g.Outputs)
		for range rng.IntN(3) {
			if v, ok := g.Value(b.any(0)); ok && !slices.Contains(want, v) && v.Producer != nil {
				want = append(want, v)
			}
		}
		const rows = 21
		x := make([]float64, rows*5)
		for i := range x {
			x[i] = float64(float32(rng.NormFloat64()))
		}
		for precision, most := range map[engine.Precision]float64{engine.Double: 1e-13, engine.Single: 1e-5} {
			run := func(o engine.Options) [][]float64 {
				r, err := engine.New(g, want, o)
				if err != nil {
					t.Fatal(err)
				}
				return graphtest.Run(t, r, g, [][]float64{x}, 0, rows)
			}
			joined, apart := run(engine.Options{Precision: precision}), run(engine.Options{Precision: precision, Apart: true})
			for i, v := range want {
				if d := distance(joined[i], apart[i]); d > most {
					t.Errorf("seed %d, precision %d: %q differs by %g", seed, precision, v.Name, d)
				}
			}
		}
		if products(g, want, engine.Options{}) < products(g, want, engine.Options{Apart: true}) {
			fewer++
		}
	}
	if fewer < 50 {
		t.Errorf("only %d graphs have fewer products", fewer)
	}
}

// products counts those that are run.
func products(g *graph.Graph, want []*graph.Value, o engine.Options) (n int) {
	for _, op := range engine.Steps(g, want, o) {
		if op == "Gemm" || op == "MatMul" {
			n++
		}
	}
	return n
}
