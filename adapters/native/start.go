package native

import "math"

// start is where training begins: intercepts and, by predictor, coefficients
// of the formula's columns.
type start struct {
	intercepts []float64
	coef       [][]float64
}

// additiveStart is the additive model: each predictor's terms as they were solved, or
// the intercept-only model where there are none.
func (j *job) additiveStart() start {
	b := start{intercepts: make([]float64, len(j.names)), coef: make([][]float64, len(j.names))}
	for k, s := range j.parts {
		b.intercepts[k], b.coef[k] = j.intercepts[k], make([]float64, s.Width())
		if s.Result != nil {
			copy(b.coef[k], s.Coef)
			b.intercepts[k] = s.StartIntercept()
		}
		if j.halved > 0 {
			share := math.Ldexp(1, -j.halved)
			scaleBy(b.coef[k], share)
			b.intercepts[k] = j.intercepts[k] + share*(b.intercepts[k]-j.intercepts[k])
		}
	}
	return b
}

// shorten halves the step from the intercept-only model to the additive one of classes until
// the training rows are explained no better: with rare classes, whose predictors' working
// responses are large, one step of Newton goes too far.
func (t *trainer[T]) shorten(j *job) error {
	if !j.cfg.categorical() || !j.warmStart() {
		return nil
	}
	best := math.Inf(1)
	for at := range 12 {
		j.halved = at
		b := j.additiveStart()
		t.net.SetAdditive(b.intercepts, b.coef)
		loss, err := t.evaluate(t.train)
		if err != nil {
			return err
		}
		if best-best == 0 && !(loss < best) {
			j.halved = at - 1
			break
		}
		best = loss
	}
	return nil
}

// chosenStart is the start that the configuration asks for, and whether it is the
// additive model.
func (j *job) chosenStart() (b start, additive bool) {
	b = j.additiveStart()
	t := &j.cfg.Training
	if j.cfg.Architecture == GAM { // it is solved: there is no other
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

// warmStart tells that training begins at terms that are solved. Networks beside them have
// to begin at 0: what they compute untrained would only spoil the solution.
func (j *job) warmStart() bool {
	for _, s := range j.parts {
		if s.Result != nil && !j.cfg.Training.WithoutWarmStart {
			return true
		}
	}
	return false
}
