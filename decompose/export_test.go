package decompose

// MaxRowNorm is the largest row 1-norm of the first basis.
func (s *Statistics) MaxRowNorm() float64 { return s.sum.Total().MaxRowNorm[0] }
