package native

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native/internal/likelihood"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/family"
)

// parsed is a family of k predictors.
func parsed(name string, k int) family.Differentiable {
	f, err := family.Parse(name, make([]string, k))
	if err != nil {
		panic(err)
	}
	return f.(family.Differentiable)
}

// withShares adds a column p between 0 and 1 to the simulated ones.
func withShares(t testing.TB, tab *data.Table) *data.Table {
	t.Helper()
	h, err := whole(t, tab).Numeric("h")
	if err != nil {
		t.Fatal(err)
	}
	p := make([]float64, len(h))
	for i, v := range h {
		p[i] = 1 / (1 + math.Exp(-v))
	}
	if err := tab.AddNumeric("p", p); err != nil {
		t.Fatal(err)
	}
	return tab
}

// shapes are the numbers in a family's name.
func shapes(t *testing.T, f family.Family) []float64 {
	t.Helper()
	_, text, ok := strings.Cut(strings.TrimSuffix(f.Name(), ")"), "(")
	if !ok {
		t.Fatalf("family %q has no numbers", f.Name())
	}
	var v []float64
	for _, part := range strings.Split(text, ",") {
		var x float64
		_, number, _ := strings.Cut(part, "=")
		if _, err := fmt.Sscan(number, &x); err != nil {
			t.Fatal(err)
		}
		v = append(v, x)
	}
	return v
}

// TestGoldenShaped: a formula alone, its shapes unknown or predictors of their own,
// ends at the maximum likelihood fit that optim finds on R's densities, with weights
// and an offset.
func TestGoldenShaped(t *testing.T) {
	g, tab := readGolden(t)
	responses := map[string]string{"negative-binomial": "overcount", "beta": "share", "student-t": "heavy"}
	for _, want := range g.Shaped {
		for k := 1; k <= 1+len(want.Shapes); k++ {
			t.Run(fmt.Sprintf("%s, %d predictors", want.Family, k), func(t *testing.T) {
				cfg := Config{
					Family: parsed(want.Family, k), Response: responses[want.Family], Weights: "w",
					Structured: Structured{Formulas: []string{"~ x1 + g"}},
					Training:   Training{ValidationShare: -1, BatchSize: 1000, Epochs: 1500, LearningRate: 0.05, Schedule: Cosine},
				}
				if k > 1 {
					cfg.Structured.Formulas[0] = "mu = ~ x1 + g"
				}
				if want.Family == "negative-binomial" {
					cfg.Offset = "o"
				}
				m, _ := mustTrain(t, cfg, tab)
				if len(m.Predictors()) != k || m.Family().Predictors() != k {
					t.Fatalf("predictors %q of %s", m.Predictors(), m.Family().Name())
				}
				eta := etaOf(t, m, whole(t, tab))
				worst := 0.0
				for r, v := range want.Eta {
					worst = math.Max(worst, math.Abs(eta.At(r, 0)-v))
				}
				if scale := largest(mat.NewDense(len(want.Eta), 1, want.Eta)); worst > 1e-4*scale {
					t.Errorf("predictors are up to %g off R's, of at most %g", worst, scale)
				}
				var found []float64
				for j := 1; j < k; j++ {
					found = append(found, math.Exp(eta.At(0, j)))
				}
				if k <= len(want.Shapes) {
					found = append(found, shapes(t, m.Family())...)
				}
				for i, v := range want.Shapes {
					if math.Abs(found[i]/v-1) > 1e-3 {
						t.Errorf("shape %d is %v, R has %v", i, found[i], v)
					}
				}
			})
		}
	}
}

