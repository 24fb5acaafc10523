package native

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/pho-go/pho/adapters/native/internal/likelihood"
	"github.com/pho-go/pho/adapters/native/internal/network"
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/taskpool"
)

// trainer is training under way.
type trainer[T kernel.Float] struct {
	job          *job
	cfg          *Config
	net          *network.Network[T]
	params       []*nn.Param[T]
	opt          *nn.Optimizer[T]
	train, valid *dataset[T] // valid nil: none
	fit          *Fit
	fingerprint  string // of configuration and data, for checkpoints

	blockRows int            // rows that go through the network together; 0: the whole batch
	apart     bool           // workers share out networks side by side, not rows
	replicas  []*replica[T]  // at least one; the first has the network itself
	taken     []batch[T]     // blocks of the step, of networks that go apart
	todo      [][]func()     // what is deferred, by the number of blocks
	pool      *taskpool.Pool // of an epoch; nil: each step has its own
	after     []int          // rows that come after those of the step
	squares   []float64      // of the outputs of each tower, of a step
	weights   int            // multiplications for a row going forward, about
	minWork   int            // minStepWork; tests share out less

	best     [][]T   // values of all parameters at the best epoch
	bestLoss float64 // of the rows that decide, at the best epoch, which may be epoch 0
	lowest   float64 // the lowest validation loss of an epoch from 1
	since    int     // epochs since then: what patience counts
}

func newTrainer[T kernel.Float](j *job, net *network.Network[T]) (*trainer[T], error) {
	tr := &j.cfg.Training
	t := &trainer[T]{job: j, cfg: j.cfg, net: net, params: net.Params(), fit: j.fit, lowest: math.Inf(1), fingerprint: fingerprint(j)}
	var err error
	if t.train, err = newDataset[T](j.train, j.trainTarget, j.plans, j.parts); err != nil {
		return nil, err
	}
	if j.valid != nil {
		if t.valid, err = newDataset[T](j.valid, j.validTarget, j.plans, j.parts); err != nil {
			return nil, fmt.Errorf("native: validation rows: %w", err)
		}
	}
	if d := &j.cfg.Deep; !d.BatchNorm && !d.Orthogonalize { // they look at the whole batch
		t.blockRows = blockRows
	}
	t.opt = nn.NewOptimizer(nn.Method(tr.Optimizer), t.params)
	t.opt.Momentum, t.opt.Decay = tr.Momentum, tr.WeightDecay
	t.replicas = []*replica[T]{{net: net, loss: likelihood.Loss[T]{Family: j.family, Workers: tr.Workers}}}
	t.apart = t.blockRows > 0 && net.Apart(tr.Workers)
	if t.apart {
		t.opt.Shares = tr.Workers
	}
	t.weights, t.minWork = net.Weights(), minStepWork
	t.squares = make([]float64, len(net.Towers))
	return t, nil
}

// run goes through the epochs and leaves the parameters of the best one in the network.
func (t *trainer[T]) run(ctx context.Context, warm bool) error {
	tr := &t.cfg.Training
	var diverged *DivergenceError
	if tr.Resume {
		if err := t.resume(tr.Checkpoint); err != nil {
			return err
		}
	}
	if err := t.rebase(); err != nil {
		return err
	}
	began, from := time.Now(), len(t.fit.Epochs)
	for len(t.fit.Epochs) < tr.Epochs && !t.exhausted() {
		if err := t.epoch(ctx); errors.As(err, &diverged) {
			return t.finish(err, warm)
		} else if err != nil {
			return err
		}
		done := len(t.fit.Epochs)
		if tr.Checkpoint != "" && done%tr.CheckpointEvery == 0 {
			if err := t.save(tr.Checkpoint); err != nil {
				return err
			}
		}
		if tr.Progress != nil {
			tr.Progress(t.progress(time.Since(began), done-from))
		}
	}
	if tr.Checkpoint != "" {
		if err := t.save(tr.Checkpoint); err != nil {
			return err
		}
	}
	return t.finish(nil, warm)
}

// progress is what there is to tell after some epochs that took the given time.
func (t *trainer[T]) progress(elapsed time.Duration, epochs int) Progress {
	done, of := len(t.fit.Epochs), t.cfg.Training.Epochs
	each := elapsed / time.Duration(epochs)
	return Progress{Epoch: t.fit.Epochs[done-1], Of: of, Best: t.fit.Best, Elapsed: elapsed, Left: each * time.Duration(of-done)}
}

