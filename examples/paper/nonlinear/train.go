package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/examples/paper/internal/experiment"
	"github.com/pho-go/pho/examples/paper/internal/simulation"
	"github.com/pho-go/pho/penalty"
)

const patience = 50

// training is a way to train the network.
type training struct {
	name    string
	online  bool // orthogonalized
	scaled  bool // with intercept, response standardised
	warm    bool // beta starts at the GAM
	again   bool // a second time, on all rows
	dropout float64
	epochs  int // 0: the study's
	wait    int // patience; 0: the usual
}

// The trainings that every cell compares, and the steps between them.
var (
	published = training{name: "as published", dropout: 0.2}
	ours      = training{name: "ours", scaled: true, warm: true, again: true, dropout: 0.2}

	steps = []training{
		published,
		{name: "published without dropout"},
		{name: "published with patience 250", dropout: 0.2, wait: 250},
		{name: "+ intercept, scaled response", dropout: 0.2, scaled: true},
		{name: "+ warm start", dropout: 0.2, scaled: true, warm: true},
		{name: "+ trained again on all rows: ours", dropout: 0.2, scaled: true, warm: true, again: true},
	}
)

func ono(epochs int) training {
	return training{name: "ONO", online: true, dropout: 0.2, epochs: epochs}
}

// estimate is one method's answer.
type estimate struct {
	method string
	// RIMSE and its value if the truth is not centred, of each function.
	error, raw []float64
	curve      [][]float64 // of each function on the grid; the truth has them, too
}

// repetition holds the estimates of one sample, and the errors of PHOGAM for each
// of steps (nil: not run).
type repetition struct {
	estimates []estimate
	steps     []stepErrors
}

// stepErrors are the effects' errors as trained, after PHO, after PHOGAM and after
// PHOGAM of the whole predictor (Options.RefitTotal).
type stepErrors struct{ before, pho, phogam, total []float64 }

func (r *repetition) of(method string) *estimate {
	for i := range r.estimates {
		if r.estimates[i].method == method {
			return &r.estimates[i]
		}
	}
	return nil
}

// run fits everything in one cell.
func (s study) run(ctx context.Context, e *experiment.Experiment, c cell, withSteps bool) ([]repetition, error) {
	return experiment.Repeat(ctx, e, uint64(c.n)<<8|uint64(c.noise), c.repetitions, func(ctx context.Context, i int, rng *rand.Rand) (repetition, error) {
		sample, err := simulation.Draw(rng, c.n, simulation.Functions()[:s.functions], c.noise)
		if err != nil {
			return repetition{}, err
		}
		f := &fitting{study: s, cell: c, sample: sample, seed: rng.Uint64() >> 1}
		if f.grid, err = s.gridOf(sample); err != nil {
			return repetition{}, err
		}
		r, err := f.all(ctx, i < c.onlineReps, withSteps && i < s.steps)
		if err != nil {
			return r, fmt.Errorf("%s, repetition %d: %w", c.name(), i, err)
		}
		if e.Quick || i%5 == 4 {
			e.Printf("%s: repetition %d done", c.name(), i)
		}
		return r, nil
	})
}

// fitting is what one repetition works on.
type fitting struct {
	study
	cell
	sample *simulation.Sample
	grid   *data.Table
	seed   uint64
}

