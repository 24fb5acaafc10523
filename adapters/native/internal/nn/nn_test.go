package nn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pho-go/pho/internal/base/taskpool"
)

func normals(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// TestWorkers: the number of workers changes no bit, of products and parameters that are
// large enough to be shared out.
func TestWorkers(t *testing.T) {
	const n, in = 512, 400
	if n*in*60 < minWork || in*60 < 8*partSize {
		t.Fatal("workers share nothing")
	}
	rng := rand.New(rand.NewPCG(3, 3))
	x, dy := columnsOf(normals(rng, n*in), n), columnsOf(normals(rng, n*60), n)
	var want [][]float64
	for _, workers := range []int{1, 2, 3} {
		rng := rand.New(rand.NewPCG(9, 9))
		d, e := NewDense[float64]("d", 1, in, 60, true), NewDense[float64]("e", 4, 15, 15, true)
		d.Init(rng, 2)
		e.Init(rng, 2)
		c := &Chain[float64]{Layers: []Layer[float64]{d, &Activation[float64]{Width: 60, F: Gelu}, e, &Dropout[float64]{Width: 60, Run: 1, P: 0.5}}}
		o := NewOptimizer(Adam, c.Params())
		o.Shares = workers - 1 // of three workers two have a share, of two all take parts
		pool := taskpool.New(workers)
		got := [][]float64{slices.Clone(c.Forward(x, n, Mode{Train: true, Workers: workers}))}
		got = append(got, slices.Clone(c.Backward(slices.Clone(dy), n)))
		for _, p := range c.Params() {
			got = append(got, slices.Clone(p.Grad))
		}
		o.Step(0.1, pool)
		pool.Close()
		for _, p := range c.Params() {
			got = append(got, slices.Clone(p.Value))
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

// TestDropoutDraws: the runs of a batch are numbered row by row, and each has a number of its
// own drawn for it.
func TestDropoutDraws(t *testing.T) {
	const n, width, run, from = 9, 6, 2, 5
	d := &Dropout[float64]{Width: width, Run: run, P: 0.4, Seed: 3}
	ones := columnsOf(slices.Repeat([]float64{1}, n*width), n)
	got := rowsOf(d.Forward(ones, n, Mode{Train: true, Step: 8, Row: from, Workers: 1}), n)
	for i := range n {
		for j := range width {
			number := uint64((from+i)*width/run + j/run)
			u := float64(mix(mix(3^mix(8))+number*0x9e3779b97f4a7c15)>>11) / (1 << 53)
			want := 0.0
			if u >= 0.4 {
				want = 1 / 0.6
			}
			if math.Abs(got[i*width+j]-want) > 1e-15 {
				t.Errorf("row %d, column %d: %v, want %v", i, j, got[i*width+j], want)
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
			o.Step(0.05/(1+float64(step)/100), nil)
		}
		if math.Abs(p.Value[0]-3) > 1e-3 || math.Abs(p.Value[1]+1) > 1e-3 {
			t.Errorf("%s ends at %v, want (3, -1)", m, p.Value)
		}
	}
}
