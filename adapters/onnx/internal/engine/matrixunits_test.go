package engine_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// onUnits computes in float32 with the products that split takes, and counts them.
func onUnits(t *testing.T, g *graph.Graph, split func(k, n int, w []float32, trans bool) *kernel.SplitWeights) (r *engine.Runner, products int) {
	t.Helper()
	r, err := engine.New(g, g.Outputs, engine.Options{LayerByLayer: true, Precision: engine.Single, Split: func(k, n int, w []float32, trans bool) *kernel.SplitWeights {
		s := split(k, n, w, trans)
		if s != nil {
			products++
		}
		return s
	}})
	if err != nil {
		t.Fatal(err)
	}
	return r, products
}

func computedIn(t *testing.T, g *graph.Graph, p engine.Precision) *engine.Runner {
	t.Helper()
	r, err := engine.New(g, g.Outputs, engine.Options{LayerByLayer: true, Precision: p})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// splitNetworks are those that matrix units are meant for.
func splitNetworks(t *testing.T) map[string]*graph.Graph {
	t.Helper()
	nam := additive(8)
	grouped := onnxpb.NewBuilder(20)
	grouped.AddInput("x", graphtest.TFloat, onnxpb.Rows, 8)
	grouped.AddInts("two", 2)
	grouped.AddNode("Unsqueeze", graphtest.In("x", "two"), "t0")
	at, rng := "t0", rand.New(rand.NewPCG(5, 6))
	for i, size := range [][2]int{{1, 64}, {64, 64}, {64, 32}, {32, 1}} {
		to := fmt.Sprintf("t%d", i+1)
		weigh(grouped, rng, to, []int{8 * size[1], size[0], 1}, 8*size[1], size[0])
		grouped.AddNode("Conv", graphtest.In(at, to+".w", to+".b"), to, onnxpb.Int("group", 8))
		if at = to; i < 3 {
			grouped.AddNode("Relu", graphtest.In(to), to+".r")
			at = to + ".r"
		}
	}
	grouped.AddInts("one", 1)
	grouped.AddNode("ReduceSum", graphtest.In(at, "one"), "y", onnxpb.Int("keepdims", 0))
	grouped.Output("y", graphtest.TFloat, onnxpb.Rows, 1)
	out := map[string]*graph.Graph{}
	for name, file := range map[string][]byte{"MLP 10-200-200-1": graphtest.MLP(t), "NAM": graphtest.Bytes(t, nam), "grouped NAM": graphtest.Bytes(t, grouped)} {
		g, err := graphtest.Load(file)
		if err != nil {
			t.Fatal(name, err)
		}
		out[name] = g
	}
	return out
}

// additive is the sum of a network 1-64-64-32-1 for each column, as nn.Linear for tensors of
// three axes is exported, and as Gemm in turns.
func additive(columns int) *onnxpb.Builder {
	b, rng := onnxpb.NewBuilder(20), rand.New(rand.NewPCG(3, 4))
	b.AddInput("x", graphtest.TFloat, onnxpb.Rows, columns)
	b.AddInts("axis", 1)
	parts := []string{}
	for j := range columns {
		at := fmt.Sprintf("x%d", j)
		b.AddInts(at+".from", int64(j))
		b.AddInts(at+".to", int64(j+1))
		b.AddNode("Slice", graphtest.In("x", at+".from", at+".to", "axis"), at)
		for i, size := range [][2]int{{1, 64}, {64, 64}, {64, 32}, {32, 1}} {
			to := fmt.Sprintf("t%d.%d", j, i)
			if j%2 == 0 {
				weigh(b, rng, to, []int{size[1], size[0]}, size[1], size[0])
				b.AddNode("Gemm", graphtest.In(at, to+".w", to+".b"), to, onnxpb.Int("transB", 1), onnxpb.Float("alpha", 0.5), onnxpb.Float("beta", 2))
			} else {
				weigh(b, rng, to, []int{size[0], size[1]}, size[1], size[0])
				b.AddNode("MatMul", graphtest.In(at, to+".w"), to+".m")
				b.AddNode("Add", graphtest.In(to+".m", to+".b"), to)
			}
			if at = to; i < 3 {
				b.AddNode("Relu", graphtest.In(to), to+".r")
				at = to + ".r"
			}
		}
		parts = append(parts, at)
	}
	b.AddNode("Sum", parts, "y")
	b.Output("y", graphtest.TFloat, onnxpb.Rows, 1)
	return b
}

// weigh adds random weights NAME.w, and a bias NAME.b.
func weigh(b *onnxpb.Builder, rng *rand.Rand, name string, shape []int, out, in int) {
	w, bias := make([]float64, graph.Product(shape)), make([]float64, out)
	for i := range w {
		w[i] = float64(float32(rng.NormFloat64() * math.Sqrt(2/float64(in))))
	}
	for i := range bias {
		bias[i] = float64(float32(rng.NormFloat64() / 10))
	}
	b.AddInit(name+".w", shape, w...)
	b.AddInit(name+".b", []int{out}, bias...)
}

// drawnRows are inputs of a network, in float32.
func drawnRows(g *graph.Graph, rows int) (inputs [][]float64) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, v := range g.Inputs {
		x := make([]float64, rows*v.Width())
		for i := range x {
			x[i] = float64(float32(rng.NormFloat64()))
		}
		inputs = append(inputs, x)
	}
	return inputs
}

