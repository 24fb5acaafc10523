package family

import (
	"fmt"
	"math"
)

// Sample is rows to estimate from: Y and W have n entries (W nil: ones), Eta (n x K, row by
// row) is the predictors with their offset, Event (nil: ones) is 0 for a response that is
// right censored and 1 for others.
type Sample struct{ Y, W, Event, Eta []float64 }

func (s *Sample) weight(i int) float64 {
	if s.W == nil {
		return 1
	}
	return s.W[i]
}

func (s *Sample) event(i int) bool { return s.Event == nil || s.Event[i] != 0 }

// Incomplete is a family with parameters that may have no number yet: Held, Tweedie, Cox
// and Ordinal. While one has none, LogLik and Deviance give NaN.
type Incomplete interface {
	Family
	// Unknown names them; nil: none.
	Unknown() []string
	estimate(s Sample) (Family, error)
}

// Profiled is a family whose unknown parameters belong to all rows and to no predictor: the
// baseline of Cox, the thresholds of Ordinal. Training finds them again as predictors change.
type Profiled interface {
	Incomplete
	Differentiable
	// Refit is the family with those of largest likelihood at the predictors of s, as Estimate
	// finds them; intervals that there are stay.
	Refit(s Sample) (Differentiable, error)
}

// Trainable says why training cannot begin with f: a parameter that training finds is given,
// or one that it does not find is not. nil: it can.
func Trainable(f Family) error {
	if f, ok := f.(interface{ untrained() error }); ok {
		return f.untrained()
	}
	return nil
}

// Unknown names the parameters of f that have no number yet; nil: none.
func Unknown(f Family) []string {
	if f, ok := f.(Incomplete); ok {
		return f.Unknown()
	}
	return nil
}

// Estimate gives the unknown parameters of f their maximum likelihood numbers at the
// predictors of s; a family without unknown ones is returned as it is. Numbers of a
// Held are found by Newton's method on their predictors' scale, which ends within 1e-10,
// or at +-15, beyond which no shape changes a figure that matters: a count that varies
// less than Poisson ends at the largest theta.
//
// Errors: a response outside the support, weights that are negative or all 0, predictors
// that are not finite, censored rows where f is no family of times, or all rows censored;
// a search that does not end.
func Estimate(f Family, s Sample) (Family, error) {
	g, ok := f.(Incomplete)
	if !ok || g.Unknown() == nil {
		return f, nil
	}
	if err := s.check(f); err != nil {
		return f, err
	}
	return g.estimate(s)
}

// check finds the faults of a sample.
func (s *Sample) check(f Family) error {
	n, k := len(s.Y), f.Predictors()
	if len(s.Eta) != k*n || s.W != nil && len(s.W) != n || s.Event != nil && len(s.Event) != n {
		return fmt.Errorf("family %s: %d responses, %d weights, %d events and %d predictors do not belong together", f.Name(), n, len(s.W), len(s.Event), len(s.Eta))
	}
	if s.Event != nil && Censored(f) == nil {
		return NoTimes(f)
	}
	sumW, events := 0.0, 0.0
	for i, v := range s.Y {
		w := s.weight(i)
		if err := f.Check(v); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
		for _, e := range s.Eta[i*k : (i+1)*k] {
			if e-e != 0 {
				return fmt.Errorf("family %s: the predictor of row %d is %g", f.Name(), i, e)
			}
		}
		if !(w >= 0) || math.IsInf(w, 1) {
			return fmt.Errorf("family %s: the weight of row %d is %g", f.Name(), i, w)
		}
		sumW += w
		if s.event(i) {
			events += w
		}
	}
	switch {
	case sumW == 0:
		return fmt.Errorf("family %s: no row has a positive weight, so nothing tells %v", f.Name(), Unknown(f))
	case events == 0:
		return fmt.Errorf("family %s: every row of positive weight is censored, so nothing tells %v", f.Name(), Unknown(f))
	}
	return nil
}

func (h Held) estimate(s Sample) (Family, error) {
	k := h.Predictors()
	var mean, variance, sumW float64
	for i, v := range s.Y {
		m := h.of.Mean(append(append([]float64{}, s.Eta[i*k:(i+1)*k]...), make([]float64, h.held)...))
		w := s.weight(i)
		sumW += w
		mean += w * m
		variance += w * (v - m) * (v - m)
	}
	f := h.Free()
	logs := append([]float64{}, f.Start(mean/sumW, max(variance/sumW, 1e-300))[k:]...)
	ml := &shapeLikelihood{f: f, of: [2]Differentiable{nil, f}, Sample: s, k: k}
	if c, ok := Censored(f).(Differentiable); ok {
		ml.of[0] = c
	}
	if err := ml.maximise(logs); err != nil {
		return h, err
	}
	return h.With(logs), nil
}

// shapeLikelihood is the log-likelihood as a function of at most two shapes.
type shapeLikelihood struct {
	f  Shaped
	of [2]Differentiable // censored rows, others
	Sample
	k int // predictors that are given
}

// score is its gradient and expected information per unit of weight.
func (l *shapeLikelihood) score(logs []float64) (grad, info [2]float64) {
	n := l.k + len(logs)
	var at, g, i [3]float64
	copy(at[l.k:], logs)
	sumW := 0.0
	for r, y := range l.Y {
		w, of := l.weight(r), l.of[1]
		if w == 0 {
			continue
		}
		if !l.event(r) {
			of = l.of[0]
		}
		copy(at[:], l.Eta[r*l.k:(r+1)*l.k])
		of.Score(g[:n], i[:n], y, w, at[:n], 1)
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
