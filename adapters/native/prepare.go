package native

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/pho-go/pho/adapters/native/internal/additive"
	"github.com/pho-go/pho/adapters/native/internal/likelihood"
	"github.com/pho-go/pho/adapters/native/internal/network"
	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// job is a training prepared: all that is known before the first step, whatever the
// precision.
type job struct {
	cfg *Config
	// family and names are those of training: unknown parameters of the configured
	// family come last.
	family       family.Differentiable
	names        []string
	train, valid *rows.Frame // valid nil: none
	seen         *rows.Frame // rows that are not held out: train, or what it is a resample of
	// The responses in the units of training, and these units.
	trainTarget, validTarget *likelihood.Target
	raw                      *likelihood.Target // of the rows that decide, in the response's units
	units                    likelihood.Units
	intercepts               []float64
	parts                    []*additive.Part
	halved                   int // how often the step to the additive model was halved
	plans                    []*network.Plan
	fit                      *Fit
}

// prepare validates the configuration, reads the rows and makes the terms, and fits the
// models that training begins from: intercepts alone, and the additive one.
func prepare(ctx context.Context, cfg *Config, src data.Source) (*job, error) {
	schema := src.Schema()
	j := &job{cfg: cfg, fit: &Fit{Seed: cfg.Training.Seed}}
	if err := cfg.expand(ctx, src, j.fit); err != nil {
		return nil, err
	}
	formulas, err := cfg.validate(schema)
	if err != nil {
		return nil, err
	}
	cfg.Training.Workers = goroutines(cfg.Training.Workers)
	if own := cfg.factorFeatures(schema); own != nil {
		formulas = append(formulas, own)
	}
	if err := j.read(ctx, src, unique(append(cfg.columns(), termColumns(formulas)...))); err != nil {
		return nil, err
	}
	if err := cfg.complete(j.train, j.valid, formulas); err != nil {
		return nil, err
	}
	if err := cfg.settleClasses(j.fit.Classes, formulas); err != nil {
		return nil, err
	}
	j.family, j.names, j.plans = cfg.trained(), slices.Concat(cfg.predictorNames(), cfg.unknown()), cfg.plans(schema)
	blocks, free, err := cfg.buildTerms(ctx, formulas, j.train)
	if err != nil {
		return nil, err
	}
	for _, p := range j.plans {
		if err := p.Describe(j.train.Batch); err != nil {
			return nil, err
		}
	}
	if err := j.resample(); err != nil {
		return nil, err
	}
	for range cfg.unknown() { // predictors with an intercept and nothing else
		blocks, free = append(blocks, nil), append(free, true)
	}
	if err := j.readTargets(free); err != nil {
		return nil, err
	}
	if err := cfg.knownTerms(blocks); err != nil {
		return nil, err
	}
	if err := j.checkExport(blocks); err != nil {
		return nil, err
	}
	if err := j.fitAdditive(ctx, blocks, free); err != nil {
		return nil, err
	}
	if cfg.Architecture == GAM && !family.TraitsOf(cfg.Family).LeastSquares {
		return j, j.converge(ctx, blocks, free)
	}
	return j, nil
}

// goroutines is the number of workers that was asked for, 0 being one for each processor,
// within reason.
func goroutines(asked int) int {
	processors := runtime.GOMAXPROCS(0)
	if asked == 0 {
		asked = processors
	}
	return min(asked, max(16, 4*processors))
}

// termColumns are the columns that formulas read.
func termColumns(formulas []*basis.Formula) []string {
	var columns []string
	for _, f := range formulas {
		for _, s := range f.Specs {
			columns = append(columns, s.Columns()...)
		}
	}
	return columns
}

// checkExport is what WriteONNX would say of the model, which is written to nowhere with
// parameters of 0; nil if it is not asked for.
func (j *job) checkExport(blocks [][]decompose.Block) (err error) {
	if j.cfg.Export == nil {
		return nil
	}
	m := j.emptyModel(make([]network.Predictor, j.cfg.Family.Predictors()))
	for k := range m.names {
		for _, b := range blocks[k] {
			b.Coef = make([]float64, b.Term.Dim())
			m.blocks[k] = append(m.blocks[k], b)
		}
	}
	m.finish(j)
	if m.levels, err = textLevels(m.columns, j.seen); err != nil {
		return err
	}
	return m.WriteONNX(io.Discard, j.cfg.Export)
}

// fitAdditive fits the additive model of each predictor to its working response.
func (j *job) fitAdditive(ctx context.Context, blocks [][]decompose.Block, free []bool) error {
	for k := range j.names {
		z, w := j.trainTarget.Working(j.family, j.intercepts, k)
		s, err := additive.Fit(ctx, j.train, blocks[k], free[k], additive.Working{Response: z, Weights: w, SumW: j.trainTarget.SumW}, j.additiveOptions())
		if err != nil {
			return err
		}
		j.parts = append(j.parts, s)
		j.fit.Additive = append(j.fit.Additive, s.Result)
	}
	return nil
}

