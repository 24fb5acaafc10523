package likelihood

import (
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/internal/kernel"
)

// Loss evaluates negative log-likelihoods and their gradients, with dispersion 1.
type Loss[T kernel.Float] struct {
	Family  family.Differentiable
	Workers int
	Rows    []float64 // of the last call: -loglik of each row
	Grad    []T       // of the last call with gradients: n x K
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
	nn.Share(n, 64, 200*n, l.Workers, func(from, to int) {
		var few [8]float64
		buf := few[:]
		if 2*k > len(buf) { // classes
			buf = make([]float64, 2*k)
		}
		e, g := buf[:k], buf[k:2*k]
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
	})
	sum := 0.0
	for _, v := range l.Rows {
		sum += v
	}
	return sum
}
