package family

import (
	"fmt"
	"math"
)

const log2Pi = 1.83787706640934548356065947281123527972 // log(2 pi)

// Gaussian is the normal distribution with mean eta (identity link, K = 1) and
// variance phi/w. The dispersion phi is sum w (y - eta)^2 / sum w.
type Gaussian struct{}

// Name is "gaussian".
func (Gaussian) Name() string { return "gaussian" }

// Predictors is 1: the mean.
func (Gaussian) Predictors() int { return 1 }

// Link is the identity of the mean.
func (Gaussian) Link(int) Link { return Link{Name: "identity", Of: Mean} }

// Check accepts every finite y.
func (f Gaussian) Check(y float64) error { return checkReal(f.Name(), y) }

// LogLik is -1/2 [log(2 pi phi/w) + w (y - eta)^2/phi]. With phi = 0 it is +Inf
// for a row that is met exactly and -Inf for any other.
func (Gaussian) LogLik(y, w float64, eta []float64, phi float64) float64 {
	if len(eta) != 1 || !(w >= 0) || !(phi >= 0) {
		return math.NaN()
	}
	if w == 0 {
		return 0
	}
	if phi == 1 {
		return logNormal(y-eta[0], w, 0)
	}
	return logNormal(y-eta[0], w, math.Log(phi)/2)
}

// Deviance is w (y - eta)^2, in squared units of y.
func (Gaussian) Deviance(y, w float64, eta []float64) float64 {
	if len(eta) != 1 || !(w >= 0) {
		return math.NaN()
	}
	r := y - eta[0]
	return times(w, r*r)
}

// HasDispersion is true: the variance.
func (Gaussian) HasDispersion() bool { return true }

// Mass is false: a density.
func (Gaussian) Mass() bool { return false }

// Traits: a location family, of least squares.
func (Gaussian) Traits() Traits { return Traits{Location: true, Units: true, LeastSquares: true} }

// Mean is eta itself.
func (Gaussian) Mean(eta []float64) float64 {
	if len(eta) != 1 {
		return math.NaN()
	}
	return eta[0]
}

// ScaleLink is how the predictor of a scale becomes a standard deviation.
type ScaleLink uint8

// The links of a scale.
const (
	LogScale      ScaleLink = iota // sigma = exp(eta)
	SoftplusScale                  // sigma = log(1 + exp(eta))
)

// logSigma is log(sigma) at predictor eta.
func (l ScaleLink) logSigma(eta float64) float64 {
	switch {
	case l == LogScale:
		return eta
	case l != SoftplusScale:
		return math.NaN()
	case eta < -37: // log(exp(eta)(1 - exp(eta)/2 + ...)) = eta in float64
		return eta
	default:
		return math.Log(softplus(eta))
	}
}

// GaussianLS is the normal distribution of networks with two heads (K = 2):
// eta[0] is the mean, eta[1] is the standard deviation sigma, less Floor, on the link
// Scale, and the variance of a row is sigma^2/w.
type GaussianLS struct {
	Scale ScaleLink // the zero value is the logarithm
	// Floor is what sigma is never below: sigma = Floor + exp(eta), or Floor +
	// log(1 + exp(eta)). Not negative; of another one likelihoods are NaN.
	Floor float64
}

// logSigma is log(sigma) at predictor eta.
func (f GaussianLS) logSigma(eta float64) float64 {
	l := f.Scale.logSigma(eta)
	switch {
	case f.Floor == 0 || l > 700: // beyond, the floor has no digit, and exp overflows
		return l
	case !(f.Floor > 0):
		return math.NaN()
	}
	return math.Log(f.Floor + math.Exp(l))
}

// slope is the derivative of log(sigma).
func (f GaussianLS) slope(eta float64) float64 {
	slope := 1.0
	if f.Scale == SoftplusScale {
		slope = logistic(eta) / softplus(eta)
	}
	if f.Floor == 0 {
		return slope
	}
	return slope / (1 + f.Floor*math.Exp(-f.Scale.logSigma(eta)))
}

