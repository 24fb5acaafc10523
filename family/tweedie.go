package family

import (
	"errors"
	"fmt"
	"math"
)

// Tweedie has mean mu = exp(eta) (log link, K = 1) and variance phi mu^P/w with a power
// P between 1 and 2: a Poisson number of gamma amounts, so that 0 has a probability and
// the positive numbers have a density (Jørgensen 1987; premiums, rainfall). The
// dispersion phi is the sum of deviances over the sum of weights.
//
// P 0 is unknown (see Incomplete): Estimate finds it together with a phi of its own,
// which maximise the likelihood. The phi of the figures is the one above in any case,
// which is neither the maximum likelihood's nor Pearson's statistic over the degrees of
// freedom, which R's glm reports.
type Tweedie struct{ P float64 }

// powers are the bounds of Estimate, as of mgcv's tw: nearer to 1 the density has a peak for every
// number of amounts.
const lowestPower, highestPower = 1.01, 1.99

// Name is "tweedie(p=1.5)", six digits; "tweedie" if P is unknown.
func (f Tweedie) Name() string {
	if f.P == 0 {
		return "tweedie"
	}
	return fmt.Sprintf("tweedie(p=%.6g)", f.P)
}

// Predictors is 1: the logarithm of the mean.
func (Tweedie) Predictors() int { return 1 }

// Link is the logarithm of the mean.
func (Tweedie) Link(int) Link { return Link{Name: "log", Of: Mean} }

// Unknown is p while it has no number.
func (f Tweedie) Unknown() []string {
	if f.P == 0 {
		return []string{"p"}
	}
	return nil
}

// Check accepts the finite numbers from 0.
func (Tweedie) Check(y float64) error {
	if y >= 0 && !math.IsInf(y, 1) {
		return nil
	}
	return fmt.Errorf("family tweedie: response %v is outside the support, 0 and the finite positive numbers", y)
}

func (f Tweedie) inside(w float64, eta []float64) bool {
	return len(eta) == 1 && w >= 0 && f.P > 1 && f.P < 2
}

// LogLik is the logarithm of the probability of y = 0, -(w/phi) mu^(2-P)/(2-P), and for y
// > 0 the log-density at mu = y less half the deviance over phi/w. At mu = y it depends
// on P and xi = phi/w y^(P-2) alone: see logTweedieSaturated. With phi = 0 it is +Inf for
// a row that is met exactly and -Inf for any other.
func (f Tweedie) LogLik(y, w float64, eta []float64, phi float64) float64 {
	if !f.inside(w, eta) || !(phi >= 0) {
		return math.NaN()
	}
	if w == 0 {
		return 0
	}
	off := f.halfDeviance(y, eta[0])
	if y == 0 && off == 0 { // a probability of 1 at any phi
		return 0
	}
	if phi == 0 || math.IsInf(off, 1) {
		if off == 0 {
			return math.Inf(1)
		}
		return math.Inf(-1)
	}
	l := -off * w / phi
	if y > 0 {
		l += logTweedieSaturated(f.P, math.Log(phi)-math.Log(w)+(f.P-2)*math.Log(y)) - math.Log(y)
	}
	return l
}

// Deviance is 2w [y^(2-P)/((1-P)(2-P)) - y mu^(1-P)/(1-P) + mu^(2-P)/(2-P)].
func (f Tweedie) Deviance(y, w float64, eta []float64) float64 {
	if !f.inside(w, eta) {
		return math.NaN()
	}
	return times(2*w, f.halfDeviance(y, eta[0]))
}

// halfDeviance is y^(2-P) [h((2-P) d)/(2-P) + h((1-P) d)/(P-1)] with h(x) = exp(x) - 1 -
// x and d = eta - log y.
func (f Tweedie) halfDeviance(y, eta float64) float64 {
	a, b := 2-f.P, f.P-1
	if y == 0 {
		return math.Exp(a*eta) / a
	}
	l := math.Log(y)
	if d := eta - l; math.Abs(d) > 1 { // exp(a l + a d) where y^a or exp(a d) alone overflows
		return max(0, math.Exp(a*eta)/a+math.Exp(l-b*eta)/b-math.Exp(a*l)/(a*b))
	}
	d := eta - l
	return math.Exp(a*l) * (exp1m(a*d)/a + exp1m(-b*d)/b)
}

func (f Tweedie) untrained() error {
	if f.Unknown() != nil {
		return errors.New("family tweedie: p is not found by training: give it, as tweedie(p=1.5) (a decomposition estimates it)")
	}
	return nil
}

// HasDispersion is true.
func (Tweedie) HasDispersion() bool { return true }

