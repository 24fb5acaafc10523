package native

import (
	"errors"
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/internal/kernel"
)

// beginning is where training begins: intercepts and, by predictor, coefficients
// of the formula's columns.
type beginning struct {
	intercepts []float64
	coef       [][]float64
}

// additive is the additive model: each predictor's terms as they were solved, or
// the intercept-only model where there are none.
func (j *job) additive() beginning {
	b := beginning{intercepts: make([]float64, len(j.names)), coef: make([][]float64, len(j.names))}
	for k, s := range j.parts {
		b.intercepts[k], b.coef[k] = j.intercepts[k], make([]float64, s.width())
		if s.fit != nil {
			copy(b.coef[k], s.coef)
			b.intercepts[k] = s.fit.Predictors[0].InterceptMoved + s.meanShift()
		}
	}
	return b
}

// chosen is the beginning that the configuration asks for, and whether it is the
// additive model.
func (j *job) chosen() (b beginning, additive bool) {
	b = j.additive()
	t := &j.cfg.Training
	if j.cfg.Kind == GAM { // it is solved: there is no other
		return b, true
	}
	if t.WithoutWarmStart {
		for k := range b.coef {
			clear(b.coef[k])
			b.intercepts[k] = j.intercepts[k]
		}
	}
	if t.WithoutInterceptStart {
		clear(b.intercepts)
	}
	return b, !t.WithoutWarmStart && !t.WithoutInterceptStart
}

// warm tells that training begins with terms that are solved: networks beside them
// have to begin at 0, or what they say untrained is added to the solution.
func (j *job) warm() bool {
	for _, s := range j.parts {
		if s.fit != nil && !j.cfg.Training.WithoutWarmStart {
			return true
		}
	}
	return false
}

// begin sets intercepts and the formula's coefficients.
func (m *network[T]) begin(b beginning) {
	for k, v := range b.intercepts {
		m.intercept.Value[k] = T(v)
		for i, c := range b.coef[k] {
			m.lines[k].W.Value[i] = T(c)
		}
		if m.lines[k] != nil {
			m.lines[k].W.Version++
		}
	}
	m.intercept.Version++
}

// heads are the last weights of all towers: at 0 the network is its intercepts and
// formula terms alone. They have a gradient there, for what they multiply is not 0.
func (m *network[T]) heads() []*nn.Param[T] {
	var p []*nn.Param[T]
	for _, t := range m.towers {
		p = append(p, t.head.W)
	}
	return p
}

// epochZero scores what training begins from, the towers' heads at 0, and keeps
// its parameters as those of epoch 0. A model that no epoch improves is the one it
// began from.
func (t *trainer[T]) epochZero(j *job) error {
	drawn := values(t.net.heads())
	for _, p := range t.net.heads() {
		clear(p.Value)
		p.Version++
	}
	begin, additive := j.chosen()
	t.net.begin(begin)
	var err error
	if t.bestLoss, err = t.judged(); err != nil {
		return err
	}
	t.keep()
	t.fit.AdditiveLoss = t.bestLoss
	if !additive {
		t.net.begin(j.additive())
		if t.fit.AdditiveLoss, err = t.judged(); err != nil {
			return err
		}
		t.net.begin(begin)
	}
	if t.bestLoss-t.bestLoss != 0 { // worse than anything that is finite
		t.bestLoss = math.Inf(1)
	}
	if !j.warm() {
		restore(t.net.heads(), drawn)
	}
	return nil
}

// judged is the loss of the rows that decide: those of validation or, without any,
// those of training.
func (t *trainer[T]) judged() (float64, error) {
	if t.valid != nil {
		return t.evaluate(t.valid)
	}
	return t.evaluate(t.train)
}

// keep remembers the parameters as those of the best epoch.
func (t *trainer[T]) keep() {
	if t.best == nil {
		t.best = values(t.params)
	}
	for i, p := range t.params {
		copy(t.best[i], p.Value)
	}
}

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

// finish leaves the best parameters in the network. Without validation rows the
// last epoch's are, unless it explains the training rows worse than epoch 0. ended
// is the divergence that ended training, if one did: it is an error if there is
// nothing better to return than a constant.
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
			last, err := t.judged()
			if err != nil {
				return err
			}
			if last < t.bestLoss {
				t.fit.Best, t.bestLoss = len(t.fit.Epochs), last
				t.keep()
			}
		}
	}
	restore(t.params, t.best)
	t.fit.Warnings = append(t.fit.Warnings, t.complaints(ended, warm)...)
	return nil
}

// complaints say in which way training failed.
func (t *trainer[T]) complaints(ended error, warm bool) (said []string) {
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
	if t.fit.Best == 0 && len(t.net.towers) > 0 { // without networks the start may well be the best
		said = append(said, fmt.Sprintf("no epoch explains the %s better than epoch 0, %s (loss %.6g): this is the model, its networks add nothing. Lower Training.LearningRate (%g), or leave the networks out",
			rows, from, t.bestLoss, t.cfg.Training.LearningRate))
	}
	if t.bestLoss > t.fit.AdditiveLoss {
		said = append(said, fmt.Sprintf("the model explains the %s worse (loss %.6g) than the additive model of its own terms (loss %.6g), from which it did not begin: leave out Training.WithoutWarmStart and WithoutInterceptStart, or train longer",
			rows, t.bestLoss, t.fit.AdditiveLoss))
	}
	return said
}
