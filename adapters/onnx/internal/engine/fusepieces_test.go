package engine_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Layers of one number, and of one each in the groups of a convolution, are computed as pieces, unless
// a hidden layer is asked for; the layers one by one are the judge.
func TestPiecesJoinLayers(t *testing.T) {
	for op, net := range map[string]func(b *onnxpb.Builder, constant func(...int) string){
		"Gemm": func(b *onnxpb.Builder, constant func(...int) string) {
			b.AddInput("x", graphtest.TFloat, onnxpb.Rows, 1)
			b.AddNode("Gemm", graphtest.In("x", constant(1, 48), constant(48)), "p0")
			b.AddNode("Relu", graphtest.In("p0"), "h0")
			b.AddNode("Gemm", graphtest.In("h0", constant(24, 48), constant(24)), "p1", onnxpb.Int("transB", 1))
			b.AddNode("LeakyRelu", graphtest.In("p1"), "h1")
			b.AddNode("Gemm", graphtest.In("h1", constant(24, 2), constant(2)), "p2")
			b.AddNode("Relu", graphtest.In("p2"), "y")
			b.Output("y", graphtest.TFloat, onnxpb.Rows, 2)
		},
		"Conv": func(b *onnxpb.Builder, constant func(...int) string) {
			b.AddInput("x", graphtest.TFloat, onnxpb.Rows, 3, 1)
			group := onnxpb.Int("group", 3)
			b.AddNode("Conv", graphtest.In("x", constant(3*32, 1, 1), constant(3*32)), "p0", group)
			b.AddNode("Relu", graphtest.In("p0"), "h0")
			b.AddNode("Conv", graphtest.In("h0", constant(3*32, 32, 1), constant(3*32)), "p1", group)
			b.AddNode("Relu", graphtest.In("p1"), "h1")
			b.AddNode("Conv", graphtest.In("h1", constant(3, 32, 1), constant(3)), "y", group)
			b.Output("y", graphtest.TFloat, onnxpb.Rows, 3, 1)
		},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		b, made := onnxpb.NewBuilder(13), 0
		net(b, func(shape ...int) string {
			w := make([]float64, graph.Product(shape))
			for i := range w {
				w[i] = float64(float32(rng.NormFloat64() / math.Sqrt(float64(shape[len(shape)-1]))))
			}
			made++
			name := string(rune('a' + made))
			b.AddInit(name, shape, w...)
			return name
		})
		g, err := graphtest.Load(graphtest.Bytes(t, b))
		if err != nil {
			t.Fatal(err)
		}
		if steps := engine.Steps(g, g.Outputs, engine.Options{}); !slices.Equal(steps, []string{op}) {
			t.Errorf("%s: steps %v", op, steps)
		}
		hidden, _ := g.Value("h1")
		if steps := engine.Steps(g, append(slices.Clone(g.Outputs), hidden), engine.Options{}); len(steps) < 3 {
			t.Errorf("%s: steps %v, with a hidden layer", op, steps)
		}
		const rows = 700
		x := make([]float64, rows*g.Inputs[0].Width())
		for i := range x {
			x[i] = float64(float32(rng.NormFloat64() * math.Exp(2*rng.NormFloat64())))
		}
		for precision, most := range map[engine.Precision]float64{engine.Double: 1e-13, engine.Single: 2e-5} {
			var y [2][]float64
			for i, apart := range []bool{false, true} {
				r, err := engine.New(g, g.Outputs, engine.Options{Precision: precision, Apart: apart})
				if err != nil {
					t.Fatal(err)
				}
				y[i] = make([]float64, rows*g.Outputs[0].Width())
				if err := r.Run([][]float64{y[i]}, [][]float64{x}, rows); err != nil {
					t.Fatal(err)
				}
			}
			for i, want := range y[1] {
				if size := 1 + math.Abs(x[i*len(x)/len(y[1])]); math.Abs(y[0][i]-want) > most*size {
					t.Fatalf("%s: number %d is %v, layer by layer %v", op, i, y[0][i], want)
				}
			}
		}
	}
}
