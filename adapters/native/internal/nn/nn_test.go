package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func normals(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// checkLayer compares the gradients of sum(c * Forward(x)) with central
// differences.
func checkLayer(t *testing.T, l Layer[float64], in, n int, m Mode, wantInput bool) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	x, c := normals(rng, n*in), normals(rng, n*l.Out())
	loss := func() float64 {
		s := 0.0
		for i, y := range l.Forward(x, n, m) {
			s += c[i] * y
		}
		return s
	}
	loss()
	for _, p := range l.Params() {
		clear(p.Grad)
	}
	dx := slices.Clone(l.Backward(slices.Clone(c), n))
	if (dx != nil) != wantInput {
		t.Fatalf("gradient of the input: %v", dx)
	}
	check := func(name string, v []float64, changed func(), grad []float64) {
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
			if math.Abs(grad[i]-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("%s[%d]: gradient %v, difference quotient %v", name, i, grad[i], want)
			}
		}
	}
	if wantInput {
		check("x", x, func() {}, dx)
	}
	for _, p := range l.Params() {
		if p.Grad != nil {
			check(p.Name, p.Value, func() { p.Version++ }, slices.Clone(p.Grad))
		}
	}
}

func randomise(l Layer[float64], rng *rand.Rand) Layer[float64] {
	for _, p := range l.Params() {
		if p.Grad == nil {
			continue
		}
		for i := range p.Value {
			p.Value[i] += 0.4 * rng.NormFloat64()
		}
		p.Version++
	}
	return l
}

func TestGradients(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	train := Mode{Train: true, Step: 3, Workers: 2}
	for _, g := range []int{1, 3} {
		t.Run(fmt.Sprintf("dense of %d groups", g), func(t *testing.T) {
			checkLayer(t, randomise(NewDense[float64]("d", g, 4, 5, true), rng), 4*g, 7, train, true)
			d := NewDense[float64]("d", g, 4, 5, true)
			d.Relu = true
			checkLayer(t, randomise(d, rng), 4*g, 7, train, true)
			first := NewDense[float64]("d", g, 2, 3, false)
			first.First = true
			checkLayer(t, randomise(first, rng), 2*g, 7, train, false)
		})
		t.Run(fmt.Sprintf("exu of %d groups", g), func(t *testing.T) {
			checkLayer(t, randomise(NewExU[float64]("e", g, 2, 5), rng), 2*g, 7, train, false)
		})
	}
	for _, f := range Functions() {
		t.Run(string(f), func(t *testing.T) {
			checkLayer(t, &Activation[float64]{Width: 5, F: f, N: 1}, 5, 9, train, true)
		})
	}
	t.Run("dropout", func(t *testing.T) {
		checkLayer(t, &Dropout[float64]{Width: 6, Run: 2, P: 0.4, Seed: 5}, 6, 9, train, true)
	})
	t.Run("batch norm", func(t *testing.T) {
		checkLayer(t, randomise(NewBatchNorm[float64]("b", 4), rng), 4, 9, train, true)
		checkLayer(t, randomise(NewBatchNorm[float64]("b", 4), rng), 4, 9, Mode{Workers: 1}, true)
	})
	t.Run("chain", func(t *testing.T) {
		c := &Chain[float64]{Width: 3, Layers: []Layer[float64]{
			NewDense[float64]("a", 1, 3, 6, true), NewBatchNorm[float64]("n", 6),
			&Activation[float64]{Width: 6, F: Tanh}, &Dropout[float64]{Width: 6, Run: 1, P: 0.3}, NewDense[float64]("b", 2, 3, 2, true),
		}}
		checkLayer(t, randomise(c, rng), 3, 8, train, true)
	})
}

