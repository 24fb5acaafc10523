package nam

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// Surrogate shows the model box through the terms of another one, as a rule of an additive
// network that was trained on box's own eta (native.Distil). The model that it returns has
// the blocks, coefficients and intercepts of terms, and as deep part what these leave of
// box,
//
//	zeta = eta of box - intercept - sum_j Phi_j beta_j.
//
// So what is decomposed is box itself, not its imitation, and its predictions stay as they
// are. decompose.Options.Orders then gives the functional decomposition of a black box on bases that a
// neural surrogate found (Köhler, Rügamer and Schmid 2025), PHONAM a penalised one. Terms
// of box's own are ignored.
//
// Both models must have equally many predictors, and terms one term at least for each;
// the names are box's. Both are shared, not copied.
func Surrogate(box, terms decompose.Model) (decompose.Model, error) {
	if b, t := box.Predictors(), terms.Predictors(); len(b) != len(t) {
		return nil, fmt.Errorf("nam: the surrogate has predictors %q, what it stands for has %q: one is needed for each", t, b)
	}
	for k, name := range terms.Predictors() {
		if len(terms.Blocks(k)) == 0 {
			return nil, fmt.Errorf("nam: predictor %q of the surrogate has no terms: there is nothing to see %q through", name, box.Predictors()[k])
		}
	}
	return &surrogate{Model: terms, box: box}, nil
}

// surrogate shows the blocks and taps of its Model, and the predictors of box.
type surrogate struct {
	decompose.Model
	box decompose.Model
}

func (s *surrogate) Predictors() []string { return s.box.Predictors() }

func (s *surrogate) Columns() []string {
	columns := slices.Clone(s.box.Columns())
	for _, c := range s.Model.Columns() {
		if !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
	}
	return columns
}

// Tensors are those that box reads.
func (s *surrogate) Tensors() map[string]int { return decompose.TensorsOf(s.box) }

// Forward runs both models; the terms' own deep part, if they have one, is not
// structured and is left to zeta.
func (s *surrogate) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	n, k := b.Rows(), len(s.Predictors())
	if n == 0 {
		return ctx.Err()
	}
	whole := &decompose.Outputs{Zeta: mat.NewDense(n, k, nil), Eta: dst.Eta, Taps: map[string]*mat.Dense{}}
	for name, width := range s.box.Taps() {
		whole.Taps[name] = mat.NewDense(n, width, nil)
	}
	if err := s.box.Forward(ctx, whole, b); err != nil {
		return err
	}
	own := &decompose.Outputs{Zeta: mat.NewDense(n, k, nil), Eta: mat.NewDense(n, k, nil), Taps: dst.Taps}
	if err := s.Model.Forward(ctx, own, b); err != nil {
		return err
	}
	dst.Zeta.Sub(own.Eta, own.Zeta)
	dst.Zeta.Sub(dst.Eta, dst.Zeta)
	return nil
}
