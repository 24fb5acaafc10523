package native

import (
	"context"
	"math"
	"testing"

	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/decompose/decomposetest"
	"github.com/pho-go/pho/family"
)

// TestUnusual: data and settings at the edge train to finite, consistent models.
func TestUnusual(t *testing.T) {
	small := simulated(t, 40, 1)
	f := &rows.Frame{Columns: small.Schema(), Batch: whole(t, small)}
	constant, zero, huge := make([]float64, 40), make([]float64, 40), make([]float64, 40)
	for i := range constant {
		constant[i], huge[i] = 2, 1e9+float64(i%7)
		if i%3 > 0 {
			zero[i] = 1
		}
	}
	src, err := f.With([]string{"constant", "zero", "huge"}, [][]float64{constant, zero, huge})
	if err != nil {
		t.Fatal(err)
	}
	brief := Training{Epochs: 5, BatchSize: 16}
	for name, cfg := range map[string]Config{
		"more columns than rows": {Structured: Structured{Formulas: []string{`y ~ s(x1, bs="ps", k=20) + s(x2, bs="ps", k=20) + s(x3, bs="ps", k=20)`}}, Deep: Deep{Columns: []string{"x1"}}, Training: brief},
		"aliased terms":          {Structured: Structured{Formulas: []string{`y ~ x1 + s(x1, k=5) + constant + g`}}, Deep: Deep{Columns: []string{"x2"}}, Training: brief},
		"constant inputs":        {Architecture: NAM, Response: "y", FeatureNetworks: FeatureNetworks{Columns: []string{"constant", "huge"}}, Deep: Deep{Columns: []string{"constant"}}, Training: brief},
		"intercept only":         {Structured: Structured{Formulas: []string{"y ~ 1"}}, Training: brief},
		"no intercept":           {Structured: Structured{Formulas: []string{"y ~ x1 + g - 1"}}, Deep: Deep{Columns: []string{"x2"}}, Training: brief},
		"weights of zero":        {Response: "y", Weights: "zero", Structured: Structured{Formulas: []string{"~ x1"}}, Deep: Deep{Columns: []string{"x1"}, BatchNorm: true}, Training: brief},
		"batches of one row":     {Response: "c", Family: family.Poisson{}, Deep: Deep{Columns: []string{"x1", "g"}}, Training: Training{Epochs: 3, BatchSize: 1}},
		"single, two predictors": {Response: "h", Family: family.GaussianLS{}, Deep: Deep{Columns: []string{"x1", "g"}}, Training: Training{Epochs: 5, Single: true}},
		"a large count":          {Response: "huge", Family: family.Poisson{}, Deep: Deep{Columns: []string{"x1"}}, Training: Training{Epochs: 3, LearningRate: 1e-6}},
		"batch of one at the end, batch norm": {Response: "y", Deep: Deep{Columns: []string{"x1"}, BatchNorm: true},
			Training: Training{Epochs: 2, BatchSize: 13, ValidationShare: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			m, fit, err := Train(context.Background(), cfg, src)
			if err != nil {
				t.Fatal(err)
			}
			if err := decomposetest.Model(m, src.Batch, 1e-6); err != nil {
				t.Error(err)
			}
			for _, e := range fit.Epochs {
				if math.IsNaN(e.Train) || math.IsInf(e.Train, 0) {
					t.Errorf("loss %v in epoch %d", e.Train, e.Epoch)
				}
			}
			if name == "no intercept" && m.Intercept(0) != 0 {
				t.Errorf("intercept %v", m.Intercept(0))
			}
		})
	}
}
