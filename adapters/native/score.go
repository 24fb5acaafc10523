package native

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// Score is how well predictors explain the responses of some rows. Means and sums over
// rows are weighted; the offset is part of the predictors.
type Score struct {
	Rows int
	Held bool // the rows were not trained on
	// Loss is the mean negative log-likelihood in training's units, as Epoch.Validation.
	Loss float64
	// RMSE is the root of the mean of (y - mean(eta))^2, in the response's units; R2 is
	// 1 - RMSE^2 over the variance of y, 0 for the mean of these rows and negative for
	// what is worse. NaN: the family's mean is not finite, or y does not vary.
	RMSE, R2 float64
	// DevianceExplained is 1 - deviance/null deviance, the null model being the best
	// intercept for these rows. NaN for families of several predictors, which have no
	// deviance.
	DevianceExplained float64
}

// judge holds the rows that decide, to score models at.
type judge struct {
	rows        *rows.Frame
	held        bool
	raw, target *target // in the response's units and in training's
	scaling     scaling
	trained     family.Differentiable // of training's predictors
	family      family.Differentiable // of the response, with what was estimated
	unknown     []float64             // training's last predictors, which no model has
}

// judge is to be had when training is over: intercepts are the trained ones.
func (j *job) judge(intercepts []float64, reported family.Differentiable) judge {
	g := judge{rows: j.train, raw: j.raw, target: j.trainTarget, scaling: j.scaling, trained: j.family, family: reported,
		unknown: intercepts[j.cfg.Family.Predictors():]}
	if j.valid != nil {
		g.rows, g.target, g.held = j.valid, j.validTarget, true
	}
	return g
}

// ScoreOf is Score of another model of the same predictors, at the same rows: such as
// the saved network read back, bound to the columns by their names. The rows are kept in
// memory as long as the Fit is.
func (f *Fit) ScoreOf(ctx context.Context, m decompose.Model) (*Score, error) {
	g := &f.judge
	if g.rows == nil {
		return nil, fmt.Errorf("native: this fit did not come from training: it has no rows to score a model at")
	}
	if want := g.family.Predictors(); len(m.Predictors()) != want {
		return nil, fmt.Errorf("native: a model of %d predictors cannot be scored where %d were trained", len(m.Predictors()), want)
	}
	eta, err := g.predict(ctx, m)
	if err != nil {
		return nil, err
	}
	s := &Score{Rows: g.rows.Rows(), Held: g.held, Loss: g.loss(eta)}
	s.RMSE, s.R2 = g.meanSquares(eta)
	s.DevianceExplained = g.devianceExplained(eta)
	return s, nil
}

// predict is eta (n x K) without offset.
func (g *judge) predict(ctx context.Context, m decompose.Model) (*mat.Dense, error) {
	k := len(m.Predictors())
	eta := mat.NewDense(g.rows.Rows(), k, nil)
	at := 0
	for b, err := range g.rows.Batches(ctx, nil) {
		if err != nil {
			return nil, err
		}
		own, err := forward(ctx, m, b)
		if err != nil {
			return nil, fmt.Errorf("native: scoring the model: %w", err)
		}
		eta.Slice(at, at+b.Rows(), 0, k).(*mat.Dense).Copy(own.Eta)
		at += b.Rows()
	}
	return eta, nil
}

// forward evaluates a model at the rows of b, one at least.
func forward(ctx context.Context, m decompose.Model, b *data.Batch) (*decompose.Outputs, error) {
	n, k := b.Rows(), len(m.Predictors())
	out := &decompose.Outputs{Zeta: mat.NewDense(n, k, nil), Eta: mat.NewDense(n, k, nil), Taps: map[string]*mat.Dense{}}
	for name, width := range m.Taps() {
		out.Taps[name] = mat.NewDense(n, width, nil)
	}
	return out, m.Forward(ctx, out, b)
}

// loss takes the predictors to training's units: location less the shift over the scale,
// a log scale less its logarithm.
func (g *judge) loss(eta *mat.Dense) float64 {
	n, k := eta.Dims()
	sum, row, at := 0.0, make([]float64, k, k+len(g.unknown)), make([]float64, k+len(g.unknown))
	for i := range n {
		copy(row, eta.RawRowView(i))
		if g.scaling != (scaling{0, 1}) {
			row[0] = (row[0] - g.scaling.shift) / g.scaling.scale
			if k > 1 {
				row[1] -= math.Log(g.scaling.scale)
			}
		}
		g.target.at(at, append(row, g.unknown...), i)
		sum -= g.trained.LogLik(g.target.y[i], g.target.w[i], at, 1)
	}
	return sum / g.target.sumW
}

func (g *judge) meanSquares(eta *mat.Dense) (rmse, r2 float64) {
	n, k := eta.Dims()
	sum, at := 0.0, make([]float64, k)
	for i := range n {
		g.raw.at(at, eta.RawRowView(i), i)
		if w := g.raw.w[i]; w > 0 {
			d := g.raw.y[i] - g.family.Mean(at)
			sum += w * d * d / g.raw.sumW
		}
	}
	_, variance := g.raw.moments(false)
	return finite(math.Sqrt(sum)), finite(1 - sum/variance)
}

func (g *judge) devianceExplained(eta *mat.Dense) float64 {
	n, k := eta.Dims()
	if k > 1 {
		return math.NaN()
	}
	free := []bool{true}
	null := g.raw.intercepts(g.family, free)
	sum, best, at := 0.0, 0.0, make([]float64, k)
	for i := range n {
		g.raw.at(at, eta.RawRowView(i), i)
		sum += g.family.Deviance(g.raw.y[i], g.raw.w[i], at)
		g.raw.at(at, slices.Clone(null), i)
		best += g.family.Deviance(g.raw.y[i], g.raw.w[i], at)
	}
	return finite(1 - sum/best)
}

// finite is v, or NaN for infinities.
func finite(v float64) float64 {
	if math.IsInf(v, 0) {
		return math.NaN()
	}
	return v
}
