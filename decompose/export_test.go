package decompose

// MaxRowNorm is the largest row 1-norm of the first basis.
func (s *Statistics) MaxRowNorm() float64 { return s.sum.Total().MaxRowNorm[0] }

// Judge gives the verdicts again.
func (r *Result) Judge() { r.judge() }

// MeanSquaredError is that of term j of predictor k.
func (r *Result) MeanSquaredError(k, j int) float64 {
	return r.Predictors[k].meanSquaredError(j, r.sum.Total().Predictor(k).Covariance)
}