func TestEmbeddingGradient(t *testing.T) {
	e := NewEmbedding[float64]("e", 3, 2)
	e.Init(rand.New(rand.NewPCG(1, 1)))
	codes := []int32{2, 0, 2, 1}
	x := make([]float64, 4*5)
	e.Forward(x[1:], 5, codes)
	if x[1] != e.Table.Value[4] || x[7] != e.Table.Value[1] || x[0] != 0 || x[3] != 0 {
		t.Fatalf("rows %v of table %v", x, e.Table.Value)
	}
	dy := make([]float64, 20)
	for i := range dy {
		dy[i] = float64(i)
	}
	e.Backward(dy[1:], 5)
	if want := []float64{6, 7, 16, 17, 1 + 11, 2 + 12}; !slices.Equal(e.Table.Grad, want) {
		t.Errorf("gradient %v, want %v", e.Table.Grad, want)
	}
}

func TestRowTensorGrad(t *testing.T) {
	const p, q, n = 3, 2, 4
	rng := rand.New(rand.NewPCG(2, 2))
	a, b, c := normals(rng, n*p), normals(rng, n*q), normals(rng, n*p*q)
	loss := func() float64 {
		y := make([]float64, n*p*q)
		RowTensor(y, p*q, a, p, p, b, q, q, n)
		s := 0.0
		for i := range y {
			s += c[i] * y[i]
		}
		return s
	}
	da, db := make([]float64, n*p), make([]float64, n*q)
	RowTensorGrad(da, db, c, p*q, a, p, p, b, q, q, n)
	for name, v := range map[string][2][]float64{"a": {a, da}, "b": {b, db}} {
		for i := range v[0] {
			old := v[0][i]
			v[0][i] = old + 0.5
			up := loss()
			v[0][i] = old - 0.5
			want := up - loss() // linear in each
			v[0][i] = old
			if math.Abs(v[1][i]-want) > 1e-12 {
				t.Errorf("%s[%d]: gradient %v, want %v", name, i, v[1][i], want)
			}
		}
	}
}

// TestWorkers: the number of workers changes no bit.
func TestWorkers(t *testing.T) {
	const n, in = 512, 40
	rng := rand.New(rand.NewPCG(3, 3))
	x, dy := normals(rng, n*in), normals(rng, n*60)
	var want [][]float64
	for _, workers := range []int{1, 2, 3} {
		rng := rand.New(rand.NewPCG(9, 9))
		d, e := NewDense[float64]("d", 1, in, 60, true), NewDense[float64]("e", 4, 15, 15, true)
		d.Init(rng, 2)
		e.Init(rng, 2)
		c := &Chain[float64]{Layers: []Layer[float64]{d, &Activation[float64]{Width: 60, F: Gelu}, e, &Dropout[float64]{Width: 60, Run: 1, P: 0.5}}}
		o := NewOptimizer(Adam, c.Params())
		o.Workers = workers
		got := [][]float64{slices.Clone(c.Forward(x, n, Mode{Train: true, Workers: workers}))}
		got = append(got, slices.Clone(c.Backward(slices.Clone(dy), n)))
		o.Step(0.1)
		for _, p := range c.Params() {
			got = append(got, slices.Clone(p.Grad), slices.Clone(p.Value))
		}
		if want == nil {
			want = got
		}
		for i := range want {
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("%d workers: result %d differs", workers, i)
			}
		}
	}
}

// TestOptimizers: each finds the minimum of a quadratic.
func TestOptimizers(t *testing.T) {
	for _, m := range []Method{Adam, AdamW, SGD} {
		p := NewParam[float64]("p", 2, true)
		o := NewOptimizer(m, []*Param[float64]{p})
		o.Momentum = 0.9
		for step := range 4000 {
			o.ZeroGrad()
			p.Grad[0], p.Grad[1] = p.Value[0]-3, 10*(p.Value[1]+1)
			o.Step(0.05 / (1 + float64(step)/100))
		}
		if math.Abs(p.Value[0]-3) > 1e-3 || math.Abs(p.Value[1]+1) > 1e-3 {
			t.Errorf("%s ends at %v, want (3, -1)", m, p.Value)
		}
	}
}
