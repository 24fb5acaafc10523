package native

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/internal/kernel"
)

// Train fits the configured model to the rows of src, which it reads once into
// memory. Everything that can be wrong with configuration and data is told
// before training starts. A model whose training ran into the limit of epochs is
// returned with that status.
//
// The model is that of the best epoch, and epoch 0 is one: the intercepts and terms
// of the formula from which training begins, its networks at 0. So a network is never
// worse on the rows that decide than the additive model it began from; Fit.Warnings
// says so if it is no better. A loss that is not finite ends training: with status
// Diverged if there are terms or an earlier epoch to return, else it is an error, as
// is a cancelled ctx.
func Train(ctx context.Context, cfg Config, src data.Source) (*Model, *Fit, error) {
	cfg = cfg.withDefaults()
	job, err := prepare(ctx, &cfg, src)
	if err != nil {
		return nil, nil, err
	}
	if cfg.Training.Single {
		return run[float32](ctx, job)
	}
	return run[float64](ctx, job)
}

// job is all that is known before the first step, whatever the precision.
type job struct {
	cfg *Config
	// family and names are those of training: unknown parameters of the configured
	// family come last.
	family       family.Differentiable
	names        []string
	train, valid *frame // valid nil: none
	// targets in the units of training, and the way back.
	trainTarget, validTarget *target
	raw                      *target // of the rows that decide, in the response's units
	scaling                  scaling
	intercepts               []float64
	parts                    []*structured
	plans                    []*towerPlan
	fit                      *Fit
}

func prepare(ctx context.Context, cfg *Config, src data.Source) (*job, error) {
	formulas, err := cfg.validate(src.Schema())
	if err != nil {
		return nil, err
	}
	processors := runtime.GOMAXPROCS(0)
	if cfg.Training.Workers == 0 {
		cfg.Training.Workers = processors
	}
	cfg.Training.Workers = min(cfg.Training.Workers, max(16, 4*processors))
	j := &job{cfg: cfg, family: cfg.trained(), names: slices.Concat(cfg.predictorNames(), cfg.unknown()), plans: cfg.towerPlans(src.Schema()), fit: &Fit{Seed: cfg.Training.Seed}}
	if own := cfg.factorFeatures(src.Schema()); own != nil {
		formulas = append(formulas, own)
	}
	columns := cfg.columns()
	for _, f := range formulas {
		for _, s := range f.Specs {
			columns = append(columns, s.Columns()...)
		}
	}
	columns = unique(columns)
	if err := j.read(ctx, src, columns); err != nil {
		return nil, err
	}
	blocks, free, err := cfg.buildTerms(ctx, formulas, j.train)
	if err != nil {
		return nil, err
	}
	for range cfg.unknown() {
		blocks, free = append(blocks, nil), append(free, true)
	}
	if err := j.readTargets(free); err != nil {
		return nil, err
	}
	if err := cfg.describe(j.plans, j.train); err != nil {
		return nil, err
	}
	if err := cfg.knownTerms(blocks); err != nil {
		return nil, err
	}
	for k := range j.names {
		z, w := j.trainTarget.working(j.family, j.intercepts, k)
		known := 0.0
		if cfg.Family.Mass() {
			known = 1
		}
		s, err := cfg.newStructured(ctx, j.train, blocks[k], free[k], z, w, j.trainTarget.sumW, known, !cfg.Family.HasDispersion() && !cfg.Family.Mass())
		if err != nil {
			return nil, err
		}
		j.parts = append(j.parts, s)
		j.fit.Additive = append(j.fit.Additive, s.fit)
	}
	return j, nil
}

// factorFeatures are the factors among the feature columns as terms of every
// predictor; nil: none.
func (c *Config) factorFeatures(schema data.Schema) *basis.Formula {
	f := &basis.Formula{Intercept: true}
	for _, name := range c.Features.Columns {
		if c.Features.factor(schema, name) {
			f.Specs = append(f.Specs, basis.Factor(name, nil))
		}
	}
	if f.Specs == nil {
		return nil
	}
	return f
}

