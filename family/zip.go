package family

import "math"

// ZIP is the zero-inflated Poisson distribution of two predictors: the logarithm of the
// mean lambda of the Poisson part, and the log odds of pi, the probability of a zero that
// is none of Poisson's (Lambert 1992; count and zero model of R's pscl::zeroinfl).
// Responses are counts. Hold gives the family of one predictor, whose pi is a number.
type ZIP struct{}

// Name is "zip".
func (ZIP) Name() string { return "zip" }

// Predictors is 2.
func (ZIP) Predictors() int { return 2 }

// Link is the logarithm of Poisson's mean, and the log odds of pi.
func (ZIP) Link(k int) Link {
	if k == 0 {
		return Link{Name: "log", Of: Mean}
	}
	return Link{Name: "logit", Of: ExtraZero}
}

// Parameters are lambda and pi.
func (ZIP) Parameters() []string { return []string{"lambda", proportion} }

// Check accepts the integers from 0.
func (f ZIP) Check(y float64) error { return checkCount(f.Name(), y) }

// LogLik is w log[pi + (1 - pi) exp(-lambda)] of a zero and w [log(1 - pi) + y log lambda
// - lambda - log y!] of others; phi is ignored.
func (ZIP) LogLik(y, w float64, eta []float64, _ float64) float64 {
	if len(eta) != 2 || !(w >= 0) {
		return math.NaN()
	}
	if y == 0 {
		return times(w, zeroLog(eta))
	}
	return times(w, -softplus(eta[1])+logPoissonSaturated(y)-halfPoissonDeviance(y, eta[0]))
}

// zeroLog is log P(y = 0) = log[1 + (1 - pi) (exp(-lambda) - 1)].
func zeroLog(eta []float64) float64 {
	if q := logistic(-eta[1]) * math.Expm1(-math.Exp(eta[0])); q > -0.5 {
		return math.Log1p(q)
	}
	lambda := math.Exp(eta[0])
	if math.IsInf(eta[1], -1) {
		return -lambda
	}
	high, low := max(eta[1], -lambda), min(eta[1], -lambda)
	return high + math.Log1p(math.Exp(low-high)) - softplus(eta[1])
}

// Deviance is NaN: it belongs to a pi that is held.
func (ZIP) Deviance(y, w float64, eta []float64) float64 { return math.NaN() }

// deviance is -2 log P(y = 0) of a zero, whose best mean is 0, and Poisson's of others.
func (ZIP) deviance(y float64, eta []float64) float64 {
	if y == 0 {
		return -2 * zeroLog(eta)
	}
	return 2 * halfPoissonDeviance(y, eta[0])
}

// HasDispersion is false.
func (ZIP) HasDispersion() bool { return false }

// Mass is true.
func (ZIP) Mass() bool { return true }

// Mean is (1 - pi) lambda.
func (ZIP) Mean(eta []float64) float64 {
	if len(eta) != 2 {
		return math.NaN()
	}
	return times(logistic(-eta[1]), math.Exp(eta[0]))
}

// Score: with r = (1 - pi) exp(-lambda)/P(0), the probability that a zero is Poisson's,
// -w r lambda and w (1 - r - pi) of a zero, w (y - lambda) and -w pi of others.
// Information: w (1 - pi) lambda [1 - lambda exp(-lambda) (1 - r)] and w pi^2 (1 - pi)
// (1 - exp(-lambda))/P(0).
func (ZIP) Score(grad, info []float64, y, w float64, eta []float64, _ float64) {
	lambda, pi, poisson := math.Exp(eta[0]), logistic(eta[1]), logistic(-eta[1])
	r := logistic(-lambda - eta[1])
	if y == 0 {
		grad[0] = -w * times(r, lambda)
		grad[1] = w * (logistic(eta[1]+lambda) - pi)
	} else {
		grad[0] = w * (y - lambda)
		grad[1] = -w * pi
	}
	if info != nil {
		zero := math.Exp(zeroLog(eta))
		info[0] = w * times(poisson, lambda) * (1 - times(math.Exp(-lambda), lambda)*logistic(eta[1]+lambda))
		info[1] = 0
		if p := w * pi * poisson * -math.Expm1(-lambda); p > 0 {
			info[1] = p * (pi / zero)
		}
	}
}

// Start has the given mean and variance, as far as that exceeds the mean: of lambda and pi
// the variance is (1 - pi) lambda (1 + pi lambda).
func (ZIP) Start(mean, variance float64) []float64 {
	lambda := mean + max(variance/mean-1, 0)
	pi := min(max(1-mean/lambda, 0.02), 0.98)
	return []float64{math.Log(mean) - math.Log1p(-pi), logit(pi)}
}
