package projection

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// standardisedMeans are the means of the columns by their standard deviations, 0 of constant ones;
// nil where columns are not about their means.
func (f *Fit) standardisedMeans() []float64 {
	if f.problem.sums.XMean == nil {
		return nil
	}
	mean := make([]float64, len(f.sd))
	for i, sd := range f.sd {
		if sd > 0 {
			mean[i] = f.problem.sums.XMean[i] / sd
		}
	}
	return mean
}

// takenByLevels is x'(A + ridge I)^-1 x, A being the correlations of term f, if no row has two of
// its columns, as those of a factor's levels; nil if some has. About their means m such columns
// covary by -m_i m_j, so that A = B - uu' with u = m/sd and B = I + diag(u_i^2), and for
// E = (B + ridge I)^-1
//
//	(A + ridge I)^-1 = E + E uu'E / (1 - u'E u)
//
// (Sherman and Morrison). Where the levels make the constant, 1 - u'Eu is as small as the ridge, which
// is far above rounding.
func (s *spans) takenByLevels(f int, x *mat.Dense) *mat.Dense {
	lo, hi := s.start[f], s.start[f+1]
	mean := s.mean
	if _, many := s.corr.(*linalg.Structured); many && len(mean) == 0 { // columns about 0
		mean = make([]float64, hi)
	}
	if len(mean) == 0 || !apartRows(s.terms[f].corr, mean[lo:hi]) {
		return nil
	}
	u := mean[lo:hi]
	_, m := x.Dims()
	half, along, left := mat.DenseCopyOf(x), make([]float64, m), 1.0 // E^1/2 x, x'E u and 1 - u'E u
	for i, v := range u {
		e := 1 / (1 + v*v + ridge(s.tolerance))
		left -= v * v * e
		floats.AddScaled(along, v*e, x.RawRowView(i))
		floats.Scale(math.Sqrt(e), half.RawRowView(i))
	}
	if !(left > 0) {
		return nil
	}
	taken := mat.NewSymDense(m, nil)
	linalg.AddGram(taken, half)
	taken.SymRankOne(taken, 1/left, mat.NewVecDense(m, along))
	return linalg.Mirror(taken)
}

// apartRows tells whether the products of standardised columns with correlations a and means u are
// zero about 0, but for rounding.
func apartRows(corr mat.Symmetric, u []float64) bool {
	a, dense := corr.(*mat.SymDense)
	if !dense { // which the sums tell
		return true
	}
	const rounding = 1e-12 // relative to the lengths of both columns
	length, raw := make([]float64, len(u)), a.RawSymmetric()
	for i, v := range u {
		length[i] = math.Sqrt(1 + v*v)
	}
	for i, v := range u {
		row, least := raw.Data[i*raw.Stride:][:len(u)], rounding*length[i]
		for j := i + 1; j < len(u); j++ {
			if p := row[j] + v*u[j]; p > least*length[j] || p < -least*length[j] {
				return false
			}
		}
	}
	return true
}
