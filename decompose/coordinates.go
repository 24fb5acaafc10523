package decompose

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/penalty"
)

// Coordinates are those in which the coefficients of a predictor are free and
// penalised: constraints absorbed, penalties scaled (Wood 2017, 5.4.1 and
// smoothCon). Block j's raw coefficients are Z[j] times its own, Terms[j] has its
// place and its penalties.
type Coordinates struct {
	Blocks []Block             // in the order of Result.Predictors[k].Terms
	Z      []*mat.Dense        // Dim x Terms[j].Dim; nil: the identity
	Terms  []penalty.Component // in column order, without an intercept
}

// PredictorCoordinates resolves the constraints and penalty scales of predictor k
// from the statistics of the rows, as Solve does.
func PredictorCoordinates(m Model, s *Statistics, k int) (*Coordinates, error) {
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
	total := s.sum.Total()
	c, err := p.constrain(p.predictors[k], total, k, (&Options{}).tolerance(p.predictors[k]), nil)
	if err != nil {
		return nil, err
	}
	return &Coordinates{Blocks: c.blocks, Z: c.z, Terms: c.terms}, nil
}
