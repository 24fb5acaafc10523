package family

import (
	"fmt"
	"math"
)

// InverseGaussian has mean mu = exp(eta) (log link, K = 1; the canonical link 1/mu^2
// belongs to no head of a network) and variance phi mu^3/w; responses are positive. The
// dispersion phi is the sum of deviances over the sum of weights: the maximum likelihood
// estimate, where R's glm reports Pearson's statistic over the degrees of freedom.
type InverseGaussian struct{}

// Name is "inverse-gaussian".
func (InverseGaussian) Name() string { return "inverse-gaussian" }

// Predictors is 1: the logarithm of the mean.
func (InverseGaussian) Predictors() int { return 1 }

// Link is the logarithm of the mean.
func (InverseGaussian) Link(int) Link { return Link{Name: "log", Of: Mean} }

// Check accepts the finite positive numbers.
func (f InverseGaussian) Check(y float64) error { return checkPositive(f.Name(), y) }

// LogLik is -log(2 pi phi y^3/w)/2 - w (y - mu)^2/(2 phi mu^2 y). With phi = 0 it is +Inf
// for a row that is met exactly and -Inf for any other.
func (f InverseGaussian) LogLik(y, w float64, eta []float64, phi float64) float64 {
	if len(eta) != 1 || !(w >= 0) || !(phi >= 0) {
		return math.NaN()
	}
	if w == 0 {
		return 0
	}
	d := f.Deviance(y, 1, eta)
	if phi == 0 || math.IsInf(d, 1) {
		if d == 0 {
			return math.Inf(1)
		}
		return math.Inf(-1)
	}
	return -(log2Pi+math.Log(phi)-math.Log(w)+3*math.Log(y))/2 - d*w/phi/2
}

// Deviance is w (y - mu)^2/(mu^2 y).
func (InverseGaussian) Deviance(y, w float64, eta []float64) float64 {
	if len(eta) != 1 || !(w >= 0) {
		return math.NaN()
	}
	d := math.Expm1(math.Log(y) - eta[0]) // y/mu - 1
	if d > 1e100 {                        // whose square may overflow: y/mu^2
		return times(w, math.Exp(math.Log(y)-2*eta[0]))
	}
	return times(w, d*d/y)
}

// HasDispersion is true.
func (InverseGaussian) HasDispersion() bool { return true }

// Mass is false: a density.
func (InverseGaussian) Mass() bool { return false }

// Traits: an exponential family that keeps its form in other units.
func (InverseGaussian) Traits() Traits { return Traits{Affine: true, Ratio: true} }

// Mean is exp(eta).
func (InverseGaussian) Mean(eta []float64) float64 {
	if len(eta) != 1 {
		return math.NaN()
	}
	return math.Exp(eta[0])
}

// Score of the logarithm of the mean: w (y - mu)/(phi mu^2), information w/(phi mu).
func (InverseGaussian) Score(grad, info []float64, y, w float64, eta []float64, phi float64) {
	grad[0] = w * math.Expm1(math.Log(y)-eta[0]) * math.Exp(-eta[0]) / phi
	if info != nil {
		info[0] = w * math.Exp(-eta[0]) / phi
	}
}

func checkPositive(name string, y float64) error {
	if y > 0 && !math.IsInf(y, 1) {
		return nil
	}
	return fmt.Errorf("family %s: response %v is outside the support, the finite positive numbers", name, y)
}
