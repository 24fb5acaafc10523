package native

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native/internal/likelihood"
	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// Evaluation is how well a model explains the responses of some rows. Means and sums over
// rows are weighted; the offset is added to the first predictor.
type Evaluation struct {
	Rows int
	Held bool // the rows were not trained on
	// Loss is the mean negative log-likelihood in training's units, as Epoch.Validation.
	Loss float64
	// RMSE is the root of the mean of (y - mu)^2, mu the family's mean at the predictors, in
	// the response's units. R2 is 1 - RMSE^2/Var(y): 0 for predictions by the mean of these
	// rows, negative for worse ones. NaN: mu is not finite, y does not vary, or times may be
	// censored.
	RMSE, R2 float64
	// DevianceExplained is 1 - deviance/null deviance; the null model is the best intercept
	// for these rows, of classes their frequencies. NaN for other families of several
	// predictors, which have no deviance, and for classes with an offset.
	DevianceExplained float64
	// Accuracy is the share of rows whose class is the most probable one, and MostFrequent the
	// accuracy of always naming the most frequent class; both 0 for families without classes.
	Accuracy, MostFrequent float64
}

// evaluator holds the rows that decide, those of validation or else of training, to
// evaluate models at.
type evaluator struct {
	rows        *rows.Frame
	held        bool
	raw, target *likelihood.Target // in the response's units and in training's
	units       likelihood.Units
	trained     family.Differentiable // of training's predictors
	family      family.Differentiable // of the response, with what was estimated
	unknown     []float64             // training's last predictors, which no model has
}

// evaluator is to be had when training is over: intercepts are the trained ones, reported
// is the family with what was estimated.
func (j *job) evaluator(intercepts []float64, reported family.Differentiable) evaluator {
	e := evaluator{rows: j.train, raw: j.raw, target: j.trainTarget, units: j.units, trained: j.family, family: reported,
		unknown: intercepts[j.cfg.Family.Predictors():]}
	if j.valid != nil {
		e.rows, e.target, e.held = j.valid, j.validTarget, true
	}
	return e
}

// Evaluate is Evaluation of another model of the same predictors at the same rows, such as
// the saved network read back and bound to the columns by their names. It is why a Fit
// holds the rows in memory. A model of another number of predictors is an error.
func (f *Fit) Evaluate(ctx context.Context, m decompose.Model) (*Evaluation, error) {
	e := &f.evaluator
	if e.rows == nil {
		return nil, fmt.Errorf("native: this fit did not come from training: it has no rows to score a model at")
	}
	if want := e.family.Predictors(); len(m.Predictors()) != want {
		return nil, fmt.Errorf("native: a model of %d predictors cannot be scored where %d were trained", len(m.Predictors()), want)
	}
	eta, err := e.predict(ctx, m)
	if err != nil {
		return nil, err
	}
	s := &Evaluation{Rows: e.rows.Rows(), Held: e.held, Loss: e.loss(eta)}
	s.RMSE, s.R2 = e.meanSquares(eta)
	s.DevianceExplained = e.devianceExplained(eta)
	if of, ok := e.family.(family.Classifier); ok {
		e.classes(s, of, eta)
	}
	return s, nil
}

func (e *evaluator) classes(s *Evaluation, of family.Classifier, eta *mat.Dense) {
	_, predictors := eta.Dims()
	right, weight, at := 0.0, make([]float64, of.Classes()), make([]float64, predictors)
	for i, y := range e.raw.Y {
		k := of.Place(y)
		weight[k] += e.raw.W[i]
		e.raw.At(at, eta.RawRowView(i), i)
		if of.Class(at) == k {
			right += e.raw.W[i]
		}
	}
	s.Accuracy, s.MostFrequent = right/e.raw.SumW, slices.Max(weight)/e.raw.SumW
	if s.DevianceExplained = math.NaN(); e.raw.Offset != nil { // then the null model is another
		return
	}
	sum := e.raw.Deviance(e.family, func(i int) []float64 { return eta.RawRowView(i) })
	most := 0.0 // at the frequencies
	for _, w := range weight {
		if w > 0 {
			most -= 2 * w * math.Log(w/e.raw.SumW)
		}
	}
	s.DevianceExplained = finite(1 - sum/most)
}

// predict is eta (n x K) without offset.
func (e *evaluator) predict(ctx context.Context, m decompose.Model) (*mat.Dense, error) {
	k := len(m.Predictors())
	eta := mat.NewDense(e.rows.Rows(), k, nil)
	at := 0
	for b, err := range e.rows.Batches(ctx, nil) {
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

// loss takes the predictors to training's units, the way back of Units.Of.
func (e *evaluator) loss(eta *mat.Dense) float64 {
	_, k := eta.Dims()
	row, at := make([]float64, k, k+len(e.unknown)), make([]float64, k+len(e.unknown))
	return -e.target.LogLik(e.trained, func(i int) []float64 {
		copy(row, eta.RawRowView(i))
		if e.units != (likelihood.Units{Scale: 1}) {
			for j := range row {
				scale, shift := e.units.Of(j)
				row[j] = (row[j] - shift) / scale
			}
		}
		e.target.At(at, append(row, e.unknown...), i)
		return at
	}) / e.target.SumW
}

func (e *evaluator) meanSquares(eta *mat.Dense) (rmse, r2 float64) {
	if _, ok := e.family.(family.Classifier); ok { // whose numbers have no mean
		return math.NaN(), math.NaN()
	}
	if e.raw.Event != nil { // how long censored times would have been is not known
		return math.NaN(), math.NaN()
	}
	n, k := eta.Dims()
	sum, at := 0.0, make([]float64, k)
	for i := range n {
		e.raw.At(at, eta.RawRowView(i), i)
		if w := e.raw.W[i]; w > 0 {
			d := e.raw.Y[i] - e.family.Mean(at)
			sum += w * d * d / e.raw.SumW
		}
	}
	_, variance := e.raw.Moments(false)
	return finite(math.Sqrt(sum)), finite(1 - sum/variance)
}

func (e *evaluator) devianceExplained(eta *mat.Dense) float64 {
	if _, ok := e.family.(family.Classifier); ok { // see classes
		return math.NaN()
	}
	if _, k := eta.Dims(); k > 1 {
		return math.NaN()
	}
	if _, ok := e.family.(family.Profiled); ok { // a null model has a baseline of its own
		return math.NaN()
	}
	at, null := make([]float64, 1), e.raw.Intercepts(e.family, []bool{true})
	sum := e.raw.Deviance(e.family, func(i int) []float64 {
		e.raw.At(at, eta.RawRowView(i), i)
		return at
	})
	most := e.raw.Deviance(e.family, func(i int) []float64 {
		e.raw.At(at, null, i)
		return at
	})
	return finite(1 - sum/most)
}

// finite is v, or NaN for infinities.
func finite(v float64) float64 {
	if math.IsInf(v, 0) {
		return math.NaN()
	}
	return v
}
