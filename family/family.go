// Package family holds response distributions on the link scale of K additive
// predictors: support, log-likelihood, deviance, dispersion.
package family

// Family is the distribution of a response y given K predictors eta (link
// scale).
type Family interface {
	Name() string
	// Predictors is K.
	Predictors() int
	// Check says why y is outside the family's support, nil if it is inside.
	Check(y float64) error
	// LogLik is w-weighted log-likelihood of one row, all constants included; phi
	// is the dispersion (ignored where HasDispersion is false).
	LogLik(y, w float64, eta []float64, phi float64) float64
	// Deviance is the w-weighted unit deviance d(y, mu) of one row; NaN where the
	// family has none (K > 1).
	Deviance(y, w float64, eta []float64) float64
	// HasDispersion: phi is estimated as sum of deviances over sum of weights.
	HasDispersion() bool
	// Mass: a probability mass function, whose log-likelihood is at most 0.
	Mass() bool
	// Mean is E(y) given eta: response scale.
	Mean(eta []float64) float64
}
