package native

import (
	"errors"
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/internal/base/kernel"
)

// epochZero evaluates the model from which training begins, with the towers' heads at 0, and keeps
// it as epoch 0: the model, if no epoch is better.
func (t *trainer[T]) epochZero(j *job) error {
	drawn := values(t.net.Heads())
	for _, p := range t.net.Heads() {
		clear(p.Value)
		p.Version++
	}
	if err := t.shorten(j); err != nil {
		return err
	}
	b, additive := j.chosenStart()
	t.net.SetAdditive(b.intercepts, b.coef)
	var err error
	if t.bestLoss, err = t.decidingLoss(); err != nil {
		return err
	}
	t.keepBest()
	t.fit.AdditiveLoss = t.bestLoss
	if !additive {
		a := j.additiveStart()
		t.net.SetAdditive(a.intercepts, a.coef)
		if t.fit.AdditiveLoss, err = t.decidingLoss(); err != nil {
			return err
		}
		t.net.SetAdditive(b.intercepts, b.coef)
	}
	if t.bestLoss-t.bestLoss != 0 { // worse than anything that is finite
		t.bestLoss = math.Inf(1)
	}
	if !j.warmStart() {
		restore(t.net.Heads(), drawn)
	}
	return nil
}

// compare keeps the parameters of epoch e if no epoch before, epoch 0 included, was better.
// Patience counts from epoch 1: a network may need some epochs to become better than none.
func (t *trainer[T]) compare(e Epoch) {
	t.since++
	if t.valid == nil {
		t.since, t.fit.Best = 0, e.Epoch
		return
	}
	if e.Validation < t.lowest {
		t.since, t.lowest = 0, e.Validation
	}
	if e.Validation < t.bestLoss {
		t.bestLoss, t.fit.Best = e.Validation, e.Epoch
		t.keepBest()
	}
}

// decidingLoss is the loss of the rows that decide: those of validation or, without any,
// those of training.
func (t *trainer[T]) decidingLoss() (float64, error) {
	if err := t.rebase(); err != nil {
		return 0, err
	}
	if t.valid != nil {
		return t.evaluate(t.valid)
	}
	return t.evaluate(t.train)
}

// keepBest remembers the parameters as those of the best epoch.
func (t *trainer[T]) keepBest() {
	if t.best == nil {
		t.best = values(t.params)
	}
	for i, p := range t.params {
		copy(t.best[i], p.Value)
	}
}

// values are copies of the parameters' values; restore puts such copies back.
func values[T kernel.Float](params []*nn.Param[T]) [][]T {
	v := make([][]T, len(params))
	for i, p := range params {
		v[i] = append([]T(nil), p.Value...)
	}
	return v
}

func restore[T kernel.Float](params []*nn.Param[T], v [][]T) {
	for i, p := range params {
		copy(p.Value, v[i])
		p.Version++
	}
}

// finish leaves the best parameters in the network. Without validation rows these are the
// last epoch's, unless it explains the training rows worse than epoch 0. ended is the
// divergence that ended training, if one did; it is returned if there is nothing better to
// return than a constant.
func (t *trainer[T]) finish(ended error, warm bool) error {
	t.fit.Status = EpochLimit
	switch {
	case ended != nil:
		if !warm && (t.valid == nil || t.fit.Best == 0) {
			return ended
		}
		t.fit.Status = Diverged
	case t.exhausted():
		t.fit.Status = Stopped
	}
	if t.valid == nil {
		t.fit.Best = 0
		if ended == nil {
			last, err := t.decidingLoss()
			if err != nil {
				return err
			}
			if last < t.bestLoss {
				t.fit.Best, t.bestLoss = len(t.fit.Epochs), last
				t.keepBest()
			}
		}
	}
	restore(t.params, t.best)
	if err := t.rebase(); err != nil {
		return err
	}
	t.fit.Warnings = append(t.fit.Warnings, t.warnings(ended, warm)...)
	return nil
}

// warnings say in what respect training failed.
func (t *trainer[T]) warnings(ended error, warm bool) (said []string) {
	rows, from := "validation rows", "the intercepts alone"
	if t.valid == nil {
		rows = "training rows"
	}
	if warm {
		from = "the additive model of its own terms"
	}
	if ended != nil {
		said = append(said, fmt.Sprintf("%v. The model is that of epoch %d, the best before", errors.Unwrap(ended), t.fit.Best))
	}
	if t.fit.Best == 0 && len(t.net.Towers) > 0 { // without networks the start may well be the best
		said = append(said, fmt.Sprintf("no epoch explains the %s better than epoch 0, %s (loss %.6g): this is the model, its networks add nothing. Lower Training.LearningRate (%g), or leave the networks out",
			rows, from, t.bestLoss, t.cfg.Training.LearningRate))
	}
	if t.bestLoss > t.fit.AdditiveLoss {
		said = append(said, fmt.Sprintf("the model explains the %s worse (loss %.6g) than the additive model of its own terms (loss %.6g), from which it did not begin: leave out Training.WithoutWarmStart and WithoutInterceptStart, or train longer",
			rows, t.bestLoss, t.fit.AdditiveLoss))
	}
	return said
}
