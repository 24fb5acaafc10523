package decompose

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/projection"
	"github.com/pho-go/pho/penalty"
)

// Constrained is the coordinates in which the coefficients of a predictor are free and
// penalised: constraints absorbed, penalties scaled (Wood 2017, 5.4.1 and
// smoothCon). Block j's raw coefficients are Z[j] times its own, Terms[j] has its
// place and its penalties.
type Constrained struct {
	Blocks []Block             // in the order of Result.Predictors[k].Terms
	Z      []*mat.Dense        // Dim x Terms[j].Dim; nil: the identity
	Terms  []penalty.Component // in column order, without an intercept
}

// Constrain resolves the constraints and penalty scales of predictor k from the
// statistics of the rows, as Solve does.
func Constrain(m Model, s *Statistics, k int) (*Constrained, error) {
	p, err := newPlan(m)
	if err != nil {
		return nil, err
	}
	if k < 0 || k >= len(p.predictors) {
		return nil, fmt.Errorf("decompose: predictor %d of %d", k, len(p.predictors))
	}
	if err := p.belongs(m, s); err != nil {
		return nil, err
	}
	total, err := s.total()
	if err != nil {
		return nil, err
	}
	o, d := &Options{}, p.predictors[k]
	c, err := projection.Constrain(total, k, p.resolved(d, total, o), o.tolerance(d))
	if err != nil {
		return nil, fmt.Errorf("decompose: predictor %q: %w", d.name, err)
	}
	out := &Constrained{Blocks: d.blocks, Terms: c.Terms()}
	for j := range d.blocks {
		out.Z = append(out.Z, c.Z(j))
	}
	return out, nil
}
