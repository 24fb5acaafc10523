package native

import (
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/internal/kernel"
)

// loss evaluates negative log-likelihoods and their gradients, with dispersion 1.
type loss[T kernel.Float] struct {
	family  family.Differentiable
	workers int
	rows    []float64
	grad    []T // n x K
}

// of is sum_i -loglik(y_i; eta_i + offset_i); if gradients are wanted, l.grad is
// the derivative of that sum over norm.
func (l *loss[T]) of(t *target, eta []T, gradients bool, norm float64) float64 {
	n, k := len(t.y), l.family.Predictors()
	l.rows = nn.Sized(l.rows, n)
	if gradients {
		l.grad = nn.Sized(l.grad, n*k)
	}
	nn.Share(n, 64, 200*n, l.workers, func(from, to int) {
		var buf [8]float64
		e, g := buf[:k], buf[4:4+k]
		for i := from; i < to; i++ {
			for j := range e {
				e[j] = float64(eta[i*k+j])
			}
			if t.offset != nil {
				e[0] += t.offset[i]
			}
			l.rows[i] = -l.family.LogLik(t.y[i], t.w[i], e, 1)
			if gradients {
				l.family.Score(g, nil, t.y[i], t.w[i], e, 1)
				for j, v := range g {
					l.grad[i*k+j] = T(-v / norm)
				}
			}
		}
	})
	sum := 0.0
	for _, v := range l.rows {
		sum += v
	}
	return sum
}
