// Package lineareffects is the simulation behind two of the paper's experiments:
// semi-structured networks with linear effects, trained without constraint and
// with online orthogonalization. examples/paper/convergence looks at how long they
// train, examples/paper/linear at the coefficients.
package lineareffects

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/examples/paper/internal/experiment"
	"github.com/pho-go/pho/examples/paper/internal/simulation"
)

// Setting is n rows, p structured features, and a deep part that sees these and
// Noise others.
type Setting struct{ N, P, Noise, Repetitions int }

// Ratio is the paper's p/q, q counting the features of the deep part.
func (s Setting) Ratio() string { return fmt.Sprintf("%d/%d", s.P, s.P+s.Noise) }

// Study is a choice of settings and how to train in them. The zero value of
// Epochs and Hidden is the paper's.
type Study struct {
	Settings []Setting
	Epochs   int   // 0: 5000
	Hidden   []int // nil: 100, 50
}

// Early stopping, of which the paper does not tell more for its simulations; these
// are its benchmark's.
const (
	Patience        = 50
	ValidationShare = 0.1
)

// Full has the paper's settings, 20 repetitions of each.
func Full() Study {
	var s Study
	for _, n := range []int{100, 1000} {
		for _, noise := range []int{0, 30} {
			for _, p := range []int{1, 3, 10} {
				s.Settings = append(s.Settings, Setting{n, p, noise, 20})
			}
		}
	}
	return s
}

// Quick is Full with fewer repetitions, without the larger n.
func Quick() Study {
	s := Full()
	s.Settings = s.Settings[:6]
	for i := range s.Settings {
		s.Settings[i].Repetitions = 4
	}
	return s
}

// Sizes are the different n, in the order of the settings.
func (s Study) Sizes() []int {
	var n []int
	for _, at := range s.Settings {
		if !slices.Contains(n, at.N) {
			n = append(n, at.N)
		}
	}
	return n
}

// Repetitions of the settings with n rows.
func (s Study) Repetitions(n int) int {
	for _, at := range s.Settings {
		if at.N == n {
			return at.Repetitions
		}
	}
	return 0
}

// Describe records the settings.
func (s Study) Describe(e *experiment.Experiment) {
	for _, at := range s.Settings {
		e.Set(fmt.Sprintf("repetitions, n = %d, p/q = %s", at.N, at.Ratio()), at.Repetitions)
	}
	e.Set("network", "100 and 50 ReLU units with biases, dropout 0.2 after each")
	e.Set("training", fmt.Sprintf("Adam, rate 0.001, batches of 50, at most %d epochs, validation share %g, patience %d", s.epochs(), ValidationShare, Patience))
	e.Set("as published", "no intercept, response not scaled, coefficients start at 0")
	e.Set("warm start", "intercept, response standardised, coefficients start at least squares on the training rows")
}

func (s Study) epochs() int {
	if s.Epochs == 0 {
		return 5000
	}
	return s.Epochs
}

// Training is one way to train: as the paper does, or from the least squares
// start.
type Training struct {
	Name   string
	Online bool // orthogonalized
	Warm   bool // scaled response, intercept, beta starts at least squares
}

// Trainings are those that the study compares.
func Trainings() []Training {
	return []Training{{Name: "unconstrained"}, {Name: "ONO", Online: true}, {Name: "unconstrained, warm start", Warm: true}}
}

// Run is one trained network.
type Run struct {
	Epochs int // until early stopping
	Limit  bool
	// Coefficients' root mean squared error as trained, and after PHO.
	Before, After float64
}

// Repetition holds one Run for each of Trainings, and the coefficients' error of
// least squares on the same rows.
type Repetition struct {
	Runs         []Run
	LeastSquares float64
}

// run trains all networks of one setting; repetitions of a setting differ by data
// and seeds, trainings of a repetition by neither.
func (s Study) run(ctx context.Context, e *experiment.Experiment, at Setting) ([]Repetition, error) {
	stream := uint64(at.N)<<16 | uint64(at.P)<<8 | uint64(at.Noise)
	return experiment.Repeat(ctx, e, stream, at.Repetitions, func(ctx context.Context, i int, rng *rand.Rand) (Repetition, error) {
		sample, err := simulation.Linear(rng, at.N, at.P, at.Noise)
		if err != nil {
			return Repetition{}, err
		}
		seed := rng.Uint64() >> 1
		var out Repetition
		for _, t := range Trainings() {
			r, err := s.train(ctx, sample, t, seed)
			if err != nil {
				return Repetition{}, fmt.Errorf("n %d, p/q %s, repetition %d, %s: %w", at.N, at.Ratio(), i, t.Name, err)
			}
			out.Runs = append(out.Runs, r)
		}
		out.LeastSquares, err = leastSquares(ctx, sample)
		return out, err
	})
}

func (s Study) train(ctx context.Context, sample *simulation.Sample, t Training, seed uint64) (Run, error) {
	formula := sample.Formula("%s")
	if !t.Warm {
		formula += " - 1" // the paper's script has no intercept: y is centred
	}
	c := native.Config{
		Structured: native.Structured{Formulas: []string{formula}},
		Deep:       native.Deep{Columns: sample.Deep, Hidden: s.Hidden, Dropout: 0.2, Orthogonalize: t.Online},
		Training: native.Training{
			Epochs: s.epochs(), BatchSize: 50, LearningRate: 1e-3, ValidationShare: ValidationShare, Patience: Patience, Seed: seed, Workers: 1,
			WithoutResponseScaling: !t.Warm, WithoutInterceptStart: !t.Warm, WithoutWarmStart: !t.Warm,
			Initialization: native.He, // as in the committed runs
		},
	}
	if s.Hidden == nil {
		c.Deep.Hidden = []int{100, 50}
	}
	m, fit, err := native.Train(ctx, c, sample.Table)
	if err != nil {
		return Run{}, err
	}
	o := &decompose.Options{Resources: decompose.Resources{Workers: 1}}
	if !t.Warm {
		o.WithoutIntercept = m.Predictors()
	}
	before, after, err := coefficients(ctx, m, sample, o)
	return Run{
		Epochs: len(fit.Epochs), Limit: fit.Status == native.EpochLimit,
		Before: simulation.RMSE(before, truth(sample)), After: simulation.RMSE(after, truth(sample)),
	}, err
}

func truth(s *simulation.Sample) []float64 { return simulation.Coefficients(len(s.X)) }

// coefficients are beta, and beta + alpha.
func coefficients(ctx context.Context, m *native.Model, s *simulation.Sample, o *decompose.Options) (before, after []float64, err error) {
	stats, err := decompose.Accumulate(ctx, m, s.Table, o)
	if err != nil {
		return nil, nil, err
	}
	r, err := decompose.Solve(ctx, m, stats, o)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range r.Predictors[0].Terms {
		before = append(before, t.Beta[0])
		after = append(after, t.Beta[0]+t.Alpha[0])
	}
	return before, after, nil
}

// leastSquares is the error of the coefficients of the linear model.
func leastSquares(ctx context.Context, s *simulation.Sample) (float64, error) {
	c := native.Config{Architecture: native.GAM, Structured: native.Structured{Formulas: []string{s.Formula("%s")}}, Training: native.Training{Workers: 1}}
	m, _, err := native.Train(ctx, c, s.Table)
	if err != nil {
		return 0, err
	}
	var beta []float64
	for _, b := range m.Blocks(0) {
		beta = append(beta, b.Coef[0])
	}
	return simulation.RMSE(beta, truth(s)), nil
}
