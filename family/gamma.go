package family

import "math"

// Gamma has mean mu = exp(eta) (log link, K = 1) and variance phi mu^2/w, so shape
// w/phi; responses are positive. The dispersion phi is the sum of deviances over
// the sum of weights.
type Gamma struct{}

// Name is "gamma".
func (Gamma) Name() string { return "gamma" }

// Predictors is 1: the logarithm of the mean.
func (Gamma) Predictors() int { return 1 }

// Link is the logarithm of the mean.
func (Gamma) Link(int) Link { return Link{Name: "log", Of: Mean} }

// Check accepts the finite positive numbers.
func (f Gamma) Check(y float64) error { return checkPositive(f.Name(), y) }

// LogLik is s log s - log Gamma(s) - log y - s [exp(d) - d] with the shape s =
// w/phi and d = log y - eta. With phi = 0 it is +Inf for a row that is met exactly
// and -Inf for any other.
func (Gamma) LogLik(y, w float64, eta []float64, phi float64) float64 {
	if len(eta) != 1 || !(w >= 0) || !(phi >= 0) {
		return math.NaN()
	}
	if w == 0 {
		return 0
	}
	off := exp1m(math.Log(y) - eta[0])
	if phi == 0 || math.IsInf(off, 1) {
		if off == 0 {
			return math.Inf(1)
		}
		return math.Inf(-1)
	}
	s := w / phi
	return logPoissonSaturated(s) + math.Log(s) - math.Log(y) - s*off
}

// Deviance is 2w [y/mu - 1 - log(y/mu)].
func (Gamma) Deviance(y, w float64, eta []float64) float64 {
	if len(eta) != 1 || !(w >= 0) {
		return math.NaN()
	}
	return times(2*w, exp1m(math.Log(y)-eta[0]))
}

// HasDispersion is true: the squared coefficient of variation.
func (Gamma) HasDispersion() bool { return true }

// Mass is false: a density.
func (Gamma) Mass() bool { return false }

// Traits: the deviance is that of an exponential family.
func (Gamma) Traits() Traits { return Traits{Affine: true} }

// Mean is exp(eta).
func (Gamma) Mean(eta []float64) float64 {
	if len(eta) != 1 {
		return math.NaN()
	}
	return math.Exp(eta[0])
}

// Score of the logarithm of the mean: w (y/mu - 1)/phi, information w/phi.
func (Gamma) Score(grad, info []float64, y, w float64, eta []float64, phi float64) {
	grad[0] = w * math.Expm1(math.Log(y)-eta[0]) / phi
	if info != nil {
		info[0] = w / phi
	}
}