// errorOverSD is the largest error over the standard deviation of what is right.
func errorOverSD(got, want []float64) float64 {
	mean, squares, worst := 0.0, 0.0, 0.0
	for i, w := range want {
		d := w - mean
		mean += d / float64(i+1)
		squares += d * (w - mean)
		worst = max(worst, math.Abs(got[i]-w))
	}
	return worst / math.Sqrt(squares/float64(len(want)))
}

// TestSplitAccuracy: in three parts the error is at most 2e-6 standard deviations, that of
// float32, and a row is the same alone, in any block and on many goroutines.
func TestSplitAccuracy(t *testing.T) {
	const rows = 70
	for name, g := range splitNetworks(t) {
		t.Run(name, func(t *testing.T) {
			r, products := onUnits(t, g, kernel.PackSplitInGo)
			if products < 2 {
				t.Fatalf("%d products are split", products)
			}
			inputs := drawnRows(g, rows)
			want := graphtest.Run(t, computedIn(t, g, engine.Double), g, inputs, 0, rows)[0]
			vectors := graphtest.Run(t, computedIn(t, g, engine.Single), g, inputs, 0, rows)[0]
			got := graphtest.Run(t, r, g, inputs, 0, rows)
			miss, usual := errorOverSD(got[0], want), errorOverSD(vectors, want)
			t.Logf("error over sd %.1e, by vectors %.1e", miss, usual)
			if !(miss <= 2e-6) || slices.Equal(got[0], vectors) {
				t.Errorf("error over sd %.1e, by vectors %.1e", miss, usual)
			}
			sameInBlocks(t, r, g, inputs, got[0])
		})
	}
}

// sameInBlocks compares rows in blocks of every size, on several goroutines, with those in one.
func sameInBlocks(t *testing.T, r *engine.Runner, g *graph.Graph, inputs [][]float64, want []float64) {
	t.Helper()
	var all sync.WaitGroup
	for _, block := range [][2]int{{0, 1}, {3, 5}, {4, 5}, {1, 18}, {3, 19}, {30, 61}, {36, 68}, {37, 70}, {61, 70}} {
		from, to := block[0], block[1]
		all.Go(func() {
			if to > len(want) {
				return
			}
			dst, in := [][]float64{make([]float64, to-from)}, [][]float64{}
			for i, v := range g.Inputs {
				in = append(in, inputs[i][from*v.Width():to*v.Width()])
			}
			if err := r.Run(dst, in, to-from); err != nil || !same(dst[0], want[from:to]) {
				t.Errorf("rows %d to %d: %v, in one block %v (%v)", from, to, dst[0], want[from:to], err)
			}
		})
	}
	all.Wait()
}

// same compares bits, any NaN being one.
func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || x != x && y != y })
}

