package main

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// blend is the weighted sum of models of one predictor, as a black box: all of it counts as deep, the models' own terms
// too, since models trained on other rows have other knots. Terms that are added are split off the sum exactly.
type blend struct {
	models  []decompose.Model
	weights []float64
}

// blended is the model of the sum.
func blended(models []decompose.Model, weights []float64) (decompose.Model, error) {
	var columns []string
	for _, m := range models {
		columns = append(columns, m.Columns()...)
	}
	slices.Sort(columns)
	return decompose.NewBlackBox(&blend{models, weights}, slices.Compact(columns), models[0].Predictors()...)
}

// Eta adds up the models in their order.
func (s *blend) Eta(ctx context.Context, dst *mat.Dense, b *data.Batch) error {
	dst.Zero()
	for i, m := range s.models {
		out := &decompose.Outputs{Eta: mat.NewDense(b.Rows(), 1, nil), Zeta: mat.NewDense(b.Rows(), 1, nil), Taps: map[string]*mat.Dense{}}
		for name, width := range m.Taps() {
			out.Taps[name] = mat.NewDense(b.Rows(), width, nil)
		}
		if err := m.Forward(ctx, out, b); err != nil {
			return err
		}
		out.Eta.Scale(s.weights[i], out.Eta)
		dst.Add(dst, out.Eta)
	}
	return nil
}