// columns are those the configuration names itself.
func (c *Config) columns() []string {
	names := []string{c.Response, c.Weights, c.Offset}
	names = append(append(names, c.Deep.Columns...), c.Features.Columns...)
	for _, p := range c.Features.Pairs {
		names = append(names, p[:]...)
	}
	return names
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
	all, err := readFrame(ctx, src, columns)
	if err != nil {
		return err
	}
	if all.rows() == 0 {
		return fmt.Errorf("native: there are no rows to train on")
	}
	if j.fit.Classes, err = j.cfg.codeClasses(all, nil); err != nil {
		return err
	}
	t := &j.cfg.Training
	j.train = all
	switch {
	case j.cfg.Kind == GAM || t.Validation == nil && t.ValidationShare < 0:
	case t.Validation != nil:
		if j.valid, err = readFrame(ctx, t.Validation, columns); err != nil {
			return fmt.Errorf("native: validation rows: %w", err)
		}
		if _, err := j.cfg.codeClasses(j.valid, j.fit.Classes); err != nil {
			return fmt.Errorf("native: validation rows: %w", err)
		}
	default:
		held := int(t.ValidationShare * float64(all.rows()))
		if held == 0 || held == all.rows() {
			return fmt.Errorf("native: a validation share of %g leaves %d of %d rows for validation: give more rows, another share, or a negative one for none", t.ValidationShare, held, all.rows())
		}
		order := rand.New(rand.NewPCG(t.Seed, 0x5011d)).Perm(all.rows())
		slices.Sort(order[:held])
		slices.Sort(order[held:])
		if j.valid, err = all.subset(order[:held]); err != nil {
			return err
		}
		if j.train, err = all.subset(order[held:]); err != nil {
			return err
		}
	}
	return nil
}

// readTargets checks the responses, scales them and fits the intercept-only
// model.
func (j *job) readTargets(free []bool) error {
	cfg := j.cfg
	raw, err := cfg.readTarget(j.train, "training")
	if err != nil {
		return err
	}
	if err := raw.varies(cfg); err != nil {
		return err
	}
	j.scaling = raw.scalingOf(cfg, free[0])
	j.raw, j.trainTarget = raw, raw.scaled(j.scaling)
	j.fit.Rows = j.train.rows()
	if j.valid != nil {
		v, err := cfg.readTarget(j.valid, "validation")
		if err != nil {
			return err
		}
		j.raw, j.validTarget = v, v.scaled(j.scaling)
		j.fit.Validation = j.valid.rows()
	}
	j.intercepts = j.trainTarget.intercepts(j.family, free)
	return nil
}

// run builds the network in the given precision and trains it.
func run[T kernel.Float](ctx context.Context, j *job) (*Model, *Fit, error) {
	net := newNetwork[T](j.names, j.parts, j.plans, j.cfg.Training.Seed)
	start, _ := j.chosen()
	net.init(rand.New(rand.NewPCG(j.cfg.Training.Seed, 0x171)), start.intercepts, start.coef)
	if j.cfg.Kind == GAM {
		j.fit.Status = Solved
		return j.done(ctx, newModel(j, net, nil), asFloat64(net.intercept.Value))
	}
	t, err := newTrainer(j, net)
	if err != nil {
		return nil, nil, err
	}
	if err := t.epochZero(j); err != nil {
		return nil, nil, err
	}
	if err := t.run(ctx, j.warm()); err != nil {
		return nil, nil, err
	}
	away, err := net.projections(t.train, nn.Mode{Workers: j.cfg.Training.Workers})
	if err != nil {
		return nil, nil, err
	}
	return j.done(ctx, newModel(j, net, away), asFloat64(net.intercept.Value))
}

// done scores the model; intercepts are those of training.
func (j *job) done(ctx context.Context, m *Model, intercepts []float64) (*Model, *Fit, error) {
	var err error
	if m.levels, err = textLevels(m.columns, j.train); err != nil {
		return nil, nil, err
	}
	j.fit.judge = j.judge(intercepts, m.family)
	if err := j.fit.judge.rows.coded(m.levels); err != nil {
		return nil, nil, err
	}
	score, err := j.fit.ScoreOf(ctx, m)
	if err != nil {
		return nil, nil, err
	}
	j.fit.Score = *score
	if j.cfg.Kind == GAM {
		j.fit.AdditiveLoss = score.Loss
	}
	return m, j.fit, nil
}

// meanShift is what the standardised columns' means carry of the additive
// model's solution: its intercept is for raw columns.
func (s *structured) meanShift() float64 {
	_, shift := s.raw(s.coef)
	return -shift
}

// knownTerms refuses smoothing parameters of terms that are not there.
func (c *Config) knownTerms(blocks [][]decompose.Block) error {
	var f faults
	for name := range c.Structured.SP {
		found := false
		for _, b := range blocks {
			found = found || slices.ContainsFunc(b, func(b decompose.Block) bool { return b.Term.Name() == name })
		}
		if !found {
			f.add("smoothing parameters for term %q, which no formula has", name)
		}
	}
	slices.SortFunc(f, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return f.err()
}