// Name is "gaussian": Parse tells the two by the number of predictors.
func (GaussianLS) Name() string { return "gaussian" }

// Predictors is 2: the mean and the scale.
func (GaussianLS) Predictors() int { return 2 }

// Link is the identity of the mean, and that of the scale.
func (f GaussianLS) Link(k int) Link {
	switch {
	case k == 0:
		return Gaussian{}.Link(0)
	case f.Scale == SoftplusScale:
		return Link{Name: "softplus", Shift: f.Floor}
	}
	return Link{Name: "log", Shift: f.Floor}
}

// Parameters are mu and sigma.
func (GaussianLS) Parameters() []string { return []string{"mu", "sigma"} }

// Check accepts every finite y.
func (f GaussianLS) Check(y float64) error { return checkReal(f.Name(), y) }

// LogLik is -1/2 [log(2 pi sigma^2/w) + w (y - mu)^2/sigma^2]; phi is ignored.
func (f GaussianLS) LogLik(y, w float64, eta []float64, _ float64) float64 {
	if len(eta) != 2 || !(w >= 0) {
		return math.NaN()
	}
	if w == 0 {
		return 0
	}
	return logNormal(y-eta[0], w, f.logSigma(eta[1]))
}

// Deviance is NaN: a saturated row would have sigma = 0.
func (GaussianLS) Deviance(y, w float64, eta []float64) float64 { return math.NaN() }

// HasDispersion is false: the second predictor takes its place.
func (GaussianLS) HasDispersion() bool { return false }

// Mass is false: a density.
func (GaussianLS) Mass() bool { return false }

// Traits: a location family; softplus and floors have no units to give back.
func (f GaussianLS) Traits() Traits {
	return Traits{Location: true, Units: f.Scale == LogScale && f.Floor == 0}
}

// Mean is eta[0].
func (GaussianLS) Mean(eta []float64) float64 {
	if len(eta) != 2 {
		return math.NaN()
	}
	return eta[0]
}

// logNormal is the log-density of a residual r whose variance is sigma^2/w,
// w > 0. It takes log(sigma), which is exact where sigma over- or underflows.
func logNormal(r, w, logSigma float64) float64 {
	if math.IsInf(r, 0) {
		return math.Inf(-1)
	}
	half, z := 0.0, r // of unit weight and variance, as in training: no logarithm, no exponential
	if w != 1 {
		half = math.Log(w) / 2
	}
	if half != logSigma {
		z = times(r, math.Exp(half-logSigma))
	}
	if math.IsInf(z, 0) { // also at sigma = 0, where log(sigma) alone would win
		return math.Inf(-1)
	}
	return -(log2Pi+z*z)/2 - logSigma + half
}

func checkReal(name string, y float64) error {
	if math.IsNaN(y) || math.IsInf(y, 0) {
		return fmt.Errorf("family %s: response %v is outside the support, the finite real numbers", name, y)
	}
	return nil
}

// Score of the mean: w (y - eta)/phi, information w/phi.
func (Gaussian) Score(grad, info []float64, y, w float64, eta []float64, phi float64) {
	grad[0] = w * (y - eta[0]) / phi
	if info != nil {
		info[0] = w / phi
	}
}

// Score of mean and scale: with z = (y - mu)/sigma, w z/sigma and w z^2 - 1 times
// the derivative of log sigma; information w/sigma^2 and 2.
func (f GaussianLS) Score(grad, info []float64, y, w float64, eta []float64, _ float64) {
	if w == 0 {
		clear(grad)
		clear(info)
		return
	}
	slope, inv := f.slope(eta[1]), math.Exp(-f.logSigma(eta[1]))
	z := (y - eta[0]) * inv
	grad[0], grad[1] = w*z*inv, (w*z*z-1)*slope
	if info != nil {
		info[0], info[1] = w*inv*inv, 2*slope*slope
	}
}
