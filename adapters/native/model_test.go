package native

import (
	"context"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
	"github.com/pho-go/pho/family"
)

// TestModels: every kind of model keeps the laws of decompose.Model, also when
// many goroutines use it at once.
func TestModels(t *testing.T) {
	tab := simulated(t, 400, 1)
	nam := Config{Architecture: NAM, Response: "y", FeatureNetworks: FeatureNetworks{
		Columns: []string{"x1", "x2", "x3"}, Pairs: [][2]string{{"x1", "x3"}}, Products: [][2]string{{"x2", "x3"}}, Hidden: []int{8, 4}, ExU: true, Activation: ReLUN},
		Deep: Deep{Columns: []string{"x1", "x2", "g"}, Hidden: []int{6}}, Training: Training{Epochs: 2}}
	two := nam
	two.Architecture, two.Family, two.Response = SSN, family.GaussianLS{}, ""
	two.Structured.Formulas = []string{`mu = h ~ x1 + g`, `sigma = ~ s(x2, bs="cr", k=5)`}
	plain := Config{Architecture: MLP, Response: "b", Family: family.Binomial{}, Deep: Deep{Columns: []string{"x1"}, BatchNorm: true, Dropout: 0.5, Activation: Tanh}, Training: Training{Epochs: 2}}
	for name, cfg := range map[string]Config{"nam": nam, "two predictors": two, "mlp": plain} {
		t.Run(name, func(t *testing.T) {
			m, _ := mustTrain(t, cfg, tab)
			b := whole(t, tab)
			if err := decomposetest.Model(m, b.Slice(0, 200), 1e-9); err != nil {
				t.Error(err)
			}
			want, err := m.Predict(context.Background(), b)
			if err != nil {
				t.Fatal(err)
			}
			m, _ = mustTrain(t, cfg, tab) // one that nobody has used
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					if got, err := m.Predict(context.Background(), b); err != nil || !mat.Equal(got, want) {
						t.Errorf("concurrent prediction differs: %v", err)
					}
				})
			}
			all.Wait()
			if _, err := decompose.Decompose(context.Background(), m, tab, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNAMTerms: a NAM with a linear response in one feature and nothing in
// another moves its structure where it belongs.
func TestNAMTerms(t *testing.T) {
	tab := simulated(t, 1500, 2)
	m, _ := mustTrain(t, Config{Architecture: NAM, Response: "y", FeatureNetworks: FeatureNetworks{Columns: []string{"x1", "x2", "d"}, Hidden: []int{16, 8}},
		Deep: Deep{Columns: []string{"x1", "x2", "x3"}}, Training: Training{Epochs: 40, Seed: 1}}, tab)
	r, err := decompose.Decompose(context.Background(), m, tab, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := map[string]float64{}
	for _, term := range r.Predictors[0].Terms {
		v[term.Name] = term.After.Variance
	}
	// Var(20 x1) = 133, Var(20 sin 3 x2) about 212, d has no effect.
	if !(v["f(x1)"] > 90 && v["f(x1)"] < 180 && v["f(x2)"] > 150 && v["f(x2)"] < 270 && v["f(d)"] < 15) {
		t.Errorf("variances %v", v)
	}
	if !strings.Contains(string(r.Predictors[0].Terms[0].Kind), "learned") {
		t.Errorf("kind %q", r.Predictors[0].Terms[0].Kind)
	}
}
