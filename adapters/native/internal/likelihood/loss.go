package likelihood

import (
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Loss evaluates negative log-likelihoods and their gradients, with dispersion 1.
type Loss[T kernel.Float] struct {
	Family  family.Differentiable
	Workers int
	Rows    []float64 // of the last call: -loglik of each row
	Grad    []T       // of the last call with gradients: n x K

	few []float64 // memory for a row, in cache lines of its own: other workers have theirs
}

// Of is sum_i -loglik(y_i; eta_i + offset_i); if gradients are wanted, l.Grad is
// the derivative of that sum over norm.
func (l *Loss[T]) Of(t *Target, eta []T, gradients bool, norm float64) float64 {
	n, k := len(t.Y), l.Family.Predictors()
	l.Rows = nn.Sized(l.Rows, n)
	if gradients {
		l.Grad = nn.Sized(l.Grad, n*k)
	}
	both := t.states(l.Family)
	if work := 200 * n; nn.Alone(work, l.Workers) {
		if len(l.few) < 2*k {
			l.few = make([]float64, max(2*k, 32))
		}
		l.rows(t, both, eta, gradients, norm, 0, n, l.few[:2*k])
	} else {
		nn.Share(n, 64, work, l.Workers, func(from, to int) {
			l.rows(t, both, eta, gradients, norm, from, to, make([]float64, 2*k))
		})
	}
	sum := 0.0
	for _, v := range l.Rows {
		sum += v
	}
	return sum
}

// rows does so for rows from to to-1; few is memory for the predictors and the gradient of
// one row.
func (l *Loss[T]) rows(t *Target, both [2]family.Differentiable, eta []T, gradients bool, norm float64, from, to int, few []float64) {
	k := len(few) / 2
	e, g := few[:k], few[k:]
	for i := from; i < to; i++ {
		for j := range e {
			e[j] = float64(eta[i*k+j])
		}
		if t.Offset != nil {
			e[0] += t.Offset[i]
		}
		of := t.of(both, i)
		l.Rows[i] = -of.LogLik(t.Y[i], t.W[i], e, 1)
		if gradients {
			of.Score(g, nil, t.Y[i], t.W[i], e, 1)
			for j, v := range g {
				l.Grad[i*k+j] = T(-v / norm)
			}
		}
	}
}
