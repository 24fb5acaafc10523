package operator

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// TestSumsOfLastAxes: sums and means of the last axes are what adding one by one gives, up to
// rounding, of lines of any length.
func TestSumsOfLastAxes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 8))
	for _, name := range []string{"ReduceSum", "ReduceMean"} {
		for _, size := range []int{1, 2, 7, 8, 9, 31, 100} {
			for _, lines := range []int{1, 3, 4, 9} {
				set := []bool{false, true}
				n := &graph.Node{Op: name, Resolved: &reduced{axes: set}, Inputs: []*graph.Value{graph.NewInner("x", graph.Float64, graph.Batch, size)}}
				in := Operand[float64]{Shape: []int{lines, size}, F: make([]float64, lines*size)}
				for i := range in.F {
					in.F[i] = rng.NormFloat64()
				}
				got, want := Operand[float64]{F: make([]float64, lines)}, make([]float64, lines)
				if err := New[float64]().Of(n).Compile(n)(&Exec[float64]{In: []Operand[float64]{in}, Out: []Operand[float64]{got}}); err != nil {
					t.Fatal(err)
				}
				foldAxes(want, in.F, in.Shape, set, 0, func(s, v float64) float64 { return s + v }, func(s float64, n int) float64 {
					if name == "ReduceMean" {
						return s / float64(n)
					}
					return s
				})
				for i, v := range want {
					if !(math.Abs(got.F[i]-v) <= 1e-14*float64(size)) {
						t.Errorf("%s of %d numbers: %v, want %v", name, size, got.F[i], v)
					}
				}
			}
		}
	}
}

// TestTruncate: numbers become the integers that the way by float64 gives, at the limits too.
func TestTruncate(t *testing.T) {
	limits := []float64{0, 0.5, -0.9, 99, -7.999, 1<<31 - 1, 1<<31 - 0.5, 1 << 31, -1 << 31, -1<<31 - 0.5, -1<<31 - 1, 1 << 40, -1 << 62, math.Inf(1), math.Inf(-1), math.NaN(), 16777217}
	check := func(t *testing.T, got []int64, x []float64, from, to graph.DType) {
		t.Helper()
		for i, v := range x {
			if want := to.Truncated(from.Round(v)); got[i] != want {
				t.Errorf("%g from %s to %s is %d, want %d", v, from, to, got[i], want)
			}
		}
	}
	for _, from := range []graph.DType{graph.Float16, graph.Float32, graph.Float64} {
		for _, to := range []graph.DType{graph.Int8, graph.Int32, graph.Int64, graph.Uint8} {
			got := make([]int64, len(limits))
			truncate(got, limits, from, to)
			check(t, got, limits, from, to)
			single, rounded := make([]float32, len(limits)), make([]float64, len(limits))
			for i, v := range limits {
				single[i] = float32(v)
				rounded[i] = float64(single[i])
			}
			truncate(got, single, from, to)
			check(t, got, rounded, from, to)
		}
	}
}