// TestRecovery: a small semi-structured network finds the parameters that the
// responses were simulated with.
func TestRecovery(t *testing.T) {
	const n = 3000
	rng := rand.New(rand.NewPCG(4, 5))
	gamma := func(shape float64) float64 { // a sum of exponentials
		s := 0.0
		for range int(shape) {
			s += rng.ExpFloat64()
		}
		return s
	}
	columns := map[string][]float64{}
	for _, name := range []string{"x1", "x2", "o", "count", "share", "heavy"} {
		columns[name] = make([]float64, n)
	}
	for i := range n {
		x1, x2, o := 2*rng.Float64()-1, 2*rng.Float64()-1, 0.3*rng.NormFloat64()
		f := 0.5 + 0.8*x1 + math.Sin(3*x2)
		columns["x1"][i], columns["x2"][i], columns["o"][i] = x1, x2, o
		rate := math.Exp(f+o) * gamma(3) / 3 // theta = 3
		for s := rng.ExpFloat64(); s < rate; s += rng.ExpFloat64() {
			columns["count"][i]++
		}
		// An order statistic of 19 uniform numbers is Beta(k, 20 - k): phi = 20.
		k := math.Max(1, math.Min(19, math.Round(20/(1+math.Exp(-f)))))
		a, b := gamma(k), gamma(20-k)
		columns["share"][i] = a / (a + b)
		columns["heavy"][i] = 1000 + 200*(f+0.5*rng.NormFloat64()*math.Sqrt(2/gamma(2))) // sigma = 100, df = 4
	}
	tab := data.NewTable(n)
	for _, name := range []string{"x1", "x2", "o", "count", "share", "heavy"} {
		if err := tab.AddNumeric(name, columns[name]); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		family, response, offset string
		slope                    float64
		shapes                   []float64
		single                   bool
	}{
		{"negative-binomial", "count", "o", 0.8, []float64{3}, false},
		{"beta", "share", "", 0.8, []float64{20}, true},
		{"student-t", "heavy", "", 160, []float64{100, 4}, false},
		{"student-t(df=4)", "heavy", "", 160, []float64{100, 4}, false},
	} {
		t.Run(c.family, func(t *testing.T) {
			m, fit := mustTrain(t, Config{
				Family: parsed(c.family, 1), Response: c.response, Offset: c.offset,
				Structured: Structured{Formulas: []string{"~ x1"}}, Deep: Deep{Columns: []string{"x2"}, Hidden: []int{16, 8}},
				Training: Training{Epochs: 120, BatchSize: 128, Seed: 2, LearningRate: 0.01, Schedule: Cosine, Patience: -1, Single: c.single},
			}, tab)
			if slope := m.Blocks(0)[0].Coef[0]; math.Abs(slope/c.slope-1) > 0.1 {
				t.Errorf("slope %v, simulated %v", slope, c.slope)
			}
			for i, v := range shapes(t, m.Family()) {
				if math.Abs(v/c.shapes[i]-1) > 0.25 {
					t.Errorf("%s after %d epochs, simulated %v", m.Family().Name(), len(fit.Epochs), c.shapes)
				}
			}
			y := columns[c.response]
			// Far better than the intercept: the deep part is there.
			eta, err := m.Predict(context.Background(), whole(t, tab))
			if err != nil {
				t.Fatal(err)
			}
			full, null := 0.0, 0.0
			tg := &likelihood.Target{Y: y, W: ones(n), SumW: n}
			if c.offset != "" {
				tg.Offset = columns[c.offset]
			}
			start := tg.Intercepts(m.Family(), []bool{true})
			at := make([]float64, 1)
			for i := range y {
				tg.At(at, eta.RawRowView(i), i)
				full += m.Family().LogLik(y[i], 1, at, 1)
				tg.At(at, start, i)
				null += m.Family().LogLik(y[i], 1, at, 1)
			}
			if gain := (full - null) / n; !(gain > 0.2) {
				t.Errorf("log-likelihood per row only %v above the intercept's", gain)
			}
		})
	}
}

func ones(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 1
	}
	return w
}

// TestResumeShaped: the shapes are part of a checkpoint and of the best epoch.
func TestResumeShaped(t *testing.T) {
	tab := simulated(t, 300, 2)
	cfg := Config{Family: parsed("student-t", 1), Response: "y", Deep: Deep{Columns: []string{"x1"}, Hidden: []int{4}}, Training: Training{Epochs: 6, BatchSize: 64, Seed: 1}}
	m, _ := mustTrain(t, cfg, tab)
	cfg.Training.Checkpoint, cfg.Training.Resume, cfg.Training.Epochs = t.TempDir()+"/c", true, 3
	mustTrain(t, cfg, tab)
	cfg.Training.Epochs = 6
	again, _ := mustTrain(t, cfg, tab)
	if again.Family() != m.Family() || string(saved(t, again)) != string(saved(t, m)) {
		t.Errorf("%s, resumed %s", m.Family().Name(), again.Family().Name())
	}
}
