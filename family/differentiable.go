package family

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