// TestSplitHostile: rows that parts cannot hold come out as from vectors, and leave others alone.
func TestSplitHostile(t *testing.T) {
	const rows = 40
	for name, g := range splitNetworks(t) {
		t.Run(name, func(t *testing.T) {
			r, _ := onUnits(t, g, kernel.PackSplitInGo)
			inputs, width := drawnRows(g, rows), g.Inputs[0].Width()
			clean := graphtest.Run(t, r, g, inputs, 0, rows)[0]
			hostile := map[int]float64{1: math.NaN(), 3: math.Inf(1), 5: math.Inf(-1), 7: 1e38, 16: -1e38, 20: 1e-40, 31: 0, 33: 1e19}
			for i, x := range hostile {
				for j := range width {
					if x == 0 || math.Abs(x) < 1 || j == 0 {
						inputs[0][i*width+j] = x
					}
				}
			}
			got := graphtest.Run(t, r, g, inputs, 0, rows)[0]
			want := graphtest.Run(t, computedIn(t, g, engine.Single), g, inputs, 0, rows)[0]
			for i, y := range got {
				_, bad := hostile[i]
				switch {
				case !bad && y != clean[i]:
					t.Errorf("row %d is %g, without hostile neighbours %g", i, y, clean[i])
				case math.IsNaN(y) != math.IsNaN(want[i]) || math.IsInf(y, 0) && y != want[i] || math.Abs(y-want[i]) > 1e-5*(1+math.Abs(want[i])):
					t.Errorf("row %d with %g is %g, by vectors %g", i, hostile[i], y, want[i])
				}
			}
			sameInBlocks(t, r, g, [][]float64{inputs[0][8*width : 16*width]}, got[8:16])
		})
	}
}

// TestSplitZoo runs what ten exporters wrote: with the products in parts it is as near to float64
// as with vectors.
func TestSplitZoo(t *testing.T) {
	const rows = 9
	files, err := filepath.Glob("../../../../testdata/zoo/networks/*/*.onnx")
	if err != nil || len(files) == 0 {
		t.Fatal("no networks", err)
	}
	compared := 0
	for _, file := range files {
		g, err := graphtest.LoadFile(file)
		if err != nil || slices.ContainsFunc(g.Inputs, func(v *graph.Value) bool { return !v.Type.Floating() }) || slices.ContainsFunc(g.Outputs, func(v *graph.Value) bool { return !v.Type.Floating() || v.BatchAxis() < 0 }) {
			continue
		}
		r, products := onUnits(t, g, kernel.PackSplitInGo)
		if products == 0 {
			continue
		}
		inputs := drawnRows(g, rows)
		want := graphtest.Run(t, computedIn(t, g, engine.Double), g, inputs, 0, rows)
		vectors := graphtest.Run(t, computedIn(t, g, engine.Single), g, inputs, 0, rows)
		got := graphtest.Run(t, r, g, inputs, 0, rows)
		for k := range want {
			miss, usual := distance(got[k], want[k]), distance(vectors[k], want[k])
			if !hasNaN(want[k]) && !(miss <= 2e-6+2*usual) {
				t.Errorf("%s: error %.1e, by vectors %.1e", filepath.Base(file), miss, usual)
			}
		}
		alone := graphtest.Run(t, r, g, inputs, 5, 6)
		for k, v := range r.Wanted() {
			if w := v.Width(); !same(alone[k], got[k][5*w:6*w]) {
				t.Errorf("%s: a row alone is %v, among others %v", filepath.Base(file), alone[k], got[k][5*w:6*w])
			}
		}
		compared++
	}
	t.Logf("%d networks", compared)
	if compared < 60 {
		t.Errorf("only %d networks have products to compare", compared)
	}
}

// TestSplitUnits: the processor's units give the bits of Go.
func TestSplitUnits(t *testing.T) {
	if !kernel.MatrixUnits() {
		t.Skip("this processor has no matrix units (AMX)")
	}
	const rows = 70
	for name, g := range splitNetworks(t) {
		r, products := onUnits(t, g, kernel.PackSplit)
		inGo, _ := onUnits(t, g, func(k, n int, w []float32, trans bool) *kernel.SplitWeights {
			if kernel.PackSplit(k, n, w, trans) == nil {
				return nil
			}
			return kernel.PackSplitInGo(k, n, w, trans)
		})
		inputs := drawnRows(g, rows)
		want := graphtest.Run(t, inGo, g, inputs, 0, rows)[0]
		got := graphtest.Run(t, r, g, inputs, 0, rows)[0]
		if products == 0 || !slices.Equal(got, want) {
			t.Errorf("%s, %d products on units: %v, in Go %v", name, products, got, want)
		}
		sameInBlocks(t, r, g, inputs, got)
		dst := [][]float64{got}
		if n := testing.AllocsPerRun(5, func() {
			if err := r.Run(dst, inputs, rows); err != nil {
				t.Fatal(err)
			}
		}); n > 0 && !graphtest.RaceDetector {
			t.Errorf("%s: %v allocations per Run", name, n)
		}
	}
}
