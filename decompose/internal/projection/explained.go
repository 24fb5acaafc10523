package projection

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/decompose/internal/moments"
)

// Explained is Var(P eta), P being the weighted orthogonal projection on the constant and
// the columns of blocks, and Var(eta), for eta = X beta + zeta of predictor k. Penalties
// do not count; columns marked Kept are part of eta but are not projected on.
//
// No pass over the rows is needed: X'W eta = X'WX beta + X'W zeta.
func Explained(m *moments.Moments, k int, blocks []Block, tolerance float64) (explained, total float64, err error) {
	c, err := Constrain(m, k, blocks, tolerance)
	if err != nil {
		return 0, 0, err
	}
	p := c.Problem(true, true)
	if total = math.Max(p.sums.ZZ, 0) / p.sums.SumW; !(total > 1e-24*p.sums.ZMean*p.sums.ZMean) {
		return 0, 0, nil // eta is constant: rounding has no shares
	}
	fit, err := p.Orthogonal()
	if err != nil || len(fit.alpha) == 0 {
		return 0, total, err
	}
	explained = floats.Dot(fit.products(fit.alpha).RawVector().Data, fit.alpha) / p.sums.SumW
	return math.Min(math.Max(explained, 0), total), total, nil
}
