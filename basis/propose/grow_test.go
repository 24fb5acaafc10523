package propose_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pho-go/pho/basis/propose"
	"github.com/pho-go/pho/diagnostics"
)

// binsOf are 400 bins of f of 2,000 normal values, with a remainder of that standard deviation. The term has nothing
// of f yet.
func binsOf(f func(x float64) float64, sd float64) []diagnostics.Bin {
	const n, own = 2000, 5
	r := rand.New(rand.NewPCG(8, 9))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	slices.Sort(x)
	var bins []diagnostics.Bin
	for at := 0; at < n; at += own {
		b := diagnostics.Bin{Low: math.Inf(-1), High: math.Inf(1), Rows: own, Weight: own}
		var square float64
		for _, v := range x[at : at+own] {
			y := f(v) + sd*r.NormFloat64()
			b.X, b.Remainder, square = b.X+v/own, b.Remainder+y/own, square+y*y
		}
		b.Variance = (square - own*b.Remainder*b.Remainder) / (own - 1) / own
		if at > 0 {
			b.Low = x[at]
		}
		if at+own < n {
			b.High = x[at+own]
		}
		bins = append(bins, b)
	}
	return bins
}

// Smooth functions keep their columns, bumps get more of them, and jumps cuts where they are: within three rows.
func TestGrow(t *testing.T) {
	step := func(at, by float64) func(float64) float64 {
		return func(x float64) float64 {
			if x < at {
				return 0
			}
			return by
		}
	}
	for name, c := range map[string]struct {
		f    func(x float64) float64
		sd   float64
		k    int
		cuts []float64
	}{
		"smooth":       {math.Sin, 0.3, 20, nil},
		"smooth, less": {math.Sin, 0.05, 20, nil},
		"bump":         {func(x float64) float64 { return math.Exp(-math.Pow((x-0.4)/0.08, 2) / 2) }, 0.05, 40, nil},
		"step":         {step(0.3, 1), 0.05, 20, []float64{0.3}},
		"step, noise":  {step(0.3, 1), 0.3, 20, []float64{0.3}},
		"two steps":    {func(x float64) float64 { return step(-0.5, 1)(x) - step(0.7, 0.8)(x) + math.Sin(x) }, 0.1, 20, []float64{-0.5, 0.7}},
	} {
		g := propose.Grow(binsOf(c.f, c.sd), 20, 100, nil)
		near := slices.EqualFunc(g.Cuts, c.cuts, func(a, b float64) bool { return math.Abs(a-b) < 0.012 }) // the next rows but two are as far
		if g.K != c.k || !near {
			t.Errorf("%s: %+v, want %d columns and cuts at %v", name, g, c.k, c.cuts)
		}
	}
	if g := propose.Grow(binsOf(step(0.3, 1), 0.3), 20, 100, []float64{-1, 0.3005, 2}); !slices.Equal(g.Cuts, []float64{0.3005}) {
		t.Errorf("cuts at %v, want that of the model, 0.3005", g.Cuts)
	}
	if g := propose.Grow(binsOf(step(0.3, 1), 0.3), 20, 20, nil); g.K != 20 || len(g.Cuts) > 0 {
		t.Errorf("%+v, and there is no place for more than 20 columns", g)
	}
}
