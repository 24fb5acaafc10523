package native

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
	"github.com/pho-go/pho/family"
)

// simulated has x1, x2, x3 on (-1, 1), a factor g of three levels, a numeric
// factor d, weights w, an offset o, and responses of several families.
func simulated(t testing.TB, n int, seed uint64) *data.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 99))
	cols := map[string][]float64{}
	names := []string{"x1", "x2", "x3", "d", "w", "o", "y", "b", "c", "h"}
	for _, name := range names {
		cols[name] = make([]float64, n)
	}
	g := make([]string, n)
	for i := range n {
		x1, x2, x3 := 2*rng.Float64()-1, 2*rng.Float64()-1, 2*rng.Float64()-1
		level := rng.IntN(3)
		g[i] = []string{"a", "b", "c"}[level]
		f := x1 + math.Sin(3*x2) + 0.5*x2*x3 + 0.5*float64(level)
		cols["x1"][i], cols["x2"][i], cols["x3"][i] = x1, x2, x3
		cols["d"][i] = float64(rng.IntN(4))
		cols["w"][i], cols["o"][i] = 0.5+rng.Float64(), 0.3*rng.NormFloat64()
		cols["y"][i] = 100 + 20*f + 5*rng.NormFloat64()
		cols["h"][i] = f + math.Exp(-1+0.8*x1)*rng.NormFloat64()
		if rng.Float64() < 1/(1+math.Exp(-f)) {
			cols["b"][i] = 1
		}
		for p := math.Exp(-math.Exp(0.5*f + cols["o"][i])); rng.Float64() > p && cols["c"][i] < 50; {
			cols["c"][i]++
			p = math.Exp(-math.Exp(0.5*f + cols["o"][i]))
		}
	}
	tab := data.NewTable(n)
	for _, name := range names {
		var err error
		if name == "d" {
			err = tab.AddFactor(name, cols[name])
		} else {
			err = tab.AddNumeric(name, cols[name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := tab.AddTexts("g", g); err != nil {
		t.Fatal(err)
	}
	return tab
}

func whole(t testing.TB, tab *data.Table) *data.Batch {
	t.Helper()
	f, err := rows.Read(context.Background(), tab, tab.Schema().Names())
	if err != nil {
		t.Fatal(err)
	}
	return f.Batch
}

func mustTrain(t testing.TB, cfg Config, src data.Source) (*Model, *Fit) {
	t.Helper()
	m, fit, err := Train(context.Background(), cfg, src)
	if err != nil {
		t.Fatal(err)
	}
	return m, fit
}

func TestTrainSSN(t *testing.T) {
	tab := simulated(t, 1200, 1)
	cfg := Config{
		Structured: Structured{Formulas: []string{`y ~ x1 + g + s(x2, bs="ps", k=12)`}},
		Deep:       Deep{Columns: []string{"x1", "x2", "x3", "g"}, Hidden: []int{32, 16}},
		Training:   Training{Epochs: 60, Seed: 1, BatchSize: 128},
	}
	m, fit := mustTrain(t, cfg, tab)
	b := whole(t, tab)
	if err := decomposetest.Model(m, b.Slice(0, 300), 1e-9); err != nil {
		t.Error(err)
	}
	eta, err := m.Predict(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	y, _ := b.Numeric("y")
	if rmse := rootMeanSquare(y, eta, 0); rmse > 6 {
		t.Errorf("root mean square error %.3g, the noise is 5", rmse)
	}
	last := fit.Epochs[len(fit.Epochs)-1]
	if fit.Best < 1 || fit.Rows != 960 || fit.Validation != 240 || !(last.Validation < 1.2) {
		t.Errorf("fit: %+v", fit)
	}
	r, err := decompose.Decompose(context.Background(), m, tab, nil)
	if err != nil {
		t.Fatal(err)
	}
	if miss := *r.Predictors[0].ReconstructionError; miss > 1e-10 {
		t.Errorf("parts miss eta by %g", miss)
	}
}

func rootMeanSquare(y []float64, eta *mat.Dense, k int) float64 {
	s := 0.0
	for i, v := range y {
		s += (v - eta.At(i, k)) * (v - eta.At(i, k)) / float64(len(y))
	}
	return math.Sqrt(s)
}

// everything is a configuration with all kinds of parts.
func everything(f family.Differentiable, response string) Config {
	c := Config{
		Family: f, Response: response, Weights: "w", Offset: "o",
		Structured: Structured{Formulas: []string{`~ x1 + g + s(x2, bs="ps", k=8)`}},
		Deep:       Deep{Columns: []string{"x1", "x3", "g"}, Hidden: []int{5, 4}, Activation: Tanh, BatchNorm: true, Dropout: 0.2},
		FeatureNetworks: FeatureNetworks{
			Columns: []string{"x1", "x2", "x3"}, Pairs: [][2]string{{"x1", "x2"}}, Products: [][2]string{{"x3", "x2"}},
			Hidden: []int{4, 3}, Activation: Sigmoid, ExU: true, FeatureDropout: 0.3, OutputPenalty: 0.7,
		},
		Training: Training{Seed: 3, ValidationShare: -1, Initialization: He},
	}
	if f.Predictors() > 1 {
		c.Structured.Formulas = []string{`~ x1 + s(x2, bs="ps", k=8)`, `sigma = ~ x3`}[:1]
		c.Deep.Separate, c.Deep.Orthogonalize = true, true
	}
	return c
}

// TestWholeGradient compares the gradient of a batch's loss, with all layers and
// penalties, with central differences.
func TestWholeGradient(t *testing.T) {
	tab := withShares(t, simulated(t, 40, 2))
	for name, c := range map[string]Config{
		"gaussian":                everything(family.Gaussian{}, "y"),
		"gaussian with scale":     everything(family.GaussianLS{}, "h"),
		"gaussian softplus scale": everything(family.GaussianLS{Scale: family.SoftplusScale}, "h"),
		"binomial":                everything(family.Binomial{}, "b"),
		"poisson":                 everything(family.Poisson{}, "c"),
		"negative binomial":       everything(parsed("negative-binomial", 1), "c"),
		"negative binomial, two":  everything(parsed("negative-binomial", 2), "c"),
		"beta":                    everything(parsed("beta", 1), "p"),
		"beta, two":               everything(parsed("beta", 2), "p"),
		"student t":               everything(parsed("student-t", 1), "y"),
		"student t, three":        everything(parsed("student-t", 3), "h"),
	} {
		t.Run(name, func(t *testing.T) {
			c.Structured.SP = nil
			c = c.withDefaults()
			j, err := prepare(context.Background(), &c, tab)
			if err != nil {
				t.Fatal(err)
			}
			net := atAdditive[float64](j, 5)
			rng := rand.New(rand.NewPCG(6, 7))
			net.Init(rng)
			for _, p := range net.Params() {
				if p.Grad != nil {
					for i := range p.Value {
						p.Value[i] += 0.2 * rng.NormFloat64()
					}
					p.Version++
				}
			}
			tr, err := newTrainer(j, net)
			if err != nil {
				t.Fatal(err)
			}
			lossAt := func() float64 { // a step of rate 0
				tr.opt.Steps = 3
				return tr.step(order(tr.train.N), tr.train.SumW, 0)
			}
			tr.opt.Steps = 3
			tr.gradients(order(tr.train.N), tr.train.SumW)
			grads := map[string][]float64{}
			for _, p := range net.Params() {
				grads[p.Name] = append([]float64(nil), p.Grad...)
			}
			for _, p := range net.Params() {
				for i := range p.Grad {
					const h = 1e-5
					old := p.Value[i]
					p.Value[i] = old + h
					p.Version++
					up := lossAt()
					p.Value[i] = old - h
					p.Version++
					want := (up - lossAt()) / (2 * h)
					p.Value[i] = old
					p.Version++
					if got := grads[p.Name][i]; math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
						t.Errorf("%s[%d]: gradient %v, difference quotient %v", p.Name, i, got, want)
					}
				}
			}
		})
	}
}

// order is 0, 1, ..., n-1.
func order(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// TestPasses: how many rows go through the network together changes no bit of the
// gradient, dropout and output penalty included.
func TestPasses(t *testing.T) {
	tab := simulated(t, 700, 2)
	cfg := Config{
		Structured:      Structured{Formulas: []string{`y ~ x1 + s(x2, bs="ps", k=8)`}},
		FeatureNetworks: FeatureNetworks{Columns: []string{"x1", "x3"}, Hidden: []int{8, 4}, Dropout: 0.2, FeatureDropout: 0.1, OutputPenalty: 0.1},
		Deep:            Deep{Columns: []string{"x1", "x2", "x3"}, Dropout: 0.3}, Training: Training{ValidationShare: -1, Workers: 1},
	}.withDefaults()
	j, err := prepare(context.Background(), &cfg, tab)
	if err != nil {
		t.Fatal(err)
	}
	var want [][]float64
	for _, pass := range []int{0, 256, 64, 100, blockRows} {
		net := atAdditive[float64](j, 1)
		net.Init(rand.New(rand.NewPCG(1, 1)))
		tr, err := newTrainer(j, net)
		if err != nil {
			t.Fatal(err)
		}
		if tr.blockRows != blockRows {
			t.Fatalf("%d rows together", tr.blockRows)
		}
		tr.blockRows = pass
		tr.gradients(order(tr.train.N), tr.train.SumW)
		var got [][]float64
		for _, p := range net.Params() {
			got = append(got, slices.Clone(p.Grad))
		}
		if want == nil {
			want = got
		}
		for i, p := range net.Params() {
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("%d rows together: the gradient of %q differs", pass, p.Name)
			}
		}
	}
}
