package family

import "math"

// Differentiable is a family that can be fitted by its gradient.
//
// Laws. Score writes d LogLik/d eta_k to grad and the expected information
// -E d2 LogLik/d eta_k^2 >= 0 to info, both of length K, at the same arguments as
// LogLik, which must be in their domains (y in the support, w >= 0, phi > 0,
// finite eta). A row of weight 0 has zeros. A nil info is not written.
type Differentiable interface {
	Family
	Score(grad, info []float64, y, w float64, eta []float64, phi float64)
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
	slope := 1.0
	if f.Scale == SoftplusScale {
		slope = logistic(eta[1]) / softplus(eta[1])
	}
	inv := math.Exp(-f.Scale.logSigma(eta[1]))
	z := (y - eta[0]) * inv
	grad[0], grad[1] = w*z*inv, (w*z*z-1)*slope
	if info != nil {
		info[0], info[1] = w*inv*inv, 2*slope*slope
	}
}

// Score of the log odds: w (y - mu), information w mu (1 - mu).
func (Binomial) Score(grad, info []float64, y, w float64, eta []float64, _ float64) {
	mu, other := logistic(eta[0]), logistic(-eta[0])
	grad[0] = w * (y - mu)
	if info != nil {
		info[0] = w * mu * other
	}
}

// Score of the logarithm of the mean: w (y - mu), information w mu.
func (Poisson) Score(grad, info []float64, y, w float64, eta []float64, _ float64) {
	mu := math.Exp(eta[0])
	grad[0] = w * (y - mu)
	if info != nil {
		info[0] = w * mu
	}
}

// logistic is 1/(1 + exp(-x)) without overflow.
func logistic(x float64) float64 {
	e := math.Exp(-math.Abs(x))
	if x >= 0 {
		return 1 / (1 + e)
	}
	return e / (1 + e)
}
