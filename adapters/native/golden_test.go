package native

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/family"
)

// golden is what testdata/golden/native.R wrote.
type golden struct {
	X1, X2, W, O, Y, B, Count, Positive, Overcount, Share, Heavy []float64

	G     []string
	Cases []struct {
		Family string
		SP     float64
		Eta    []float64
	}
	Shaped []struct {
		Family      string
		Shapes, Eta []float64
		LogLik      []float64
	}
}

func readGolden(t *testing.T) (*golden, *data.Table) {
	t.Helper()
	raw, err := os.ReadFile("../../testdata/golden/native.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	tab := data.NewTable(len(g.X1))
	for name, v := range map[string][]float64{"x1": g.X1, "x2": g.X2, "w": g.W, "o": g.O, "y": g.Y, "b": g.B, "count": g.Count, "positive": g.Positive, "overcount": g.Overcount, "share": g.Share, "heavy": g.Heavy} {
		if err := tab.AddNumeric(name, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := tab.AddTexts("g", g.G); err != nil {
		t.Fatal(err)
	}
	return &g, tab
}

// TestGoldenPenalised: training a formula alone, from a cold start, ends at
// mgcv's penalised maximum likelihood fit with the same smoothing parameters,
// weights and offset; a GAM is there at once.
func TestGoldenPenalised(t *testing.T) {
	g, tab := readGolden(t)
	for i, c := range []struct {
		f                         family.Differentiable
		response, weights, offset string
	}{
		{family.Gaussian{}, "y", "w", ""},
		{family.Binomial{}, "b", "", ""},
		{family.Poisson{}, "count", "", "o"},
		{family.Gamma{}, "positive", "w", ""},
	} {
		want := g.Cases[i]
		t.Run(want.Family, func(t *testing.T) {
			cfg := Config{
				Family: c.f, Response: c.response, Weights: c.weights, Offset: c.offset,
				Structured: Structured{Formulas: []string{`~ x1 + g + s(x2, bs="ps", k=8)`}, SP: map[string][]float64{"s(x2)": {want.SP}}},
				Training:   Training{ValidationShare: -1, BatchSize: 1000, Epochs: 1500, LearningRate: 0.05, Schedule: Cosine, WithoutWarmStart: true},
			}
			m, _ := mustTrain(t, cfg, tab)
			check := func(what string, m *Model, tolerance float64) {
				eta := etaOf(t, m, whole(t, tab))
				worst := 0.0
				for r, v := range want.Eta {
					worst = math.Max(worst, math.Abs(eta.At(r, 0)-v))
				}
				if worst > tolerance*largest(mat.NewDense(len(want.Eta), 1, want.Eta)) {
					t.Errorf("%s: predictors are up to %g off mgcv's", what, worst)
				}
			}
			check("trained", m, 1e-5)
			if c.response == "y" {
				cfg.Architecture = GAM
				m, fit := mustTrain(t, cfg, tab)
				check("solved", m, 1e-9)
				if fit.Status != Solved {
					t.Errorf("status %q", fit.Status)
				}
			}
		})
	}
}