// Mass is false: positive responses have a density.
func (Tweedie) Mass() bool { return false }

// Traits: an exponential family that keeps its form in other units.
func (Tweedie) Traits() Traits { return Traits{Affine: true, Ratio: true} }

// Mean is exp(eta).
func (Tweedie) Mean(eta []float64) float64 {
	if len(eta) != 1 {
		return math.NaN()
	}
	return math.Exp(eta[0])
}

// Score of the logarithm of the mean: w (y - mu) mu^(1-P)/phi, information w
// mu^(2-P)/phi.
func (f Tweedie) Score(grad, info []float64, y, w float64, eta []float64, phi float64) {
	up := math.Exp((2 - f.P) * eta[0])
	grad[0] = w * (y*math.Exp((1-f.P)*eta[0]) - up) / phi
	if info != nil {
		info[0] = w * up / phi
	}
}

// logTweedieSaturated is log f(1; mu = 1, phi = xi). With a number j of amounts that is
// Poisson of mean lambda = 1/(xi (2-p)), amounts of shape a = (2-p)/(p-1) and scale
// xi (p-1) = 1/(a lambda),
//
//	f = sum_j Poisson(j; lambda) Gamma(1; j a, 1/(a lambda))
//	  = sum_j q(j) q(j a) j a exp(-h(log(lambda/j)) j (1 + a)),  h(x) = exp(x) - 1 - x
//
// q(x) being the Poisson probability of x at mean x (Dunn and Smyth 2005 sum the same
// series; written so its terms do not cancel). The terms are a bell of standard deviation
// s = sqrt(lambda (p-1)) or so. Where s is large its values j need not be the integers: by
// Poisson's summation formula a step of s/2 changes the sum by less than exp(-2 pi^2 4).
func logTweedieSaturated(p, logXi float64) float64 {
	logLambda := -logXi - math.Log(2-p)
	if logLambda > 200 { // beyond any rounding: the bell is the normal density
		return -(log2Pi + logXi) / 2
	}
	a, lambda := (2-p)/(p-1), math.Exp(logLambda)
	term := func(j float64) float64 {
		return logPoissonAt(j) + logPoissonAt(j*a) + math.Log(j) + math.Log(a) - times(j*(1+a), exp1m(logLambda-math.Log(j)))
	}
	start, step := max(1, math.Round(lambda)), 1.0
	if s := math.Sqrt(lambda * (p - 1)); s > 4 && lambda > 16*s {
		start, step = lambda, s/2
	}
	top := term(start)
	for start+step > start { // uphill, if the bell leans
		if v := term(start + step); v > top {
			start, top = start+step, v
			continue
		}
		break
	}
	const least = -45 // exp(-45) is far below 2^-53
	sum := 1.0
	for j := start + step; ; j += step {
		d := term(j) - top
		sum += math.Exp(d)
		if !(d > least) || j+step == j {
			break
		}
	}
	for j := start - step; j > 0; j -= step {
		d := term(j) - top
		if d > 0 { // the peak is below: begin there
			sum, top = sum*math.Exp(-d), top+d
			d = 0
		}
		sum += math.Exp(d)
		if d < least {
			break
		}
	}
	return top + math.Log(sum*step)
}

// logPoissonAt is x log x - x - log x! for any x > 0.
func logPoissonAt(x float64) float64 {
	if x < 16 {
		lg, _ := math.Lgamma(x + 1)
		return times(x, math.Log(x)) - x - lg
	}
	return -(log2Pi+math.Log(x))/2 - stirlingSeries(x)
}

// estimate maximises the log-likelihood over p and phi by Newton's method.
func (f Tweedie) estimate(s Sample) (Family, error) {
	at := [2]float64{0, 0} // logit of where p is between its bounds, log phi
	power := func(t float64) Tweedie {
		return Tweedie{lowestPower + (highestPower-lowestPower)*logistic(t)}
	}
	w, d := 0.0, 0.0
	for i, y := range s.Y {
		w += s.weight(i)
		d += power(0).Deviance(y, s.weight(i), s.Eta[i:i+1])
	}
	at[1] = math.Log(max(d/w, 1e-300))
	loglik := func(at [2]float64) float64 {
		g, phi, sum := power(at[0]), math.Exp(at[1]), 0.0
		for i, y := range s.Y {
			sum += g.LogLik(y, s.weight(i), s.Eta[i:i+1], phi)
		}
		return sum / w
	}
	best, err := climb(loglik, at)
	if err != nil {
		return f, fmt.Errorf("family tweedie: %w: give p, as in tweedie(p=1.5)", err)
	}
	return power(best[0]), nil
}
