package decompose

// MaxRowNorm is the largest row 1-norm of the first basis.
func (s *Statistics) MaxRowNorm() float64 { return s.sum.Total().MaxRowNorm[0] }

// Judge gives the verdicts again.
func (r *Result) Judge() { r.judge() }

// SetLeveraged says which terms of predictor k rest on rows of their own.
func (r *Result) SetLeveraged(k int, v []bool) { r.Predictors[k].judging.leveraged = v }

// MeanSquaredError is that of term j of predictor k.
func (r *Result) MeanSquaredError(k, j int) float64 {
	d, lo := &r.Predictors[k], 0
	for _, t := range d.Terms[:j] {
		lo += len(t.Alpha)
	}
	return d.meanSquaredError(lo, productsOf(r.sum.Total().Predictor(k)), j)
}
