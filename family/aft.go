package family

import (
	"math"
)

// TimeDistribution is that of a time, by the distribution of its logarithm.
type TimeDistribution uint8

const (
	LogNormal   TimeDistribution = iota // log y is normal
	Weibull                             // log y is that of a smallest value (Gumbel)
	LogLogistic                         // log y is logistic
)

// AFT is an accelerated failure time model of two predictors: log y = mu + sigma z,
// predictors mu and log sigma, z having a standard distribution (Kalbfleisch and Prentice
// 2002, 2.2; R's survreg calls sigma the scale). Responses are positive, times or not: an
// AFT of LogNormal is the lognormal family. Responses may be right censored (see
// Censored). Hold gives the family of one predictor, whose sigma is a number.
type AFT struct {
	Distribution TimeDistribution
	censored     bool
}

// Name is "lognormal", "weibull" or "log-logistic".
func (f AFT) Name() string {
	switch f.Distribution {
	case Weibull:
		return "weibull"
	case LogLogistic:
		return "log-logistic"
	}
	return "lognormal"
}

// Predictors is 2.
func (AFT) Predictors() int { return 2 }

// Link is the identity of the logarithm of a time, and the logarithm of its scale.
func (AFT) Link(k int) Link {
	if k == 0 {
		return Link{Name: "identity of log time"}
	}
	return Link{Name: "log"}
}

// Parameters are mu and scale, or sigma if LogNormal.
func (f AFT) Parameters() []string {
	if f.Distribution == LogNormal {
		return []string{"mu", "sigma"}
	}
	return []string{"mu", "scale"}
}

// Check accepts the finite positive numbers.
func (f AFT) Check(y float64) error { return checkPositive(f.Name(), y) }

func (f AFT) censor() Family {
	f.censored = true
	return f
}

// standard is z = (log y - mu)/sigma.
func (AFT) standard(y float64, eta []float64) float64 {
	return times(math.Log(y)-eta[0], math.Exp(-eta[1]))
}

// LogLik is w [log f(z) - log sigma - log y], f being the density of z; w log P(Z > z) of
// a censored row; phi is ignored.
func (f AFT) LogLik(y, w float64, eta []float64, _ float64) float64 {
	if len(eta) != 2 || !(w >= 0) {
		return math.NaN()
	}
	z := f.standard(y, eta)
	if f.censored {
		return times(w, f.Distribution.logSurvival(z))
	}
	d := f.Distribution.logDensity(z)
	if math.IsInf(d, -1) {
		return times(w, d)
	}
	return times(w, d-eta[1]-math.Log(y))
}

// Deviance is NaN: it belongs to a sigma that is held.
func (AFT) Deviance(y, w float64, eta []float64) float64 { return math.NaN() }

// deviance is 2 log[f(0)/f(z)], f being largest at 0; of a censored row -2 log P(Z > z).
func (f AFT) deviance(y float64, eta []float64) float64 {
	z := f.standard(y, eta)
	switch {
	case f.censored:
		return -2 * f.Distribution.logSurvival(z)
	case f.Distribution == Weibull:
		return 2 * exp1m(z)
	case f.Distribution == LogLogistic:
		if t := math.Tanh(z / 2); math.Abs(z) < 1 { // 4 log cosh(z/2)
			return -2 * math.Log1p(-t*t)
		}
		return max(0, 2*math.Abs(z)+4*math.Log1p(math.Exp(-math.Abs(z)))-4*math.Ln2)
	}
	return z * z
}

// HasDispersion is false: sigma takes its place.
func (AFT) HasDispersion() bool { return false }

// Mass is false: a density.
func (AFT) Mass() bool { return false }

// Mean is exp(mu) times exp(sigma^2/2), Gamma(1 + sigma), or pi sigma/sin(pi sigma) for
// sigma < 1 (infinite from 1).
func (f AFT) Mean(eta []float64) float64 {
	if len(eta) != 2 {
		return math.NaN()
	}
	sigma := math.Exp(eta[1])
	switch f.Distribution {
	case Weibull:
		lg, _ := math.Lgamma(1 + sigma)
		return math.Exp(eta[0] + lg)
	case LogLogistic:
		if sigma >= 1 {
			return math.Inf(1)
		}
		if sigma > 0 {
			return math.Exp(eta[0]) * math.Pi * sigma / math.Sin(math.Pi*sigma)
		}
		return math.Exp(eta[0])
	}
	return math.Exp(eta[0] + sigma*sigma/2)
}

