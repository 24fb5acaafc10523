package importance

import "github.com/pho-go/pho/decompose"

// EV are the shares of a predictor's variance (link scale, weighted, over the
// training rows). They add up to 1. They are never clamped: under a penalty the
// parts covary, and where they covary negatively the first two exceed 1 together.
type EV struct {
	Structured      float64 `json:"structured"`       // Var(eta_str)/Var(eta)
	Unstructured    float64 `json:"unstructured"`     // Var(eta_unstr)/Var(eta)
	TwiceCovariance float64 `json:"twice_covariance"` // 2 Cov(eta_str, eta_unstr)/Var(eta)
}

// ExplainedVariance divides v by its total. A predictor that does not vary has
// nothing to explain: all three are 0 then.
func ExplainedVariance(v decompose.Variance) EV {
	if !(v.Total > 0) {
		return EV{}
	}
	return EV{
		Structured:      v.Structured / v.Total,
		Unstructured:    v.Unstructured / v.Total,
		TwiceCovariance: v.TwiceCovariance / v.Total,
	}
}