func (j *job) additiveOptions() *additive.Options {
	f := j.cfg.Family
	o := &additive.Options{Smoothing: j.cfg.Structured.Smoothing, SP: j.cfg.Structured.SP, Workers: j.cfg.Training.Workers, OwnScale: !f.HasDispersion() && !f.Mass()}
	if f.Mass() {
		o.KnownScale = 1
	}
	return o
}

// columns are those that the configuration names outside of formulas.
func (c *Config) columns() []string {
	names := []string{c.Response, c.Event, c.Weights, c.Offset}
	names = append(append(names, c.Deep.Columns...), c.FeatureNetworks.Columns...)
	for _, p := range c.FeatureNetworks.Pairs {
		names = append(names, p[:]...)
	}
	return names
}

// complete refuses missing numbers where a network cannot put the mean for them.
func (c *Config) complete(train, valid *rows.Frame, formulas []*basis.Formula) error {
	if !c.Missing {
		return nil
	}
	for _, name := range unique(slices.Concat([]string{c.Response, c.Event, c.Weights, c.Offset}, c.Structured.Factors, c.Deep.Factors, c.FeatureNetworks.Factors, termColumns(formulas))) {
		for _, f := range []*rows.Frame{train, valid} {
			if f == nil {
				continue
			}
			if i, ok := f.Columns.Lookup(name); !ok || !i.Numeric {
				continue
			}
			x, err := f.Batch.Numeric(name)
			if err != nil {
				return err
			}
			if i := slices.IndexFunc(x, math.IsNaN); i >= 0 {
				return fmt.Errorf("native: column %q, data row %d: %w, and only columns that networks alone read may lack some: fill it in, or leave such rows out", name, f.Batch.Row(i)+1, data.ErrMissingValue)
			}
		}
	}
	return nil
}

func unique(names []string) []string {
	var out []string
	for _, name := range names {
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// read fills the frames of training and validation rows.
func (j *job) read(ctx context.Context, src data.Source, columns []string) error {
	all, err := rows.Read(ctx, src, columns)
	if err != nil {
		return err
	}
	if all.Rows() == 0 {
		return fmt.Errorf("native: there are no rows to train on")
	}
	if j.fit.Classes, err = j.cfg.codeClasses(all, nil); err != nil {
		return err
	}
	t := &j.cfg.Training
	j.train = all
	switch {
	case j.cfg.Architecture == GAM || t.Validation == nil && t.ValidationShare < 0:
	case t.Validation != nil:
		if j.valid, err = rows.Read(ctx, t.Validation, columns); err != nil {
			return fmt.Errorf("native: validation rows: %w", err)
		}
		if _, err := j.cfg.codeClasses(j.valid, j.fit.Classes); err != nil {
			return fmt.Errorf("native: validation rows: %w", err)
		}
	default:
		held := int(t.ValidationShare * float64(all.Rows()))
		if held == 0 || held == all.Rows() {
			return fmt.Errorf("native: a validation share of %g leaves %d of %d rows for validation: give more rows, another share, or a negative one for none", t.ValidationShare, held, all.Rows())
		}
		order := rand.New(rand.NewPCG(cmp.Or(j.cfg.Sampling.SplitSeed, t.Seed), 0x5011d)).Perm(all.Rows())
		slices.Sort(order[:held])
		slices.Sort(order[held:])
		if j.valid, err = all.Subset(order[:held]); err != nil {
			return err
		}
		if j.train, err = all.Subset(order[held:]); err != nil {
			return err
		}
	}
	return nil
}

// resample draws the rows that are trained on, if a resample is asked for.
func (j *job) resample() (err error) {
	j.seen = j.train
	if j.cfg.Sampling.Resample == 0 {
		return nil
	}
	draw := rand.New(rand.NewPCG(j.cfg.Sampling.Resample, 0xb007))
	index := make([]int, j.train.Rows())
	for i := range index {
		index[i] = draw.IntN(len(index))
	}
	slices.Sort(index)
	j.train, err = j.seen.Subset(index)
	return err
}

// readTargets checks the responses, scales them and fits the intercept-only
// model.
func (j *job) readTargets(free []bool) error {
	cfg := j.cfg
	columns := likelihood.Columns{Response: cfg.Response, Event: cfg.Event, Weights: cfg.Weights, Offset: cfg.Offset}
	raw, err := likelihood.Read(j.train, columns, cfg.Family, "training")
	if err != nil {
		return err
	}
	if err := raw.Varies(cfg.Response, cfg.Family); err != nil {
		return err
	}
	if err := cfg.checkClasses(raw); err != nil {
		return err
	}
	j.units = likelihood.Units{Scale: 1}
	if !cfg.Training.WithoutResponseScaling {
		j.units = raw.Standard(j.family, free[0])
	}
	j.raw, j.trainTarget = raw, raw.In(j.units)
	j.fit.Rows = j.train.Rows()
	if j.valid != nil {
		v, err := likelihood.Read(j.valid, columns, cfg.Family, "validation")
		if err != nil {
			return err
		}
		j.raw, j.validTarget = v, v.In(j.units)
		j.fit.Validation = j.valid.Rows()
	}
	if _, ok := j.family.(family.Profiled); ok {
		if err := j.nullBaseline(); err != nil {
			return err
		}
	}
	j.intercepts = j.trainTarget.Intercepts(j.family, free)
	return nil
}
