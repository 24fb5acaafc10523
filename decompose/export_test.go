package decompose

import (
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// MaxRowNorm is the largest row 1-norm of the first basis.
func (s *Statistics) MaxRowNorm() float64 { return s.sum.Total().MaxRowNorm[0] }

// Ordered is the number at a place of numbers in order.
func Ordered(v []float64, place int) float64 { return ordered(v, place) }

// Judge gives the verdicts again.
func (r *Result) Judge() { r.judge() }

// MeanSquaredError is that of term j of predictor k.
func (r *Result) MeanSquaredError(k, j int) float64 {
	return r.Predictors[k].meanSquaredError(j, func(v *mat.SymDense, terms ...int) float64 {
		return linalg.TraceOfProduct(v, r.sum.Total().Predictor(k).Products(terms...))
	})
}

// Covariances are those of predictor k's raw coefficients, of the projection and of the
// last pass (nil: none), with the latter's of the intercept.
func (r *Result) Covariances(k int) (projection, robust *mat.SymDense, intercept []float64, variance float64) {
	d := &r.Predictors[k]
	if d.robust == nil {
		return d.cov, nil, nil, 0
	}
	return d.cov, d.robust.cov, d.robust.intercept, d.robust.variance
}

// Means are those of predictor k's raw columns.
func (r *Result) Means(k int) []float64 { return r.Predictors[k].mean }

// BandBytes are the sums of the bands.
func BandBytes(s *Explanation) []byte {
	var w sumsWriter
	s.bands.append(&w)
	return w.out
}
