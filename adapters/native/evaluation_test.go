package native

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/family"
)

// TestEvaluation: the figures are what their names say, computed here from the validation
// rows and the model's predictions.
func TestEvaluation(t *testing.T) {
	tab, held := simulated(t, 500, 31), simulated(t, 120, 32)
	b := whole(t, held)
	column := func(name string) []float64 {
		v, err := b.Numeric(name)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	w, o := column("w"), column("o")
	for _, c := range []struct {
		f        family.Differentiable
		response string
		deviance func(y, eta float64) float64
		null     func(mean float64) float64 // eta of the best intercept
	}{
		{family.Gaussian{}, "y", func(y, eta float64) float64 { return (y - eta) * (y - eta) }, func(m float64) float64 { return m }},
		{family.Binomial{}, "b", func(y, eta float64) float64 { return 2 * math.Log1p(math.Exp((1-2*y)*eta)) }, func(m float64) float64 { return math.Log(m / (1 - m)) }},
	} {
		m, fit := mustTrain(t, Config{Family: c.f, Response: c.response, Weights: "w", Structured: Structured{Formulas: []string{"~ x1 + s(x2, k=6)"}},
			Deep: Deep{Columns: []string{"x2", "x3"}, Hidden: []int{8}}, Training: Training{Epochs: 40, LearningRate: 0.01, Validation: held}}, tab)
		eta, y := mat.Col(nil, 0, etaOf(t, m, b)), column(c.response)
		sumW, mean := 0.0, 0.0
		for i, v := range w {
			sumW += v
			mean += v * y[i]
		}
		mean /= sumW
		var square, total, deviance, null float64
		for i, v := range w {
			mu := c.f.Mean(eta[i : i+1])
			square += v * (y[i] - mu) * (y[i] - mu) / sumW
			total += v * (y[i] - mean) * (y[i] - mean) / sumW
			deviance += v * c.deviance(y[i], eta[i])
			null += v * c.deviance(y[i], c.null(mean))
		}
		for name, v := range map[string][2]float64{
			"RMSE": {fit.Evaluation.RMSE, math.Sqrt(square)}, "R2": {fit.Evaluation.R2, 1 - square/total}, "deviance explained": {fit.Evaluation.DevianceExplained, 1 - deviance/null},
			"rows": {float64(fit.Evaluation.Rows), 120}, "loss": {fit.Evaluation.Loss, fit.Epochs[max(fit.Best, 1)-1].Validation},
		} {
			if !(math.Abs(v[0]-v[1]) < 1e-9) {
				t.Errorf("%s: %s %v, want %v", c.f.Name(), name, v[0], v[1])
			}
		}
		if !fit.Evaluation.Held || !(fit.Evaluation.R2 > 0.05 && fit.Evaluation.R2 < 1) {
			t.Errorf("%s: %+v", c.f.Name(), fit.Evaluation)
		}
	}
	// An offset is part of the predictor.
	m, fit := mustTrain(t, Config{Family: family.Poisson{}, Response: "c", Offset: "o", Structured: Structured{Formulas: []string{"~ x1 + s(x2, k=6)"}},
		Training: Training{Epochs: 5, Validation: held}}, tab)
	square, eta, y := 0.0, etaOf(t, m, b), column("c")
	for i := range y {
		mu := math.Exp(eta.At(i, 0) + o[i])
		square += (y[i] - mu) * (y[i] - mu) / float64(len(y))
	}
	if !(math.Abs(fit.Evaluation.RMSE-math.Sqrt(square)) < 1e-9) {
		t.Errorf("poisson with an offset: RMSE %v, want %v", fit.Evaluation.RMSE, math.Sqrt(square))
	}
	// Families of several predictors have no deviance, a GAM no validation rows.
	_, fit = mustTrain(t, Config{Family: family.GaussianLS{}, Response: "h", Structured: Structured{Formulas: []string{"~ x1"}}, Training: Training{Epochs: 5}}, tab)
	if !math.IsNaN(fit.Evaluation.DevianceExplained) || !(fit.Evaluation.R2 > 0) {
		t.Errorf("two predictors: %+v", fit.Evaluation)
	}
	_, fit = mustTrain(t, Config{Architecture: GAM, Structured: Structured{Formulas: []string{"y ~ x1 + s(x2)"}}}, tab)
	if fit.Evaluation.Held || fit.Evaluation.Rows != 500 || fit.Evaluation.Loss != fit.AdditiveLoss || math.Abs(fit.Evaluation.R2-fit.Evaluation.DevianceExplained) > 1e-12 {
		t.Errorf("gam: %+v", fit.Evaluation)
	}
	if _, err := fit.Evaluate(context.Background(), m); err != nil { // of one predictor: it is scored
		t.Error(err)
	}
	two, _ := mustTrain(t, Config{Family: family.GaussianLS{}, Response: "h", Structured: Structured{Formulas: []string{"~ x1"}}, Training: Training{Epochs: 1}}, tab)
	if _, err := fit.Evaluate(context.Background(), two); err == nil || !strings.Contains(err.Error(), "a model of 2 predictors cannot be scored where 1 were trained") {
		t.Errorf("another number of predictors: %v", err)
	}
	if _, err := new(Fit).Evaluate(context.Background(), two); err == nil {
		t.Error("a fit of no training scored a model")
	}
}

// TestDivergenceIsSurvived: a loss that is not finite ends training of a network with
// terms at the best epoch before, of one without with an error.
func TestDivergenceIsSurvived(t *testing.T) {
	var tab data.Source = simulated(t, 300, 33)
	cfg := Config{Family: family.Poisson{}, Response: "c", Structured: Structured{Formulas: []string{"~ x1 + s(x2, k=6)"}}, Deep: Deep{Columns: []string{"x1", "x3"}},
		Training: Training{Epochs: 20, LearningRate: 1e4, BatchSize: 50}}
	for _, share := range []float64{0.2, -1} {
		cfg.Training.ValidationShare = share
		_, fit := mustTrain(t, cfg, tab)
		if fit.Status != Diverged || fit.Best != 0 || !(fit.Evaluation.Loss <= fit.AdditiveLoss+1e-12) || len(fit.Warnings) != 2 || !strings.Contains(fit.Warnings[0], "training diverged in epoch 1") {
			t.Errorf("share %g: %s, best epoch %d, loss %v (additive %v), warnings %q", share, fit.Status, fit.Best, fit.Evaluation.Loss, fit.AdditiveLoss, fit.Warnings)
		}
		alone := cfg
		alone.Structured = Structured{}
		if _, _, err := Train(context.Background(), alone, tab); err == nil || !strings.Contains(err.Error(), "native: training diverged in epoch 1") {
			t.Errorf("share %g, without terms: %v", share, err)
		}
	}
}
