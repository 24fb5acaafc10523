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

// crew is three who do the last part first, and count what they are called for.
type crew struct{ calls int }

func (c *crew) Size() int { return 3 }

func (c *crew) Each(n int, f func(i int)) {
	c.calls++
	for i := n - 1; i >= 0; i-- {
		f(i)
	}
}

// layers is a network of float32 or float64 of three inputs.
func layers(t *testing.T, typ onnxpb.TensorProto_DataType, widths ...int) *graph.Graph {
	t.Helper()
	rng := rand.New(rand.NewPCG(4, 2))
	b := onnxpb.NewBuilder(13)
	b.AddInput("x", typ, onnxpb.Rows, widths[0])
	at, names := "x", []string{"a", "b", "c", "d"}
	for i, n := range widths[1:] {
		k, w := widths[i], []float64(nil)
		for range n * k {
			w = append(w, float64(float32(rng.NormFloat64()/float64(k))))
		}
		add := b.AddInit
		if typ == graphtest.TDouble {
			add = b.AddDouble
		}
		add("w"+names[i], []int{n, k}, w...)
		b.AddNode("Gemm", graphtest.In(at, "w"+names[i]), names[i], onnxpb.Int("transB", 1))
		b.AddNode("Relu", graphtest.In(names[i]), names[i]+"r")
		at = names[i] + "r"
	}
	b.Output(at, typ, onnxpb.Rows, widths[len(widths)-1])
	g, err := graphtest.Load(graphtest.Bytes(t, b))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestCrew: a crew computes the large products of a row and no others, to the bits of one
// goroutine, and a run with it allocates nothing.
func TestCrew(t *testing.T) {
	for _, c := range []struct {
		name      string
		precision engine.Precision
		typ       onnxpb.TensorProto_DataType
		widths    []int
		calls     int
	}{
		{"small", engine.Single, graphtest.TFloat, []int{30, 200, 200, 1}, 0},
		{"two large", engine.Single, graphtest.TFloat, []int{30, 512, 512, 256, 1}, 2},
		{"large in float64", engine.Double, graphtest.TFloat, []int{30, 200, 300, 300}, 2},
		{"large on the input", engine.Single, graphtest.TFloat, []int{900, 200}, 1},
		{"large on an input that is read where it lies", engine.Double, graphtest.TDouble, []int{900, 200}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := layers(t, c.typ, c.widths...)
			r, err := engine.New(g, g.Outputs, engine.Options{Precision: c.precision})
			if err != nil {
				t.Fatal(err)
			}
			if r.WorthCrew != (c.calls > 0) {
				t.Errorf("worth a crew: %t", r.WorthCrew)
			}
			x := make([]float64, c.widths[0])
			rng := rand.New(rand.NewPCG(2, 2))
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			y := func() [][]float64 { return [][]float64{make([]float64, g.Outputs[0].Width())} }
			want, got, after := y(), y(), y()
			for _, run := range []func() error{
				func() error { return r.Run(want, [][]float64{x}, 1) },
				func() error {
					crew := &crew{}
					err := r.RunRow(got, [][]float64{x}, crew)
					if crew.calls != c.calls {
						t.Errorf("the crew was called for %d products, want %d", crew.calls, c.calls)
					}
					return err
				},
				func() error { return r.Run(after, [][]float64{x}, 1) },
			} {
				if err := run(); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(got[0], want[0]) || !slices.Equal(after[0], want[0]) {
				t.Error("a crew's bits differ from one goroutine's")
			}
			if graphtest.RaceDetector {
				return // pools are not kept
			}
			in, crew := [][]float64{x}, &crew{}
			if n := testing.AllocsPerRun(20, func() { _ = r.RunRow(got, in, crew) }); n > 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}
