package main

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// recipe is how networks are trained.
type recipe struct {
	name     string
	hidden   []int
	epochs   int
	stopping bool    // early, on a fifth of the rows
	decay    float64 // of weights
	from     decompose.MembersFrom
	// additive: a structured part with the formula's terms beside the deep one, as a
	// semi-structured network has it; else a black box.
	formula  string
	features bool // a network of each feature beside the deep part
}

// train trains network m of a recipe on the rows of a sample.
func (r recipe) train(ctx context.Context, w world, rows *data.Table, sample, m uint64) (decompose.Model, error) {
	cfg := native.Config{
		Architecture: native.MLP, Response: "y",
		Deep:     native.Deep{Columns: w.names(), Hidden: r.hidden, Activation: native.Tanh},
		Training: native.Training{Epochs: r.epochs, BatchSize: 32, LearningRate: 0.01, ValidationShare: -1, Seed: 1 + m, Workers: 1, WeightDecay: r.decay, Schedule: native.Cosine},
		Sampling: native.Sampling{SplitSeed: 1 + sample},
	}
	if r.formula != "" {
		cfg.Architecture, cfg.Structured = native.SSN, native.Structured{Formulas: []string{r.formula}}
		cfg.Training.WithoutWarmStart = true
	}
	if r.features {
		cfg.Architecture, cfg.FeatureNetworks = native.NAM, native.FeatureNetworks{Columns: w.names(), Hidden: []int{8}, Activation: native.Tanh}
	}
	if r.stopping {
		cfg.Training.ValidationShare, cfg.Training.Schedule = 0.2, native.Constant
	}
	if r.from == decompose.Resamples {
		cfg.Sampling.Resample = 1 + 1000*sample + m
	}
	model, _, err := native.Train(ctx, cfg, rows)
	if err != nil {
		return nil, fmt.Errorf("sample %d, network %d of %s: %w", sample, m, r.name, err)
	}
	return model, nil
}

// joined trains networks and joins them, the formula's terms in each.
func (r recipe) joined(ctx context.Context, w world, rows *data.Table, sample uint64, networks int, blocks []decompose.Block) ([]decompose.Member, error) {
	var out []decompose.Member
	for m := range networks {
		model, err := r.train(ctx, w, rows, sample, uint64(m))
		if err != nil {
			return nil, err
		}
		with, err := decompose.With(model, map[string][]decompose.Block{"": blocks})
		if err != nil {
			return nil, err
		}
		out = append(out, decompose.Member{Name: fmt.Sprint(m), Model: with})
	}
	return out, nil
}

// terms are a formula's, prepared on the rows.
func terms(ctx context.Context, rows *data.Table, formula string) ([]decompose.Block, error) {
	f, err := basis.Parse(formula, &basis.Options{Schema: rows.Schema()})
	if err != nil {
		return nil, err
	}
	return decompose.Prepare(ctx, rows, f.Specs, nil)
}

// column is a "network" whose deep part is a column of the rows.
type column struct {
	name   string
	blocks []decompose.Block
}

func (c *column) Predictors() []string         { return []string{"eta"} }
func (c *column) Columns() []string            { return []string{c.name} }
func (c *column) Intercept(int) float64        { return 0 }
func (c *column) Blocks(int) []decompose.Block { return c.blocks }
func (c *column) Taps() map[string]int         { return nil }
func (c *column) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	v, err := b.Numeric(c.name)
	if err != nil {
		return err
	}
	for _, m := range []*mat.Dense{dst.Zeta, dst.Eta} {
		m.SetCol(0, v)
	}
	return ctx.Err()
}
