package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/taskpool"
)

// values are n normal numbers that both precisions hold exactly.
func values[T kernel.Float](rng *rand.Rand, n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = T(float32(rng.NormFloat64()))
	}
	return v
}

// columnsOf lays n rows out as layers want them; between the columns is what must not
// matter.
func columnsOf[T kernel.Float](rows []T, n int) []T {
	width, ld := len(rows)/n, kernel.UnitStride[T](n)
	x := kernel.Units[T](nil, width, n)
	for i := range x {
		x[i] = 77
	}
	for i := range n {
		for j := range width {
			x[j*ld+i] = rows[i*width+j]
		}
	}
	return x
}

// rowsOf is columnsOf undone; nil stays nil.
func rowsOf[T kernel.Float](x []T, n int) []T {
	if x == nil {
		return nil
	}
	ld := kernel.UnitStride[T](n)
	width := len(x) / ld
	rows := make([]T, n*width)
	for i := range n {
		for j := range width {
			rows[i*width+j] = x[j*ld+i]
		}
	}
	return rows
}

// passed is what one pass forward and backward leaves behind, in float64.
type passed struct {
	y, dx  []float64 // dx nil: the layer returned none
	params [][]float64
}

func wide[T kernel.Float](v []T) []float64 {
	if v == nil {
		return nil
	}
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = float64(x)
	}
	return w
}

// pass goes forward and backward once, for the loss sum(c * Forward(x)). Gradients
// must be added to what is there: they start at 1/4.
func pass[T kernel.Float](t *testing.T, c *layerCase[T], l Layer[T], x, weights []T) passed {
	t.Helper()
	const before = 0.25
	for _, p := range l.Params() {
		for i := range p.Grad {
			p.Grad[i] = before
		}
	}
	y := wide(rowsOf(l.Forward(columnsOf(x, c.n), c.n, c.mode), c.n))
	r := passed{y: y, dx: wide(rowsOf(l.Backward(columnsOf(weights, c.n), c.n), c.n))}
	finish(l)
	for _, p := range l.Params() {
		g := wide(p.Grad)
		for i := range g {
			g[i] -= before
		}
		r.params = append(r.params, g)
	}
	return r
}

// finish ends the backward passes of a step.
func finish[T kernel.Float](l Layer[T]) {
	if e, ok := l.(*ExU[T]); ok {
		e.Finish()
	}
}

// checkCase compares all gradients of a case with central differences, which are exact
// to about 1e-9 here.
func checkCase(t *testing.T, c layerCase[float64]) {
	rng := rand.New(rand.NewPCG(7, 8))
	l := c.build()
	x, weights := values[float64](rng, c.n*c.in), values[float64](rng, c.n*l.Out())
	got := pass(t, &c, l, x, weights)
	if (got.dx != nil) != c.input {
		t.Fatalf("gradient of the input: %v", got.dx)
	}
	loss := func() float64 {
		s := 0.0
		for i, y := range rowsOf(l.Forward(columnsOf(x, c.n), c.n, c.mode), c.n) {
			s += weights[i] * y
		}
		return s
	}
	check := func(name string, v, grad []float64, changed func()) {
		t.Helper()
		for i := range v {
			const h = 1e-6
			old := v[i]
			v[i] = old + h
			changed()
			up := loss()
			v[i] = old - h
			changed()
			down := loss()
			v[i] = old
			changed()
			want := (up - down) / (2 * h)
			if !(math.Abs(grad[i]-want) <= 1e-6*(1+math.Abs(want))) {
				t.Errorf("%s[%d]: gradient %v, difference quotient %v", name, i, grad[i], want)
			}
		}
	}
	if c.input {
		check("x", x, got.dx, func() {})
	}
	for i, p := range l.Params() {
		if p.Grad != nil {
			check(p.Name, p.Value, got.params[i], func() { p.Version++ })
		}
	}
}

// TestGradients: the gradients of every layer with every option are those of its
// output. TestEveryLayer sees to it that no layer and no option is missing.
func TestGradients(t *testing.T) {
	for _, c := range layerCases[float64]() {
		t.Run(c.name, func(t *testing.T) { checkCase(t, c) })
	}
}

// TestFusedActivation: a layer with Relu gives the bits of one without, followed by an
// Activation.
func TestFusedActivation(t *testing.T) {
	for _, c := range layerCases[float64]() {
		d, ok := c.of.(*Dense[float64])
		if !ok || !d.Relu {
			continue
		}
		separate := c
		separate.build = func() Layer[float64] {
			l := c.build().(*Dense[float64])
			l.Relu = false
			return &Chain[float64]{Layers: []Layer[float64]{l, &Activation[float64]{Width: l.Out(), F: Relu}}}
		}
		rng := rand.New(rand.NewPCG(3, 8))
		x, weights := values[float64](rng, c.n*c.in), values[float64](rng, c.n*d.Out())
		got, want := pass(t, &c, c.build(), x, weights), pass(t, &separate, separate.build(), x, weights)
		if !slices.Equal(got.y, want.y) || !slices.Equal(got.dx, want.dx) || !slices.EqualFunc(got.params, want.params, slices.Equal[[]float64]) {
			t.Errorf("%s: fused and separate activation differ", c.name)
		}
	}
}

