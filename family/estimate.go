package family

import (
	"fmt"
	"math"
)

// Estimate gives the unknown parameters of h their maximum likelihood numbers at
// given predictors: y and w have n entries (w nil: ones), eta (n x K, row by row) is
// the predictors with their offset. The search (Newton in the logarithms) ends
// within 1e-10, or at exp(+-15), beyond which no shape changes a figure that
// matters: a count that varies less than Poisson ends at the largest theta.
//
// Errors: a response outside the support, weights that are negative or all 0,
// predictors that are not finite; a search that does not end.
func Estimate(h Held, y, w, eta []float64) (Held, error) {
	unknown := h.Unknown()
	if unknown == nil {
		return h, nil
	}
	k := h.Predictors()
	if len(eta) != k*len(y) || w != nil && len(w) != len(y) {
		return h, fmt.Errorf("family %s: %d responses, %d weights and %d predictors do not belong together", h.Name(), len(y), len(w), len(eta))
	}
	weight := func(i int) float64 {
		if w == nil {
			return 1
		}
		return w[i]
	}
	var mean, variance, sumW float64
	for i, v := range y {
		if err := h.Check(v); err != nil {
			return h, fmt.Errorf("row %d: %w", i, err)
		}
		for _, e := range eta[i*k : (i+1)*k] {
			if e-e != 0 {
				return h, fmt.Errorf("family %s: the predictor of row %d is %g", h.Name(), i, e)
			}
		}
		if !(weight(i) >= 0) || math.IsInf(weight(i), 1) {
			return h, fmt.Errorf("family %s: the weight of row %d is %g", h.Name(), i, weight(i))
		}
		m := h.of.Mean(append(append([]float64{}, eta[i*k:(i+1)*k]...), make([]float64, h.held)...))
		sumW += weight(i)
		mean += weight(i) * m
		variance += weight(i) * (v - m) * (v - m)
	}
	if sumW == 0 {
		return h, fmt.Errorf("family %s: no row has a positive weight, so nothing tells %v", h.Name(), unknown)
	}
	f := h.Free()
	logs := append([]float64{}, f.Start(mean/sumW, max(variance/sumW, 1e-300))[k:]...)
	ml := &shapeLikelihood{f: f, y: y, w: w, eta: eta, k: k}
	if err := ml.maximise(logs); err != nil {
		return h, err
	}
	return h.With(logs), nil
}

// shapeLikelihood is the log-likelihood as a function of at most two shapes.
type shapeLikelihood struct {
	f         Shaped
	y, w, eta []float64
	k         int // predictors that are given
}

// score is its gradient and expected information per unit of weight.
func (l *shapeLikelihood) score(logs []float64) (grad, info [2]float64) {
	n := l.k + len(logs)
	var at, g, i [3]float64
	copy(at[l.k:], logs)
	sumW := 0.0
	for r, y := range l.y {
		w := 1.0
		if l.w != nil {
			w = l.w[r]
		}
		if w == 0 {
			continue
		}
		copy(at[:], l.eta[r*l.k:(r+1)*l.k])
		l.f.Score(g[:n], i[:n], y, w, at[:n], 1)
		sumW += w
		for j := range logs {
			grad[j] += g[l.k+j]
			info[j] += i[l.k+j]
		}
	}
	for j := range logs {
		grad[j] /= sumW
		info[j] /= sumW
	}
	return grad, info
}

// maximise is Newton's method with differences of the score, and Fisher's steps
// where the log-likelihood is not concave; no step is longer than 1.
func (l *shapeLikelihood) maximise(logs []float64) error {
	const h, maxSteps = 1e-5, 200
	for range maxSteps {
		grad, info := l.score(logs)
		var hess [2][2]float64
		for j := range logs {
			logs[j] += h
			up, _ := l.score(logs)
			logs[j] -= h
			for i := range logs {
				hess[i][j] = (up[i] - grad[i]) / h
			}
		}
		step := newton(hess, grad, len(logs))
		moved := 0.0
		for j, v := range logs {
			if math.IsNaN(step[0]) {
				step[j] = grad[j] / (info[j] + 1e-12)
			}
			bound := 15.0
			if l.f.Parameters()[l.k+j] == "sigma" { // in units of the response
				bound = 700
			}
			logs[j] = max(-bound, min(bound, v+max(-1, min(1, step[j]))))
			moved = max(moved, math.Abs(logs[j]-v))
		}
		if moved < 1e-10 {
			return nil
		}
	}
	return fmt.Errorf("family %s: the estimates of its parameters do not settle in %d steps (logarithms %.4g): give them, as in %s", l.f.Name(), maxSteps, logs, example(l.f))
}

// newton solves for the step to the stationary point; NaN if hess is not negative
// definite.
func newton(hess [2][2]float64, grad [2]float64, n int) [2]float64 {
	a, b, d := hess[0][0], (hess[0][1]+hess[1][0])/2, hess[1][1]
	none := [2]float64{math.NaN(), math.NaN()}
	switch det := a*d - b*b; {
	case !(a < 0):
		return none
	case n == 1:
		return [2]float64{-grad[0] / a, 0}
	case !(det > 0):
		return none
	default:
		return [2]float64{-(d*grad[0] - b*grad[1]) / det, -(a*grad[1] - b*grad[0]) / det}
	}
}
