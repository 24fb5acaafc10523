package family

import "math"

// Poisson has mean mu = exp(eta) (log link, K = 1); responses are counts.
type Poisson struct{}

// Name is "poisson".
func (Poisson) Name() string { return "poisson" }

// Predictors is 1: the logarithm of the mean.
func (Poisson) Predictors() int { return 1 }

// Link is the logarithm of the mean.
func (Poisson) Link(int) Link { return Link{Name: "log", Of: Mean} }

// Check accepts the integers from 0.
func (f Poisson) Check(y float64) error { return checkCount(f.Name(), y) }

// LogLik is w [y eta - exp(eta) - log y!]; phi is ignored. It is computed as the
// log-likelihood at mu = y less half the deviance, which keeps the digits of
// large counts (Loader 2000, "Fast and accurate computation of binomial
// probabilities").
func (Poisson) LogLik(y, w float64, eta []float64, _ float64) float64 {
	if len(eta) != 1 || !(w >= 0) {
		return math.NaN()
	}
	return times(w, logPoissonSaturated(y)-halfPoissonDeviance(y, eta[0]))
}

// Deviance is 2w [y log(y/mu) - (y - mu)].
func (Poisson) Deviance(y, w float64, eta []float64) float64 {
	if len(eta) != 1 || !(w >= 0) {
		return math.NaN()
	}
	return times(2*w, halfPoissonDeviance(y, eta[0]))
}

// HasDispersion is false.
func (Poisson) HasDispersion() bool { return false }

// Mass is true.
func (Poisson) Mass() bool { return true }

// Traits: the deviance is that of an exponential family.
func (Poisson) Traits() Traits { return Traits{Affine: true} }

// Mean is exp(eta).
func (Poisson) Mean(eta []float64) float64 {
	if len(eta) != 1 {
		return math.NaN()
	}
	return math.Exp(eta[0])
}

// halfPoissonDeviance is y log(y/mu) - y + mu = y (exp(delta) - 1 - delta) with
// delta = eta - log y.
func halfPoissonDeviance(y, eta float64) float64 {
	if y == 0 {
		return math.Exp(eta)
	}
	return y * exp1m(eta-math.Log(y))
}

// logPoissonSaturated is the log-probability of y at mean y.
func logPoissonSaturated(y float64) float64 {
	if y == 0 {
		return 0
	}
	return logPoissonAt(y)
}

// Score of the logarithm of the mean: w (y - mu), information w mu.
func (Poisson) Score(grad, info []float64, y, w float64, eta []float64, _ float64) {
	mu := math.Exp(eta[0])
	grad[0] = w * (y - mu)
	if info != nil {
		info[0] = w * mu
	}
}
