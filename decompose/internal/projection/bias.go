package projection

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// SmoothingBias is what smoothing adds to the variance of alpha, in raw coordinates:
//
//	phi A^-1 S A^-1 + (Vc - Vp),     phi A^-1 S A^-1 = phi (A^-1 - A^-1 X'WX A^-1), A = X'WX + S,
//
// the prior variance of what the penalties take from alpha (Nychka 1988; Wood 2017, 6.10),
// and the uncertainty of smoothing parameters that REML or ML has chosen (Wood, Pya and
// Saefken 2016), where it is known. By S the first keeps its digits where A is all but
// singular. nil without penalties or residual.
func (f *Fit) SmoothingBias() Scaled {
	if f.common == nil || f.vague != nil {
		return Scaled{f.smoothingBias(), 1}
	}
	return f.common.bias.of(f.Scale, f.smoothingBias)
}

func (f *Fit) smoothingBias() mat.Symmetric {
	if f.cov == nil || !(f.Scale > 0) {
		return nil
	}
	if f.shrinkage != nil && f.dropped == nil && f.problem.factor == nil {
		if f.vague == nil {
			if v := f.shrinkageIn(f.problem.columns.expandRows); v != nil {
				return v
			}
		}
		if v := f.shrinkage(); v != nil {
			if f.vague != nil {
				v = linalg.Plus(v, f.vague)
			}
			return f.problem.columns.expandOwn(v)
		}
	}
	penalties := f.penalties()
	if len(penalties) == 0 {
		return nil
	}
	sum := linalg.Around(linalg.Mirror(linalg.Dense(f.cov)), penalties)
	if f.vague != nil {
		sum.AddSym(sum, f.vague)
	}
	return f.problem.columns.expandOwn(sum)
}

// Penalties are S/phi by its blocks where SmoothingBias is V S/phi V, V being Covariance: a sandwich that adds them
// to what it is about has no need of that. nil elsewhere, or where there are none.
func (f *Fit) Penalties() []linalg.Block {
	if f.cov == nil || !(f.Scale > 0) || f.sandwich != nil || f.vague != nil || !f.problem.columns.isRaw() {
		return nil
	}
	return f.penalties()
}

// penalties are S/phi by its blocks.
func (f *Fit) penalties() (penalties []linalg.Block) {
	for j, t := range f.problem.sums.Terms {
		if t.Dim == 0 || len(f.Lambda[j]) == 0 {
			continue
		}
		s := mat.NewDense(t.Dim, t.Dim, nil)
		for i, lambda := range f.Lambda[j] {
			from := linalg.Dense(t.S[i]).RawSymmetric()
			for a := range t.Dim {
				for b := range t.Dim {
					s.Set(a, b, s.At(a, b)+lambda/f.Scale*from.Data[min(a, b)*from.Stride+max(a, b)])
				}
			}
		}
		if floats.Norm(s.RawMatrix().Data, 1) > 0 {
			penalties = append(penalties, linalg.Block{At: t.Start, B: s})
		}
	}
	return penalties
}
