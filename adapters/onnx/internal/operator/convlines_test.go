package operator

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// TestConvLines: sums of lines are the definition's up to rounding on any image, kernel, group,
// stride, dilation and padding, with weights known beforehand or in the run; and the same bits for a
// row alone, and with others.
func TestConvLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 600 {
		d, group, cin, m, rows := 1+rng.IntN(3), 1+rng.IntN(3), 1+rng.IntN(5), 1+rng.IntN(5), 1+rng.IntN(12)
		if d < 3 && rng.IntN(8) == 0 {
			cin = 24 + rng.IntN(60) // several blocks of channels
		}
		p := &convPlan{group: group, points: 1}
		in, out, w := []int{rows, cin * group}, []int{rows, m * group}, []int{m * group, cin}
		for range d {
			k, stride, dilate, before, after := 1+rng.IntN(4), 1+rng.IntN(3), 1+rng.IntN(3), rng.IntN(5), rng.IntN(5)
			size := 1 + rng.IntN(40/d)
			room := size + before + after - (k-1)*dilate - 1
			if room < 0 {
				before, room = before-room, 0
			}
			p.kernel, p.stride, p.dilate = append(p.kernel, k), append(p.stride, stride), append(p.dilate, dilate)
			p.pad, p.points = append(p.pad, before), p.points*k
			in, w, out = append(in, size), append(w, k), append(out, room/stride+1)
		}
		tensor := func(shape []int) Operand[float64] {
			f := make([]float64, graph.Product(shape))
			for i := range f {
				f[i] = rng.NormFloat64()
			}
			return Operand[float64]{Shape: shape, F: f}
		}
		value := func(o Operand[float64], known bool) *graph.Value {
			v := graph.NewInner("c", graph.Float64, o.Shape...)
			if known {
				v.Const = &graph.Tensor{Type: graph.Float64, Shape: o.Shape, F: o.F}
			}
			return v
		}
		image, weights, bias, want := tensor(in), tensor(w), tensor([]int{m * group}), tensor(out)
		known, relu, inputs := rng.IntN(4) > 0, rng.IntN(2) == 1, []Operand[float64]{image, weights, bias}
		convolveByDefinition(p, want, image, weights, bias.F)
		n := &graph.Node{Op: "Conv", Resolved: p, Inputs: []*graph.Value{graph.NewInner("x", graph.Float64, in...), value(weights, known), value(bias, known)},
			Outputs: []*graph.Value{graph.NewInner("y", graph.Float64, out...)}}
		step := compileConv[float64](n)
		run := func(from, to int) []float64 {
			inputs, shape, size := slices.Clone(inputs), slices.Clone(in), len(image.F)/rows
			shape[0] = to - from
			inputs[0] = Operand[float64]{Shape: shape, F: image.F[from*size : to*size]}
			got := make([]float64, (to-from)*(len(want.F)/rows))
			dirty := make([]float64, 100_000)
			for i := range dirty {
				dirty[i] = math.NaN()
			}
			x := &Exec[float64]{In: inputs, Out: []Operand[float64]{{Shape: append([]int{to - from}, out[1:]...), F: got}}, Relu: relu, scratch: &dirty}
			if err := step(x); err != nil {
				t.Fatal(err)
			}
			return got
		}
		got := run(0, rows)
		for i, v := range want.F {
			if relu {
				v = max(v, 0)
			}
			if !(math.Abs(got[i]-v) <= 1e-13*float64(p.points*cin)) {
				t.Fatalf("image %v, weights %v, plan %+v: output %d is %v, want %v", in, w, *p, i, got[i], v)
			}
		}
		row := rng.IntN(rows)
		if alone := run(row, row+1); !slices.Equal(alone, got[row*len(alone):][:len(alone)]) {
			t.Fatalf("image %v, weights %v, plan %+v: row %d of %d has other bits alone", in, w, *p, row, rows)
		}
	}
}

// convolveByDefinition sums, for every output, over the taps and channels whose pixel is in the image.
func convolveByDefinition[T kernel.Float](p *convPlan, out, in, w Operand[T], bias []T) {
	d := len(p.kernel)
	cin, cout := w.Shape[1], out.Shape[1]
	channels := in.Shape[1]
	size, outSize := graph.Product(in.Shape[2:]), graph.Product(out.Shape[2:])
	perGroup := cout / p.group
	var at, kat [graph.MaxRank]int
	for o := range out.F {
		m := o / outSize % cout
		row := o / (outSize * cout)
		rest := o % outSize
		for i := d - 1; i >= 0; i-- {
			at[i] = rest%out.Shape[2+i]*p.stride[i] - p.pad[i]
			rest /= out.Shape[2+i]
		}
		var s T
		if bias != nil {
			s = bias[m]
		}
		base := (row*channels + m/perGroup*cin) * size
		for kp := range p.points {
			rest, from, inside := kp, 0, true
			for i := d - 1; i >= 0; i-- {
				kat[i] = rest % p.kernel[i]
				rest /= p.kernel[i]
			}
			for i := range d {
				pos := at[i] + kat[i]*p.dilate[i]
				inside = inside && pos >= 0 && pos < in.Shape[2+i]
				from = from*in.Shape[2+i] + pos
			}
			if !inside {
				continue
			}
			for c := range cin {
				s += T(in.F[base+c*size+from] * w.F[(m*cin+c)*p.points+kp])
			}
		}
		out.F[o] = s
	}
}
