package family

import (
	"fmt"
	"math"
)

// NegativeBinomial has two predictors: the logarithms of the mean mu and of the size
// theta; the variance is mu + mu^2/theta (NB2). Responses are counts. With theta
// infinite it is Poisson. Hold gives the family of one predictor, whose theta is a
// number.
type NegativeBinomial struct{}

// Name is "negative-binomial".
func (NegativeBinomial) Name() string { return "negative-binomial" }

// Predictors is 2.
func (NegativeBinomial) Predictors() int { return 2 }

// Link is the logarithm of the mean, and of theta.
func (NegativeBinomial) Link(k int) Link {
	if k == 0 {
		return Link{Name: "log", Of: Mean}
	}
	return Link{Name: "log"}
}

// Parameters are mu and theta.
func (NegativeBinomial) Parameters() []string { return []string{"mu", "theta"} }

// Check accepts the integers from 0.
func (f NegativeBinomial) Check(y float64) error { return checkCount(f.Name(), y) }

// LogLik is w [log Gamma(y + theta) - log Gamma(theta) - log y! + theta log(theta/(mu
// + theta)) + y log(mu/(mu + theta))]; phi is ignored. As for Poisson it is computed
// from the log-likelihood at mu = y.
func (f NegativeBinomial) LogLik(y, w float64, eta []float64, _ float64) float64 {
	if len(eta) != 2 || !(w >= 0) {
		return math.NaN()
	}
	theta := math.Exp(eta[1])
	top := logPoissonSaturated(y)
	switch {
	case y == 0 || math.IsInf(theta, 1):
	case theta >= 16:
		top += stirlingSeries(y+theta) - stirlingSeries(theta) - math.Log1p(y/theta)/2
	default:
		top += stirling(theta, eta[1]) - stirling(y+theta, math.Log(y+theta))
	}
	if math.IsInf(top, -1) { // no y > 0 comes of theta = 0
		return times(w, top)
	}
	return times(w, top-f.deviance(y, eta)/2)
}

// Deviance is NaN: it belongs to a theta that is held.
func (NegativeBinomial) Deviance(y, w float64, eta []float64) float64 { return math.NaN() }

// deviance is 2 [y log(y/mu) - (y + theta) log((y + theta)/(mu + theta))].
func (NegativeBinomial) deviance(y float64, eta []float64) float64 {
	theta, size := math.Exp(eta[1]), y+math.Exp(eta[1])
	switch {
	case math.IsInf(theta, 1):
		return 2 * halfPoissonDeviance(y, eta[0])
	case y == 0:
		return 2 * times(theta, softplus(eta[0]-eta[1]))
	case math.IsInf(eta[0], 0):
		return math.Inf(1)
	}
	delta := eta[0] - math.Log(y)
	p, q := y/size, theta/size
	var half float64
	switch {
	case math.Abs(delta) > 1: // log((mu + theta)/(y + theta)) = log(q + p exp(delta))
		ratio := math.Log1p(p * math.Expm1(delta))
		if delta > 700 {
			ratio = delta + math.Log(p+q*math.Exp(-delta))
		} else if p > 0.5 {
			ratio = math.Log(q + p*math.Exp(delta))
		}
		half = size*ratio - y*delta
	case p <= 0.5: // Poisson's, less what the larger variance takes off
		half = y*exp1m(delta) - size*exp1m(math.Log1p(p*math.Expm1(delta)))
	default: // the same with theta in the place of y: q is the smaller share
		half = theta*exp1m(-delta) - size*exp1m(math.Log1p(q*math.Expm1(-delta)))
	}
	return 2 * max(0, half)
}

// HasDispersion is false: theta takes its place.
func (NegativeBinomial) HasDispersion() bool { return false }

// Mass is true.
func (NegativeBinomial) Mass() bool { return true }

// Traits: the deviance is that of an exponential family while theta is held.
func (NegativeBinomial) Traits() Traits { return Traits{Affine: true} }

// Mean is exp(eta[0]).
func (NegativeBinomial) Mean(eta []float64) float64 {
	if len(eta) != 2 {
		return math.NaN()
	}
	return math.Exp(eta[0])
}

// Score: with v = (y - mu)/(mu + theta), w theta v and w theta [psi(y + theta) -
// psi(theta) - log(1 + mu/theta) - v]. Information of log mu: w mu theta/(mu
// + theta); that of log theta is a sum over the distribution (Lawless 1987), which
// for large counts is replaced by its limit.
func (NegativeBinomial) Score(grad, info []float64, y, w float64, eta []float64, _ float64) {
	theta, x := math.Exp(eta[1]), eta[0]-eta[1]
	if w == 0 || math.IsInf(theta, 1) {
		Poisson{}.Score(grad, info, y, w, eta[:1], 1)
		grad[1] = 0
		if info != nil {
			info[1] = 0
		}
		return
	}
	r := logistic(x) // mu/(mu + theta)
	grad[0] = w * (y*logistic(-x) - theta*r)
	// log((y + theta)/(mu + theta)) - v = -exp1m(that logarithm)
	logRatio := math.Log1p(y/theta) - softplus(x)
	if v := (y - math.Exp(eta[0])) / (math.Exp(eta[0]) + theta); math.Abs(v) < 0.5 {
		logRatio = math.Log1p(v)
	}
	grad[1] = w * (digammaGap(theta) - theta/(y+theta)*digammaGap(y+theta) - times(theta, exp1m(logRatio)))
	if info != nil {
		info[0], info[1] = w*theta*r, w*sizeInformation(eta[0], eta[1])
	}
}

// sizeInformation is the expected information of log theta: theta^2 sum_j P(Y > j)
// (theta + j)^-2 - theta mu/(mu + theta). Where the sum is long or cancels it is that
// of a gamma shape times (mu/(mu + theta))^2, its limit for large mu and for large
// theta.
func sizeInformation(logMu, logTheta float64) float64 {
	const maxTerms = 1000 // of the sum
	theta, r := math.Exp(logTheta), logistic(logMu-logTheta)
	limit := r * r * trigammaGap(theta)
	p := math.Exp(-times(theta, softplus(logMu-logTheta))) // of j = 0
	if theta > 100 || p == 0 {
		return limit
	}
	sum, beyond := 0.0, 1.0
	for j := range maxTerms {
		at := float64(j)
		beyond -= p
		if beyond < 1e-12 {
			return max(0, sum-theta*r)
		}
		ratio := theta / (theta + at)
		sum += beyond * ratio * ratio
		p *= (theta + at) / (at + 1) * r
	}
	return limit
}

// Start has the given mean, and the variance as far as it exceeds the mean.
func (NegativeBinomial) Start(mean, variance float64) []float64 {
	theta := mean * mean / max(variance-mean, 1e-3*mean)
	return []float64{math.Log(mean), math.Log(min(max(theta, 1e-3), 1e4))}
}

func checkCount(name string, y float64) error {
	if y >= 0 && !math.IsInf(y, 1) && y == math.Trunc(y) {
		return nil
	}
	return fmt.Errorf("family %s: response %v is outside the support, the non-negative integers", name, y)
}
