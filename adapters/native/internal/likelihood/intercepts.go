package likelihood

import (
	"math"
	"slices"

	"github.com/pho-go/pho/family"
)

// Intercepts fits the intercept-only model by Fisher scoring, from its moments if
// the family has shapes: the predictors for which free is false stay 0.
func (t *Target) Intercepts(f family.Differentiable, free []bool) []float64 {
	k := f.Predictors()
	b, eta, grad, info := make([]float64, k), make([]float64, k), make([]float64, k), make([]float64, k)
	low, high := slices.Repeat([]float64{math.Inf(-1)}, k), slices.Repeat([]float64{math.Inf(1)}, k)
	if s, ok := f.(family.Shaped); ok {
		start := s.Start(t.Moments(family.TraitsOf(f).Location))
		for j, name := range s.Parameters() {
			if free[j] {
				b[j] = start[j]
			}
			if j > 0 && name != "sigma" { // beyond it a shape changes nothing, and could not be left
				low[j], high[j] = -15, 15
			}
		}
	}
	both := t.states(f)
	for range 200 {
		sum, total := make([]float64, k), make([]float64, k)
		for i := range t.Y {
			t.At(eta, b, i)
			t.of(both, i).Score(grad, info, t.Y[i], t.W[i], eta, 1)
			curvature(f, t.Y[i], t.W[i], grad, info)
			for j := range b {
				sum[j] += grad[j]
				total[j] += info[j]
			}
		}
		largest := 0.0
		for j := range b {
			if !free[j] || !(total[j] > 0) {
				continue
			}
			step := math.Max(-1, math.Min(1, sum[j]/total[j])) // far off, Fisher's step is wild
			if j == 0 && family.TraitsOf(f).Location {
				step = sum[j] / total[j]
			}
			step = math.Max(low[j], math.Min(high[j], b[j]+step)) - b[j]
			b[j] += step
			largest = math.Max(largest, math.Abs(step)/(1+math.Abs(b[j])))
		}
		if largest < 1e-10 {
			break
		}
	}
	return b
}

// Working is the response z = b_k + score/information of predictor k at the
// intercept-only model b, with the information as weights: one step of Fisher
// scoring is a weighted least squares fit to it (Wood 2017, 3.1.2). The offset is
// not part of z.
func (t *Target) Working(f family.Differentiable, b []float64, k int) (z, w []float64) {
	return t.working(f, func(int) []float64 { return b }, k, func(i int, grad, info []float64) { curvature(f, t.Y[i], t.W[i], grad, info) })
}

// WorkingAt is Working at predictors that at gives for row i, the others than k being held,
// so that classes have Fisher's information each.
func (t *Target) WorkingAt(f family.Differentiable, at func(i int) []float64, k int) (z, w []float64) {
	return t.working(f, at, k, func(int, []float64, []float64) {})
}

func (t *Target) working(f family.Differentiable, at func(i int) []float64, k int, adjust func(i int, grad, info []float64)) (z, w []float64) {
	n, kk := len(t.Y), f.Predictors()
	z, w = make([]float64, n), make([]float64, n)
	eta, grad, info := make([]float64, kk), make([]float64, kk), make([]float64, kk)
	both := t.states(f)
	for i := range n {
		own := at(i)
		t.At(eta, own, i)
		t.of(both, i).Score(grad, info, t.Y[i], t.W[i], eta, 1)
		adjust(i, grad, info)
		z[i] = own[k]
		if info[k] > 0 {
			z[i] += grad[k] / info[k]
			w[i] = info[k]
		}
	}
	return z, w
}

// curvature replaces the information w p (1 - p) of the predictors of classes by w p, if
// all classes have one. The information of all together is w (diag p - p p'), whose last
// part is nothing to steps with p'd = 0; and (y - p)/p, which p leaves as a step for each
// class by itself, is such a step. Adding to all predictors what is wanted changes nothing,
// so it is Newton's.
func curvature(f family.Differentiable, y, w float64, grad, info []float64) {
	if of, ok := f.(family.Classifier); !ok || of.Predictors() != of.Classes() {
		return
	}
	for k, g := range grad {
		if k != int(y) {
			info[k] = -g
		} else if g > 0 {
			info[k] *= w / g // w p q over w q
		}
	}
}
