package native

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// Blend is sum_m weights[m] eta_m of models with the same predictors, as one model. nil
// weights are equal ones: the mean of an ensemble. Else there is one for each model; they
// are finite and need not sum to 1. The models are shared, not copied.
//
// All of the sum counts as deep, the members' own terms and intercepts too, because members
// trained on other rows have other knots. Terms that are added with decompose.With are then
// split off the mean predictor exactly.
func Blend(models []decompose.Model, weights []float64) (decompose.Model, error) {
	if len(models) == 0 {
		return nil, fmt.Errorf("native: a blend of no models")
	}
	if weights == nil {
		weights = make([]float64, len(models))
		for i := range weights {
			weights[i] = 1 / float64(len(models))
		}
	}
	if len(weights) != len(models) {
		return nil, fmt.Errorf("native: %d weights for a blend of %d models", len(weights), len(models))
	}
	m := &blend{names: models[0].Predictors(), models: slices.Clone(models), weights: slices.Clone(weights)}
	for i, part := range models {
		if names := part.Predictors(); !slices.Equal(names, m.names) {
			return nil, fmt.Errorf("native: a blend of models with different predictors: %q of the first, %q of number %d", m.names, names, i+1)
		}
		if w := weights[i]; math.IsNaN(w) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("native: weight %d of a blend is %g", i+1, w)
		}
		m.columns = append(m.columns, part.Columns()...)
	}
	m.columns = unique(m.columns)
	return m, nil
}

type blend struct {
	names, columns []string
	models         []decompose.Model
	weights        []float64
}

func (m *blend) Predictors() []string         { return slices.Clone(m.names) }
func (m *blend) Columns() []string            { return slices.Clone(m.columns) }
func (m *blend) Intercept(int) float64        { return 0 }
func (m *blend) Blocks(int) []decompose.Block { return nil }
func (m *blend) Taps() map[string]int         { return nil }

// Forward adds up the members in their order.
func (m *blend) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	if b.Rows() == 0 {
		return ctx.Err()
	}
	dst.Eta.Zero()
	for i, part := range m.models {
		own, err := forward(ctx, part, b)
		if err != nil {
			return fmt.Errorf("model %d of a blend: %w", i+1, err)
		}
		own.Eta.Scale(m.weights[i], own.Eta)
		dst.Eta.Add(dst.Eta, own.Eta)
	}
	dst.Zeta.Copy(dst.Eta)
	return nil
}