// exhausted tells that patience is at its end: validation has not improved for too long.
func (t *trainer[T]) exhausted() bool {
	return t.valid != nil && t.cfg.Training.Patience >= 0 && t.since >= t.cfg.Training.Patience
}

// epoch is one pass over the training rows, in an order drawn for it.
func (t *trainer[T]) epoch(ctx context.Context) error {
	tr := &t.cfg.Training
	number := len(t.fit.Epochs) + 1
	order := rand.New(rand.NewPCG(tr.Seed, uint64(number))).Perm(t.train.N)
	e := Epoch{Epoch: number, Validation: math.NaN()}
	perRow := t.train.SumW / float64(t.train.N)
	_, workers, _ := t.share(min(tr.BatchSize, len(order)))
	if 16*t.weights > 2*t.minWork { // the optimizer's work
		workers = tr.Workers
	}
	t.pool = taskpool.New(workers)
	defer func() {
		t.pool.Close()
		t.pool = nil
	}()
	for i := 0; i < len(order); i += tr.BatchSize {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("native: training was interrupted in epoch %d: %w", number, err)
		}
		rows := order[i:min(i+tr.BatchSize, len(order))]
		t.after = order[i+len(rows):]
		if len(rows) == 1 && t.cfg.Deep.BatchNorm && len(t.cfg.Deep.Columns) > 0 {
			continue // the moments of one row say nothing
		}
		e.Rate = t.rate(number, float64(number-1)+float64(i)/float64(len(order)))
		l := t.step(rows, perRow*float64(len(rows)), e.Rate)
		if l-l != 0 {
			return t.diverged(number, fmt.Sprintf("the loss is %g in the batch that begins with row %d of the epoch's order", l, i))
		}
		e.Train += l * float64(len(rows)) / float64(len(order))
	}
	if first := t.firstLoss(e); e.Train > first+1000*(1+math.Abs(first)) {
		return t.diverged(number, fmt.Sprintf("the loss went from %.4g to %.4g", first, e.Train))
	}
	if err := t.rebase(); err != nil {
		return t.diverged(number, err.Error())
	}
	if t.valid != nil {
		var err error
		if e.Validation, err = t.evaluate(t.valid); err != nil {
			return err
		}
		if e.Validation-e.Validation != 0 {
			return t.diverged(number, fmt.Sprintf("the loss of the validation rows is %g", e.Validation))
		}
	}
	t.fit.Epochs = append(t.fit.Epochs, e)
	t.compare(e)
	return nil
}

func (t *trainer[T]) firstLoss(e Epoch) float64 {
	if len(t.fit.Epochs) > 0 {
		return t.fit.Epochs[0].Train
	}
	return e.Train
}

// step is one step on a batch of rows of weight norm; it returns the batch's loss.
func (t *trainer[T]) step(rows []int, norm, rate float64) float64 {
	l := t.gradients(rows, norm)
	if clip := t.cfg.Training.ClipNorm; clip > 0 {
		if g := t.opt.Norm(); g > clip {
			t.opt.Scale(clip / g)
		}
	}
	if l-l == 0 {
		t.opt.Step(rate, t.pool)
	}
	return l
}

// rate is the learning rate of a step in the given epoch, counted from 1; done is the
// number of epochs that are finished, with a fraction for the current one.
func (t *trainer[T]) rate(number int, done float64) float64 {
	tr := &t.cfg.Training
	switch tr.Schedule {
	case Cosine:
		return tr.LearningRate * (1 + math.Cos(math.Pi*done/float64(tr.Epochs))) / 2
	case Step:
		return tr.LearningRate * math.Pow(tr.StepFactor, float64((number-1)/tr.StepEpochs))
	}
	return tr.LearningRate
}

func (t *trainer[T]) diverged(epoch int, what string) error {
	where := ""
	if err := t.net.Finite(); err != nil {
		where = "; " + err.Error()
	}
	return fmt.Errorf("native: %w", &DivergenceError{epoch, fmt.Sprintf("training diverged in epoch %d: %s%s. Lower Training.LearningRate (%g), set Training.ClipNorm, or look for extreme values in the response and the columns",
		epoch, what, where, t.cfg.Training.LearningRate)})
}

// DivergenceError is the end of a training whose loss was no longer finite, or beyond all
// measure.
type DivergenceError struct {
	Epoch int // in which it happened, from 1
	text  string
}

func (d *DivergenceError) Error() string { return d.text }
