package projection

import (
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// Scaled is By M. Others may hold M: it is only read. M nil: nothing.
type Scaled struct {
	M  mat.Symmetric
	By float64
}

// Matrix is the product, to be read; nil of nothing.
func (s Scaled) Matrix() mat.Symmetric {
	if s.M == nil || s.By == 1 {
		return s.M
	}
	if many, ok := s.M.(*linalg.Structured); ok {
		return many.Scaled(s.By)
	}
	return s.own()
}

// own is the product in memory of its own, M being dense.
func (s Scaled) own() *mat.SymDense {
	out := linalg.Triangle(s.M.SymmetricDim())
	out.ScaleSym(s.By, s.M)
	return out
}

// common is what fits of one A = X'WX + S have but for their residual variances phi: phi A^-1 and phi A^-1 S A^-1, in raw
// coordinates. The fit that asks first maps it there, and the others have exact multiples.
type common struct{ cov, bias perScale }

// perScale is a matrix for one residual variance; nil: nobody has asked.
type perScale struct {
	m     mat.Symmetric
	scale float64
}

// of is the matrix for a residual variance, find being that if nobody has asked before.
func (p *perScale) of(scale float64, find func() mat.Symmetric) Scaled {
	if p.m == nil {
		p.m, p.scale = find(), scale
	}
	return Scaled{p.m, scale / p.scale}
}

// inCommon tells fits of one A what they have in common, unless they have it from the factor or with directions left open.
func inCommon(fits []*Fit) {
	for _, f := range fits {
		if _, dense := f.cov.(*mat.SymDense); len(fits) < 2 || !dense || f.dropped != nil || f.problem.factor != nil || !(f.Scale > 0) {
			return
		}
	}
	all := new(common)
	for _, f := range fits {
		f.common = all
	}
}
