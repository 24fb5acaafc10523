package operator

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// TestConvLines: lines of products give what sums one by one give, up to rounding, on any
// image, kernel, group, stride, dilation and padding that they take, for few rows and many.
func TestConvLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	ran := 0
	for range 400 {
		d, group, cin, m, rows := 1+rng.IntN(3), 1+rng.IntN(3), 1+rng.IntN(5), 1+rng.IntN(5), 1+rng.IntN(12)
		p := &convPlan{group: group, points: 1}
		in, out, w := []int{rows, cin * group}, []int{rows, m * group}, []int{m * group, cin}
		for i := range d {
			k, stride, dilate, before, after := 1+rng.IntN(4), 1+rng.IntN(2), 1+rng.IntN(2), rng.IntN(3), rng.IntN(3)
			if i == d-1 {
				stride = 1
			}
			size := (k-1)*dilate + 1 + rng.IntN(40/d)
			p.kernel, p.stride, p.dilate = append(p.kernel, k), append(p.stride, stride), append(p.dilate, dilate)
			p.pad, p.after, p.points = append(p.pad, before), append(p.after, after), p.points*k
			in, w = append(in, size), append(w, k)
			out = append(out, (size+before+after-(k-1)*dilate-1)/stride+1)
		}
		tensor := func(shape []int) Operand[float64] {
			f := make([]float64, graph.Product(shape))
			for i := range f {
				f[i] = rng.NormFloat64()
			}
			return Operand[float64]{Shape: shape, F: f}
		}
		constant := func(o Operand[float64]) *graph.Value {
			v := graph.NewInner("c", graph.Float64, o.Shape...)
			v.Const = &graph.Tensor{Type: graph.Float64, Shape: o.Shape, F: o.F}
			return v
		}
		image, weights, bias, want, got := tensor(in), tensor(w), tensor([]int{m * group}), tensor(out), tensor(out)
		n := &graph.Node{Op: "Conv", Resolved: p, Inputs: []*graph.Value{graph.NewInner("x", graph.Float64, in...), constant(weights), constant(bias)},
			Outputs: []*graph.Value{graph.NewInner("y", graph.Float64, out...)}}
		c := asLines[float64](n)
		if c == nil {
			continue
		}
		ran++
		convolve(p, want, image, weights, bias.F)
		relu := rng.IntN(2) == 1
		x := &Exec[float64]{In: []Operand[float64]{image}, Out: []Operand[float64]{got}, Relu: relu, scratch: new([]float64)}
		c.run(x)
		for i, v := range want.F {
			if relu {
				v = max(v, 0)
			}
			if !(math.Abs(got.F[i]-v) <= 1e-13*float64(p.points*cin)) {
				t.Fatalf("image %v, weights %v, plan %+v: output %d is %v, want %v", in, w, *p, i, got.F[i], v)
			}
		}
	}
	if ran < 300 {
		t.Errorf("only %d of 400 convolutions by lines", ran)
	}
}
