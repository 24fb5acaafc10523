package penalty

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/linalg"
)

// Where many columns are levels of crossed factors each step of Newton's takes a factor and an inverse of all of them. The steps far
// from the minimum are replaced by those of Fellner and Schall (Wood and Fasiolo 2017, Biometrics 73, 1071-1081),
//
//	lambda_j <- lambda_j gamma phi (rank_j - lambda_j tr(A^-1 S_j)) / lambda_j alpha'S_j alpha,
//
// with the diagonal of A for all of it in the trace, and alpha by conjugate gradients: levels of one factor have no products with
// each other, and those of another few. It is only where Newton's search begins.

const (
	nearSteps     = 20   // of Fellner and Schall at most
	nearStep      = 0.01 // in log lambda: less is near
	nearResidual  = 1e-3 // of conjugate gradients, relative to X'Wz
	nearGradients = 60   // at most, for each lambda
)

// near is log lambda near the minimum of REML; rho itself where the steps do not apply or lead nowhere.
func (s *search) near(rho []float64) []float64 {
	if !s.crossed || s.kind != REML || s.data != nil || s.half != nil || len(s.free) == 0 {
		return rho
	}
	out := append([]float64(nil), rho...)
	alpha := make([][]float64, len(s.responses))
	for r := range alpha {
		alpha[r] = make([]float64, s.q)
	}
	for range nearSteps {
		if s.stopped() {
			return rho
		}
		next, ok := s.fellnerSchall(out, alpha)
		if !ok {
			return rho
		}
		moved := floats.Distance(next, out, math.Inf(1))
		if out = next; moved < nearStep {
			break
		}
	}
	return out
}

// fellnerSchall is one step from rho; alpha are where the coefficients of each response are sought first, and what is found.
func (s *search) fellnerSchall(rho []float64, alpha [][]float64) (next []float64, ok bool) {
	each := s.perPenalty(rho)
	penalty, diagonal := make([]float64, s.q), make([]float64, s.q) // S and that of A
	for j := range s.penalties {
		diag, _ := s.scaledRoot(j, each)
		lo := s.blocks[s.penalties[j].block].lo
		for i, r := range diag {
			penalty[lo+i] = r * r
		}
	}
	for i := range diagonal {
		if diagonal[i] = s.gram.At(i, i) + penalty[i]; !(diagonal[i] > 0) {
			return nil, false
		}
	}
	left, taken := make([]float64, s.params), make([]float64, s.params) // rank - t and lambda alpha'S alpha of each parameter
	rp := 0.0                                                           // |z - X alpha|^2 + alpha'S alpha
	for r := range s.responses {
		rest := s.conjugateGradients(alpha[r], s.responses[r].cross, penalty, diagonal)
		rp += (s.responses[r].zz - kernel.Dot(alpha[r], s.responses[r].cross) - kernel.Dot(alpha[r], rest)) / s.among
	}
	for j, param := range s.set {
		lo := s.blocks[s.penalties[j].block].lo
		for i := lo; i < lo+s.penalties[j].rank; i++ {
			left[param] += 1 - penalty[i]/diagonal[i]
			for r := range alpha {
				taken[param] += penalty[i] * alpha[r][i] * alpha[r][i] / s.among
			}
		}
	}
	phi := s.scale
	if phi == 0 {
		phi = rp / (s.n - s.gamma*s.mp())
	}
	next = append([]float64(nil), rho...)
	for _, j := range s.free {
		step := math.Log(s.gamma * phi * left[j] / taken[j])
		if math.IsNaN(step) || math.IsInf(step, -1) {
			return nil, false
		}
		next[j] = min(max(s.lo[j], rho[j]+min(step, maxStep)), s.hi[j])
	}
	return next, true
}

// conjugateGradients improves x towards A x = b, A = X'WX + diag(penalty), and returns b - A x; the preconditioner is A's diagonal.
func (c *criterion) conjugateGradients(x, b, penalty, diagonal []float64) []float64 {
	image, z := make([]float64, c.q), make([]float64, c.q)
	times := func(x []float64) {
		linalg.TriangleTimes(image, c.gram, x)
		for i, p := range penalty {
			image[i] += p * x[i]
		}
	}
	times(x)
	r := make([]float64, c.q)
	floats.SubTo(r, b, image)
	floats.DivTo(z, r, diagonal)
	direction, rz := append([]float64(nil), z...), kernel.Dot(r, z)
	enough := nearResidual * floats.Norm(b, 2)
	for range nearGradients {
		if floats.Norm(r, 2) <= enough {
			break
		}
		times(direction)
		step := rz / kernel.Dot(direction, image)
		if math.IsNaN(step) {
			break
		}
		kernel.Axpy(x, direction, step)
		kernel.Axpy(r, image, -step)
		floats.DivTo(z, r, diagonal)
		before := rz
		rz = kernel.Dot(r, z)
		floats.Scale(rz/before, direction)
		kernel.Add(direction, direction, z)
	}
	return r
}