// Score: with u = -d log f(z)/dz, w u/sigma and w (z u - 1). Information: w i/sigma^2 and w
// j, i = E u^2 and j = E (z u - 1)^2. Of a censored row, with the hazard h of z, w
// h/sigma and w z h, information w h'/sigma^2 and w (z^2 h' + z h).
func (f AFT) Score(grad, info []float64, y, w float64, eta []float64, _ float64) {
	grad[0], grad[1] = 0, 0
	if info != nil {
		info[0], info[1] = 0, 0
	}
	if w == 0 {
		return
	}
	z, inv := f.standard(y, eta), math.Exp(-eta[1])
	if f.censored {
		h, slope := f.Distribution.hazard(z)
		grad[0], grad[1] = w*times(h, inv), w*times(h, z)
		if info != nil {
			info[0], info[1] = w*times(slope, inv*inv), w*max(0, times(slope, z*z)+times(h, z))
		}
		return
	}
	u := f.Distribution.slope(z)
	grad[0], grad[1] = w*times(u, inv), w*(times(u, z)-1)
	if info != nil {
		i, j := f.Distribution.information()
		info[0], info[1] = w*i*inv*inv, w*j
	}
}

// Start has the given mean and variance, or nearly, without regard to censoring.
func (f AFT) Start(mean, variance float64) []float64 {
	cv := math.Sqrt(variance) / mean
	if math.IsNaN(cv) { // a mean that is infinite
		cv = 1
	}
	cv = max(cv, 0.01)
	sd := math.Sqrt(math.Log1p(min(cv, 100) * min(cv, 100))) // of log y, were it normal
	sigma := sd
	switch f.Distribution {
	case Weibull:
		sigma = sd * math.Sqrt(6) / math.Pi
	case LogLogistic:
		sigma = min(sd*math.Sqrt(3)/math.Pi, 0.9)
	}
	at := []float64{0, math.Log(sigma)}
	at[0] = math.Log(mean) - math.Log(f.Mean(at))
	return at
}

// logDensity is log f(z).
func (d TimeDistribution) logDensity(z float64) float64 {
	switch d {
	case Weibull:
		return -1 - exp1m(z) // z - exp(z)
	case LogLogistic:
		return -math.Abs(z) - 2*math.Log1p(math.Exp(-math.Abs(z)))
	}
	return -(log2Pi + z*z) / 2
}

// logSurvival is log P(Z > z).
func (d TimeDistribution) logSurvival(z float64) float64 {
	switch d {
	case Weibull:
		return -math.Exp(z)
	case LogLogistic:
		return -softplus(z)
	}
	switch {
	case z > farOut:
		_, rest := mills(z)
		return -z*z/2 - math.Log(z) - log2Pi/2 + rest
	case z > -1:
		return math.Log(math.Erfc(z/math.Sqrt2) / 2)
	}
	return math.Log1p(-math.Erfc(-z/math.Sqrt2) / 2)
}

// slope is -d log f/dz.
func (d TimeDistribution) slope(z float64) float64 {
	switch d {
	case Weibull:
		return math.Expm1(z)
	case LogLogistic:
		return math.Tanh(z / 2)
	}
	return z
}

// hazard is h = -d log P(Z > z)/dz, and its own derivative.
func (d TimeDistribution) hazard(z float64) (h, slope float64) {
	switch d {
	case Weibull:
		return math.Exp(z), math.Exp(z)
	case LogLogistic:
		return logistic(z), logistic(z) * logistic(-z)
	}
	if z > farOut {
		gap, _ := mills(z)
		return z + gap, (z + gap) * gap
	}
	h = math.Exp(d.logDensity(z) - d.logSurvival(z))
	return h, max(0, h*h-times(h, z))
}

// information is E u^2 and E (z u - 1)^2, u = -d log f/dz.
func (d TimeDistribution) information() (location, scale float64) {
	const euler = 0.57721566490153286061
	switch d {
	case Weibull:
		return 1, 1 + math.Pi*math.Pi/6 + euler*euler - 2*euler
	case LogLogistic:
		return 1. / 3, (3 + math.Pi*math.Pi) / 9
	}
	return 1, 2
}

// farOut is where the normal distribution's tail is that of its asymptotic series.
const farOut = 25

// mills is, for z > farOut, h - z with h the hazard of the normal distribution, and log(z/h)
// (Abramowitz and Stegun 1964, 26.2.12).
func mills(z float64) (gap, rest float64) {
	v := 1 / (z * z)
	tail := v * (1 - v*(3-v*(15-v*(105-v*(945-v*(10395-v*135135)))))) // 1 - z P(Z > z)/f(z)
	return z * tail / (1 - tail), math.Log1p(-tail)
}
