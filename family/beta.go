package family

import (
	"fmt"
	"math"
)

// Beta has two predictors: the log odds of the mean mu and the logarithm of the
// precision phi; the density is that of Beta(mu phi, (1 - mu) phi), the variance
// mu (1 - mu)/(1 + phi) (Ferrari and Cribari-Neto 2004). Hold gives the family of one
// predictor, whose phi is a number.
type Beta struct{}

// Name is "beta".
func (Beta) Name() string { return "beta" }

// Predictors is 2.
func (Beta) Predictors() int { return 2 }

// Link is the log odds of the mean, and the logarithm of phi.
func (Beta) Link(k int) Link {
	if k == 0 {
		return Link{Name: "logit", Of: Mean}
	}
	return Link{Name: "log"}
}

// Parameters are mu and phi.
func (Beta) Parameters() []string { return []string{"mu", "phi"} }

// Check accepts the numbers between 0 and 1.
func (Beta) Check(y float64) error {
	if y > 0 && y < 1 {
		return nil
	}
	return fmt.Errorf("family beta: response %v is outside the support, the numbers between 0 and 1, both excluded", y)
}

// LogLik is w times the log-density of y, log Gamma(phi) - log Gamma(a) - log
// Gamma(b) + (a - 1) log y + (b - 1) log(1 - y) with a = mu phi and b = (1 - mu) phi.
// It is computed from phi times the Kullback-Leibler divergence of y from mu; the
// rest is of the order of log phi.
func (Beta) LogLik(y, w float64, eta []float64, _ float64) float64 {
	if len(eta) != 2 || !(w >= 0) {
		return math.NaN()
	}
	if w == 0 {
		return 0
	}
	phi := math.Exp(eta[1])
	if math.IsInf(phi, 1) {
		if logitKL(eta[0], logit(y)) > 0 {
			return math.Inf(-1)
		}
		return math.Inf(1)
	}
	return w * (betaKernel(y, eta[0], eta[1]) - stirling(phi, eta[1]) - log2Pi/2 - math.Log(y) - math.Log1p(-y))
}

// betaKernel is the part of the log-density that depends on mu.
func betaKernel(y, eta, logPhi float64) float64 {
	logA, logB := logPhi-softplus(-eta), logPhi-softplus(eta)
	return stirling(math.Exp(logA), logA) + stirling(math.Exp(logB), logB) - times(math.Exp(logPhi), logitKL(eta, logit(y)))
}

// Deviance is NaN: it belongs to a phi that is held.
func (Beta) Deviance(y, w float64, eta []float64) float64 { return math.NaN() }

// deviance is twice what the log-density falls short of its maximum over mu, which
// is near y and not at it: where psi(a) - psi(b) = logit y.
func (Beta) deviance(y float64, eta []float64) float64 {
	if math.IsInf(eta[1], 1) || math.IsInf(eta[0], 0) {
		return math.Inf(1)
	}
	top := betaKernel(y, betaSaturated(y, eta[1]), eta[1])
	return 2 * max(0, top-betaKernel(y, eta[0], eta[1]))
}

// betaSaturated is the log odds of mu at which the density of y is largest, by
// Fisher scoring between bounds: the log-density is concave in mu.
func betaSaturated(y, logPhi float64) float64 {
	at := logit(y)
	// Next to 0 the density grows with a until about a = -1/log y, and so next to 1.
	if at < 0 {
		at = max(at, min(0, -logPhi-math.Log(-math.Log(y))))
	} else {
		at = min(at, max(0, logPhi+math.Log(-math.Log1p(-y))))
	}
	low, high := math.Inf(-1), math.Inf(1)
	var grad, info [2]float64
	for range 400 {
		Beta{}.Score(grad[:], info[:], y, 1, []float64{at, logPhi}, 1)
		if grad[0] > 0 {
			low = at
		} else {
			high = at
		}
		next := at + max(-2, min(2, grad[0]/info[0]))
		if math.IsNaN(next) || math.Abs(next-at) <= 1e-13*(1+math.Abs(at)) {
			break
		}
		if next <= low || next >= high { // both are finite then
			next = (low + high) / 2
		}
		at = next
	}
	return at
}

// HasDispersion is false: phi takes its place.
func (Beta) HasDispersion() bool { return false }

// Mass is false: a density.
func (Beta) Mass() bool { return false }

// Mean is mu.
func (Beta) Mean(eta []float64) float64 {
	if len(eta) != 2 {
		return math.NaN()
	}
	return logistic(eta[0])
}

// Score: with G(x) = x [log x - psi(x)], w [mu (1 - mu) phi (logit y - eta) + (1 - mu)
// G(a) - mu G(b)] and w [G(a) + G(b) - G(phi) - phi KL]; with U(x) = x^2 psi'(x) - x the
// information is w [(1 - mu)^2 U(a) + mu^2 U(b) + mu (1 - mu) phi] and w [U(a) + U(b)
// - U(phi)].
func (Beta) Score(grad, info []float64, y, w float64, eta []float64, _ float64) {
	phi, mu, other := math.Exp(eta[1]), logistic(eta[0]), logistic(-eta[0])
	a, b := mu*phi, other*phi
	ga, gb := digammaGap(a), digammaGap(b)
	grad[0] = w * (mu*b*(logit(y)-eta[0]) + other*ga - mu*gb)
	grad[1] = w * (ga + gb - digammaGap(phi) - phi*logitKL(eta[0], logit(y)))
	if info != nil {
		ua, ub := trigammaGap(a), trigammaGap(b)
		info[0] = w * (other*other*ua + mu*mu*ub + mu*b)
		info[1] = w * max(0, ua+ub-trigammaGap(phi))
	}
}

// Start has the given mean and variance.
func (Beta) Start(mean, variance float64) []float64 {
	return []float64{logit(mean), math.Log(min(max(mean*(1-mean)/variance-1, 0.1), 1e6))}
}

func logit(p float64) float64 { return math.Log(p) - math.Log1p(-p) }

// logitKL is the Kullback-Leibler divergence between Bernoulli distributions,
// p log(p/q) + (1 - p) log((1 - p)/(1 - q)), from their log odds: see bernoulliKL.
func logitKL(etaP, etaQ float64) float64 {
	if etaP > 0 {
		etaP, etaQ = -etaP, -etaQ
	}
	p, delta := logistic(etaP), etaQ-etaP
	if math.Abs(delta) < 1 {
		// Both terms are p delta to first order.
		return max(0, p*exp1m(delta)-exp1m(math.Log1p(p*math.Expm1(delta))))
	}
	return max(0, times(p, softplus(-etaQ)-softplus(-etaP))+logistic(-etaP)*(softplus(etaQ)-softplus(etaP)))
}