// all fits every method; online and steps tell whether to fit ONO and the steps.
func (f *fitting) all(ctx context.Context, online, withSteps bool) (r repetition, err error) {
	r.estimates = append(r.estimates, f.truth())
	add := func(method string, m *native.Model, result *decompose.Result, before bool) {
		if err != nil {
			return
		}
		var e estimate
		e, err = f.estimate(ctx, m, result, before)
		e.method = method
		r.estimates = append(r.estimates, e)
	}
	gam, err := f.train(ctx, training{name: "GAM"})
	if err != nil {
		return r, err
	}
	results, err := f.project(ctx, gam, training{scaled: true}, decompose.Options{Projection: decompose.Projection{Method: decompose.PHO}})
	if err != nil {
		return r, err
	}
	add("GAM", gam, results[0], true)

	gcv := decompose.Options{Smoothing: decompose.Smoothing{Selection: penalty.Options{Criterion: penalty.GCV, WithoutVc: true}}}
	reml := decompose.Options{Smoothing: decompose.Smoothing{Selection: penalty.Options{WithoutVc: true}}}
	pho := decompose.Options{Projection: decompose.Projection{Method: decompose.PHO}}
	for _, t := range []struct {
		training
		smooth decompose.Options
		after  string // of the methods' names
	}{{published, gcv, ""}, {ours, reml, ", ours"}} {
		m, err := f.train(ctx, t.training)
		if err != nil {
			return r, err
		}
		if results, err = f.project(ctx, m, t.training, pho, t.smooth); err != nil {
			return r, err
		}
		add("unconstrained"+t.after, m, results[0], true)
		add("PHO"+t.after, m, results[0], false)
		add("PHOGAM"+t.after, m, results[1], false)
	}
	if online {
		m, err := f.train(ctx, f.online)
		if err != nil {
			return r, err
		}
		if results, err = f.project(ctx, m, f.online, pho); err != nil {
			return r, err
		}
		add("ONO", m, results[0], true)
	}
	if err != nil || !withSteps {
		return r, err
	}
	for _, t := range steps {
		m, err := f.train(ctx, t)
		if err != nil {
			return r, err
		}
		total := reml
		total.RefitTotal = true
		if results, err = f.project(ctx, m, t, pho, pho, reml, total); err != nil {
			return r, err
		}
		var e stepErrors
		for i, to := range []*[]float64{&e.before, &e.pho, &e.phogam, &e.total} {
			got, err := f.estimate(ctx, m, results[i], i == 0)
			if err != nil {
				return r, err
			}
			*to = got.error
		}
		r.steps = append(r.steps, e)
	}
	return r, nil
}

// train trains the network of the cell; a training named GAM has none.
func (f *fitting) train(ctx context.Context, t training) (*native.Model, error) {
	formula := f.sample.Formula(fmt.Sprintf(`s(%%s, bs="ps", k=%d)`, f.k))
	if t.name == "GAM" {
		m, _, err := native.Train(ctx, native.Config{Architecture: native.GAM, Structured: native.Structured{Formulas: []string{formula}}, Training: native.Training{Workers: 1}}, f.sample.Table)
		return m, err
	}
	if !t.scaled {
		formula += " - 1" // the paper's script has no intercept: y is centred
	}
	c := native.Config{
		Structured: native.Structured{Formulas: []string{formula}},
		Deep:       native.Deep{Columns: f.sample.Deep, Hidden: []int{100, 50}, Dropout: t.dropout, Orthogonalize: t.online},
		Training: native.Training{
			Epochs: f.epochs, BatchSize: 50, LearningRate: 1e-3, ValidationShare: 0.1, Patience: patience, Seed: f.seed, Workers: 1,
			WithoutResponseScaling: !t.scaled, WithoutInterceptStart: !t.scaled, WithoutWarmStart: !t.warm,
			Initialization: native.He, // as in the committed runs
		},
	}
	if t.epochs > 0 {
		c.Training.Epochs = t.epochs
	}
	if t.wait > 0 {
		c.Training.Patience = t.wait
	}
	m, fit, err := native.Train(ctx, c, f.sample.Table)
	if err != nil || !t.again {
		return m, err
	}
	c.Training.Epochs, c.Training.ValidationShare, c.Training.Schedule = max(fit.Best, 1), -1, native.Cosine
	m, _, err = native.Train(ctx, c, f.sample.Table)
	return m, err
}

// project decomposes m in the ways of options, on statistics formed once.
func (f *fitting) project(ctx context.Context, m *native.Model, t training, options ...decompose.Options) ([]*decompose.Result, error) {
	var results []*decompose.Result
	var stats *decompose.Statistics
	for _, o := range options {
		o.Workers = 1
		if !t.scaled {
			o.WithoutIntercept = m.Predictors()
		}
		var err error
		if stats == nil {
			if stats, err = decompose.Accumulate(ctx, m, f.sample.Table, &o); err != nil {
				return nil, err
			}
		}
		r, err := decompose.Solve(ctx, m, stats, &o)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}