// TestSinglePrecision: float32 gives what float64 gives, to rounding.
func TestSinglePrecision(t *testing.T) {
	single := layerCases[float32]()
	for i, c := range layerCases[float64]() {
		t.Run(c.name, func(t *testing.T) {
			l, s := c.build(), single[i].build()
			run := func(seed uint64) (*rand.Rand, int) { return rand.New(rand.NewPCG(seed, 8)), c.n * l.Out() }
			rng, n := run(7)
			want := pass(t, &c, l, values[float64](rng, c.n*c.in), values[float64](rng, n))
			rng, n = run(7)
			got := pass(t, &single[i], s, values[float32](rng, c.n*c.in), values[float32](rng, n))
			near(t, "output", got.y, want.y)
			near(t, "gradient of the input", got.dx, want.dx)
			for k, p := range l.Params() {
				near(t, "gradient of "+p.Name, got.params[k], want.params[k])
			}
		})
	}
}

// near compares to the rounding of float32 in sums of a few dozen products.
func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	largest := 1.0
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	for i, v := range want {
		if !(math.Abs(got[i]-v) <= 2e-5*largest) {
			t.Errorf("%s: element %d is %v in float32, %v in float64", what, i, got[i], v)
		}
	}
}

// TestHeldParametersStay: what is held has no gradient and keeps its values through a
// step of every optimiser.
func TestHeldParametersStay(t *testing.T) {
	for _, method := range []Method{Adam, AdamW, SGD} {
		for _, c := range layerCases[float64]() {
			l := c.build()
			rng := rand.New(rand.NewPCG(7, 8))
			var before [][]float64
			for _, p := range l.Params() {
				before = append(before, slices.Clone(p.Value))
			}
			o := NewOptimizer(method, l.Params())
			eval := c.mode
			eval.Train = false // running moments are states that training moves
			l.Forward(columnsOf(values[float64](rng, c.n*c.in), c.n), c.n, eval)
			l.Backward(columnsOf(values[float64](rng, c.n*l.Out()), c.n), c.n)
			finish(l)
			o.Step(0.1, nil)
			for i, p := range l.Params() {
				if held := p.Grad == nil; held && !slices.Equal(p.Value, before[i]) {
					t.Errorf("%s, %s: %s is held and moved", method, c.name, p.Name)
				}
			}
		}
	}
}

// TestPassesAddUp: gradients of two parts of a batch, one after the other, are those of
// the whole. Batch norm in training looks at the whole batch, so it is left out.
func TestPassesAddUp(t *testing.T) {
	for _, c := range layerCases[float64]() {
		if c.wholeBatch {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(9, 8))
			l, parts := c.build(), c.build()
			x, weights := values[float64](rng, c.n*c.in), values[float64](rng, c.n*l.Out())
			want := pass(t, &c, l, x, weights)
			h := c.n / 2
			first, second := c, c
			first.n, second.n = h, c.n-h
			second.mode.Row += h
			in, out := c.in, l.Out()
			a := pass(t, &first, parts, x[:h*in], weights[:h*out])
			b := pass(t, &second, parts, x[h*in:], weights[h*out:])
			close := func(what string, got, want []float64) {
				for i, v := range want {
					if !(math.Abs(got[i]-v) <= 1e-12*(1+math.Abs(v))) {
						t.Fatalf("%s: element %d is %v in two parts, %v at once", what, i, got[i], v)
					}
				}
			}
			close("output", slices.Concat(a.y, b.y), want.y)
			close("gradient of the input", slices.Concat(a.dx, b.dx), want.dx)
			for k, p := range l.Params() {
				sum := slices.Clone(a.params[k])
				for i, v := range b.params[k] {
					sum[i] += v
				}
				close(fmt.Sprintf("gradient of %s", p.Name), sum, want.params[k])
			}
		})
	}
}

// TestLater: blocks of rows that go through replicas, with the gradients of the
// parameters left for later, give the bits of one pass over all rows.
func TestLater(t *testing.T) {
	for _, c := range layerCases[float64]() {
		switch c.of.(type) {
		case *BatchNorm[float64], *Embedding[float64]: // have no such mode
			continue
		}
		if c.wholeBatch {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(9, 8))
			whole, l := c.build(), c.build()
			x, weights := values[float64](rng, c.n*c.in), values[float64](rng, c.n*l.Out())
			want := pass(t, &c, whole, x, weights)
			for _, p := range l.Params() {
				for i := range p.Grad {
					p.Grad[i] = 0.25
				}
			}
			var blocks []Layer[float64]
			var y, dx []float64
			for i := 0; i < c.n; i += 3 {
				b, n, m := l.Replica(), min(3, c.n-i), c.mode
				m.Defer, m.Row = true, m.Row+i
				y = append(y, rowsOf(b.Forward(columnsOf(x[i*c.in:][:n*c.in], n), n, m), n)...)
				dx = append(dx, rowsOf(b.Backward(columnsOf(weights[i*l.Out():][:n*l.Out()], n), n), n)...)
				blocks = append(blocks, b)
			}
			left := Deferred(blocks)
			pool := taskpool.New(3)
			pool.Each(len(left), func(i int) { left[i]() })
			pool.Close()
			finish(l)
			if !slices.Equal(y, want.y) || !slices.Equal(dx, want.dx) {
				t.Error("output or gradient of the input differ")
			}
			for k, p := range l.Params() {
				for i, g := range p.Grad {
					if g-0.25 != want.params[k][i] {
						t.Errorf("gradient of %s, element %d: %v, at once %v", p.Name, i, g-0.25, want.params[k][i])
					}
				}
			}
		})
	}
}
