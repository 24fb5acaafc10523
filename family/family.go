// Package family holds response distributions on the link scale of K additive
// predictors, and the links: support, log-likelihood, deviance, mean and dispersion.
//
// Families say how well a predictor explains a response (McFadden's
// R2, deviance R2, the paper's section on feature importance); those that are
// Differentiable can also be fitted by their gradient.
//
// The prior weight w of a row means the same in every family that it means in
// R's glm and mgcv: a dispersion of phi/w for gaussian and whatever has a
// dispersion, w independent repetitions of the row for the others. A row of weight 0
// counts for nothing, whatever its response.
//
// Constants of single trials, as the binomial coefficient, are left out of log-likelihoods, so that
// grouped and single trials give one figure.
package family

// Family is the distribution of a response y given its K predictors eta (link
// scale). Implementations are immutable values, safe for concurrent use.
//
// Laws. The methods of one row need y to have passed Check, len(eta) = K, w >= 0
// and (with a dispersion) phi >= 0; they return NaN for another length of eta
// and for other w and phi. At w = 0 LogLik is 0, and so is Deviance if K = 1.
// Deviance is never negative, is 0 where the mean equals y (but for beta, AFT and Cox), and
// doubles with w.
// At infinite predictors the methods return their limits.
type Family interface {
	// Name is what Parse knows the family by.
	Name() string
	// Predictors is K.
	Predictors() int
	// Link is that of predictor k, 0 <= k < K.
	Link(k int) Link
	// Check says why y is outside the family's support, nil if it is inside.
	Check(y float64) error
	// LogLik is the log-likelihood of one row of prior weight w, with all
	// constants that its comment does not exclude; phi is the dispersion (ignored
	// where HasDispersion is false).
	LogLik(y, w float64, eta []float64, phi float64) float64
	// Deviance is w times the unit deviance d(y, mu) of one row: twice the
	// log-likelihood (at phi = 1; 1/phi of it at another) that mu falls short of the
	// best, which is mu = y but for those three. NaN where the family has none (K > 1).
	Deviance(y, w float64, eta []float64) float64
	// HasDispersion reports whether phi is a parameter. It is estimated as the sum of
	// deviances over the sum of weights.
	HasDispersion() bool
	// Mass reports whether responses have probabilities, so that log-likelihoods are at
	// most 0 and do not depend on the units of y, and not densities.
	Mass() bool
	// Mean is E(y) given eta: response scale.
	Mean(eta []float64) float64
}
