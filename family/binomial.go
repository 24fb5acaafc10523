package family

import (
	"cmp"
	"fmt"
	"math"
)

// Binomial has mean p = 1/(1 + exp(-eta)) (logit link, K = 1), or 1 - exp(-exp(eta)), the
// complementary log-log link: that of an event within an interval under proportional
// hazards, eta being the logarithm of the integrated hazard. The response is 0
// or 1, or a proportion of successes in [0, 1] whose number of trials is the
// prior weight w.
//
// A proportion counts as its w Bernoulli trials one by one: the binomial
// coefficient of w over wy is not part of LogLik. It does not depend on eta, so
// differences of log-likelihoods are the same with and without it, and rows of
// 0 and 1 give the same figures as the proportions they add up to.
type Binomial struct {
	By string // the link, as Link.Name has it: "cloglog"; "": logit. There are no others
}

func binomialLinks() []string { return []string{"logit", "cloglog"} }

// Name is "binomial", or "binomial(link=cloglog)".
func (f Binomial) Name() string {
	if f.By == "" {
		return "binomial"
	}
	return "binomial(link=" + f.By + ")"
}

// Predictors is 1: the log odds, or log(-log(1 - p)).
func (Binomial) Predictors() int { return 1 }

// Link is that of the probability.
func (f Binomial) Link(int) Link { return Link{Name: cmp.Or(f.By, "logit"), Of: Probability} }

// Check accepts y in [0, 1].
func (Binomial) Check(y float64) error {
	if y >= 0 && y <= 1 {
		return nil
	}
	return fmt.Errorf("family binomial: response %v is outside the support, 0 or 1 or a proportion between them (with the number of trials as the weight)", y)
}

// LogLik is w [y log p + (1 - y) log(1 - p)]; phi is ignored.
func (f Binomial) LogLik(y, w float64, eta []float64, _ float64) float64 {
	if len(eta) != 1 || !(w >= 0) {
		return math.NaN()
	}
	return 0 - times(w, crossEntropy(y, f.logOdds(eta[0]))) // 0 - 0 is not -0
}

// Deviance is 2w [y log(y/p) + (1 - y) log((1 - y)/(1 - p))].
func (f Binomial) Deviance(y, w float64, eta []float64) float64 {
	if len(eta) != 1 || !(w >= 0) {
		return math.NaN()
	}
	return times(2*w, bernoulliKL(y, f.logOdds(eta[0])))
}

// HasDispersion is false.
func (Binomial) HasDispersion() bool { return false }

// Mass is true.
func (Binomial) Mass() bool { return true }

// Traits: the deviance is that of an exponential family, the response one of two classes.
func (Binomial) Traits() Traits { return Traits{Affine: true, Binary: true} }

// Mean is the probability p.
func (f Binomial) Mean(eta []float64) float64 {
	if len(eta) != 1 {
		return math.NaN()
	}
	if f.By != "" {
		return f.Link(0).Inverse(eta[0])
	}
	if eta[0] < 0 {
		e := math.Exp(eta[0])
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-eta[0]))
}

// crossEntropy is -y log p - (1 - y) log(1 - p): two terms of one sign, so that
// small values keep their digits where y eta - log(1 + exp(eta)) would cancel.
func crossEntropy(y, eta float64) float64 {
	return times(y, softplus(-eta)) + times(1-y, softplus(eta))
}

// bernoulliKL is the Kullback-Leibler divergence of p from y. With
// delta = eta - logit(y) it is log(1 + y (exp(delta) - 1)) - y delta, which is
// used near p = y, where the entropies nearly cancel; its rounding error is of
// the order of y delta, so y is taken as the rarer of success and failure.
func bernoulliKL(y, eta float64) float64 {
	if y > 0.5 {
		y, eta = 1-y, -eta
	}
	if y == 0 {
		return crossEntropy(y, eta)
	}
	logY, log1Y := math.Log(y), math.Log1p(-y)
	delta := eta - (logY - log1Y)
	if math.Abs(delta) < 1 {
		return max(0, math.Log1p(y*math.Expm1(delta))-y*delta)
	}
	return max(0, crossEntropy(y, eta)+y*logY+(1-y)*log1Y)
}

// logOdds is log p - log(1 - p) at eta: of cloglog log(exp(exp(eta)) - 1).
func (f Binomial) logOdds(eta float64) float64 {
	switch {
	case f.By == "":
		return eta
	case f.By == "cloglog" && eta < -37: // where exp(exp(eta)) - 1 is exp(eta)
		return eta
	case f.By == "cloglog":
		return softplusLink(math.Exp(eta))
	}
	return math.NaN()
}

// Score of the log odds: w (y - mu), information w mu (1 - mu). Of log(-log(1 - mu)), with
// s = exp(eta): w (y - mu) s/mu and w s^2 (1 - mu)/mu.
func (f Binomial) Score(grad, info []float64, y, w float64, eta []float64, _ float64) {
	if f.By == "cloglog" {
		s, ratio := math.Exp(eta[0]), 0.0 // s (1 - mu)/mu = s/(exp(s) - 1)
		switch {
		case s == 0:
			ratio = 1
		case s < 700: // beyond, the denominator overflows
			ratio = s / math.Expm1(s)
		}
		grad[0] = w * (times(y, ratio) - times(1-y, s))
		if info != nil {
			info[0] = w * times(ratio, s)
		}
		return
	}
	mu, other := logistic(eta[0]), logistic(-eta[0])
	grad[0] = w * (y - mu)
	if info != nil {
		info[0] = w * mu * other
	}
}
