package network

import (
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Structured is X beta, X being columns of a formula: n x p numbers, row by row, for no
// layer comes before it.
type Structured[T kernel.Float] struct {
	W *nn.Param[T] // beta

	x, y, dy      []T       // of the last pass, n rows
	beta, penalty []float64 // of the last step: the values of W, and S times them
}

func newStructured[T kernel.Float](name string, p int) *Structured[T] {
	return &Structured[T]{W: nn.NewParam[T](name+".structured.weight", p, false)}
}

func (s *Structured[T]) replica() *Structured[T] { return &Structured[T]{W: s.W} }

// forward is X beta at the n rows of x.
func (s *Structured[T]) forward(x []T, n int) []T {
	p := len(s.W.Value)
	s.x, s.y = x[:n*p], nn.Sized(s.y, n)
	kernel.MulColumn(s.y, s.x, p, n, s.W.Value)
	return s.y
}

// backward takes column j of deta (n x k), the gradient in X beta; addGradient adds X'deta
// to that of beta.
func (s *Structured[T]) backward(deta []T, k, j int) {
	s.dy = nn.Sized(s.dy, len(s.y))
	for i := range s.dy {
		s.dy[i] = deta[i*k+j]
	}
}

func (s *Structured[T]) addGradient() {
	p := len(s.W.Value)
	kernel.AddTransMul(s.W.Grad, 1, s.x, p, p, s.dy, 1, 1, len(s.dy))
}

// addPenalty adds the gradient of beta'S beta/(2 sumW) to that of beta and returns the
// penalty; S are p x p numbers.
func (s *Structured[T]) addPenalty(penalty []float64, sumW float64) float64 {
	p := len(s.W.Value)
	s.beta, s.penalty = nn.Sized(s.beta, p), nn.Sized(s.penalty, p)
	for i, v := range s.W.Value {
		s.beta[i] = float64(v)
	}
	kernel.MulColumn(s.penalty, penalty, p, p, s.beta)
	loss := 0.0
	for i, v := range s.penalty {
		s.W.Grad[i] += T(v / sumW)
		loss += s.beta[i] * v / (2 * sumW)
	}
	return loss
}
