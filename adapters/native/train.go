package native

import (
	"context"
	"math/rand/v2"

	"github.com/pho-go/pho/adapters/native/internal/network"
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Train fits the configured model to the rows of src, which it reads once into
// memory. Faults of configuration and data are told before training starts, all those of
// the configuration at once.
//
// The model is that of the best epoch on the validation rows. Epoch 0 is one of them: the
// intercepts and formula terms from which training begins, its networks at 0. So the model
// explains those rows no worse than the additive model it began from; if it does so no
// better, Fit.Warnings says it.
//
// Reaching the limit of epochs is a status in the Fit. So is a loss that is no longer
// finite, if there are terms or an earlier epoch to return; else it is a
// *DivergenceError. A cancelled ctx is an error.
//
// The model that is scored is saved as it is: with Config.Orthogonalize, it has the projection of
// all training rows in place of each batch's, which belongs to no row and to no file.
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

// run builds the network in the given precision and trains it.
func run[T kernel.Float](ctx context.Context, j *job) (*Model, *Fit, error) {
	net := newNetwork[T](j)
	if j.cfg.Architecture == GAM {
		j.fit.Status = Solved
		return j.done(ctx, newModel(j, net, nil), nn.Float64s(net.Intercept.Value))
	}
	t, err := newTrainer(j, net)
	if err != nil {
		return nil, nil, err
	}
	if err := t.epochZero(j); err != nil {
		return nil, nil, err
	}
	if err := t.run(ctx, j.warmStart()); err != nil {
		return nil, nil, err
	}
	projections, err := t.projections()
	if err != nil {
		return nil, nil, err
	}
	return j.done(ctx, newModel(j, net, projections), nn.Float64s(net.Intercept.Value))
}

// newNetwork is the network where training begins.
func newNetwork[T kernel.Float](j *job) *network.Network[T] {
	net := network.New[T](j.predictors(len(j.names)), j.plans, j.cfg.Training.Seed)
	b, _ := j.chosenStart()
	net.SetAdditive(b.intercepts, b.coef)
	net.Init(rand.New(rand.NewPCG(j.cfg.Training.Seed, 0x171)))
	return net
}

// predictors are what the network is told of the first n.
func (j *job) predictors(n int) []network.Predictor {
	out := make([]network.Predictor, n)
	for k, s := range j.parts[:n] {
		out[k] = network.Predictor{Name: j.names[k], Columns: s.Width(), Intercept: s.Intercept, Penalty: s.Penalty}
	}
	return out
}

// done evaluates the model; intercepts are those of training.
func (j *job) done(ctx context.Context, m *Model, intercepts []float64) (*Model, *Fit, error) {
	var err error
	if m.levels, err = textLevels(m.columns, j.seen); err != nil {
		return nil, nil, err
	}
	j.fit.evaluator = j.evaluator(intercepts, m.family)
	if err := j.fit.evaluator.rows.AddCodes(m.levels); err != nil {
		return nil, nil, err
	}
	score, err := j.fit.Evaluate(ctx, m)
	if err != nil {
		return nil, nil, err
	}
	j.fit.Evaluation = *score
	if j.cfg.Architecture == GAM {
		j.fit.AdditiveLoss = score.Loss
	}
	return m, j.fit, nil
}
