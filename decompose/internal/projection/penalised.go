package projection

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/internal/base/linalg"
	"github.com/pho-go/pho/penalty"
)

// maxVc is the number of columns up to which the uncertainty of smoothing
// parameters is worked out: it costs as much as choosing them, or more.
const maxVc = 500

// Penalised is PHOGAM: alpha = (X'WX + S_lambda)^-1 X'W zeta (paper, equation
// adjpho) with lambda as the options say or, with groups, as leaving out one of these
// sets of rows after the other does. Products choose lambda, also those of a factor: they
// are quicker. Where they hold too few digits to choose by, the factor's rows do. What is
// fitted at lambda comes from the factor if there is one.
func (p *Problem) Penalised(ctx context.Context, groups []*moments.Moments, o penalty.Options) (*Fit, error) {
	fits, err := Shared{Problems: []*Problem{p}}.Penalised(ctx, groups, o)
	if err != nil {
		return nil, err
	}
	return fits[0], nil
}

// choiceLacksDigits tells whether the choice by products rests on digits that they do
// not hold.
func (f *Fit) choiceLacksDigits() bool {
	return f.weakest < fewDigits || f.Status == penalty.StepFailed.String()
}

// fitOf takes over what penalty.Select found; exact: from the factor's rows.
func (p *Problem) fitOf(fit *penalty.Fit, exact bool) (*Fit, error) {
	f := newFit(p)
	f.alpha, f.EDF, f.EDF1, f.EDF2, f.EDFTotal = fit.Alpha, fit.EDF, fit.EDF1, fit.EDF2, fit.EDFTotal
	f.Rank, f.cov, f.Scale, f.sandwich = fit.Rank, fit.Covariance(), fit.Scale, fit.Sandwich()
	f.shrinkage, f.shrinkageIn = fit.Shrinkage, fit.ShrinkageIn
	if fit.Vc != nil {
		f.vague = mat.NewSymDense(len(f.alpha), nil)
		for i := range f.alpha {
			for j := i; j < len(f.alpha); j++ {
				f.vague.SetSym(i, j, fit.Vc.At(i, j)-fit.Vp.At(i, j))
			}
		}
	}
	f.Status, f.Iterations = fit.Status.String(), len(fit.Log)
	if len(fit.Lambda) > 0 {
		f.Score, f.Other = &fit.Score, fit.Other
	}
	if f.weakest = f.weakestPenalised(); fit.LostDigits {
		f.weakest = 0
		if exact { // there are no more digits to be had
			f.Status = penalty.StepFailed.String()
		}
	}
	var err error
	if f.dropped, err = standardise(fit.Dropped, f.sd); err != nil {
		return nil, err
	}
	at := 0
	for _, t := range p.sums.Terms {
		f.Lambda = append(f.Lambda, fit.Lambda[at:at+len(t.S)])
		f.AtInfinity = append(f.AtInfinity, fit.AtInfinity[at:at+len(t.S)])
		at += len(t.S)
	}
	return f, nil
}

// withoutKept takes out what stands for kept blocks: a column each, with a penalty.
func (f *Fit) withoutKept() {
	for j, b := range f.problem.columns.blocks {
		if b.Kept {
			f.Rank--
			f.Lambda[j] = nil
			for _, edf := range [][]float64{f.EDF, f.EDF1, f.EDF2} {
				if edf != nil {
					edf[j] = 0 // but for rounding it was
				}
			}
		}
	}
}

// weakestPenalised bounds weakest from below, from the covariance: a matrix's
// largest row sum is no less than its largest eigenvalue.
func (f *Fit) weakestPenalised() float64 {
	if f.cov == nil || !(f.Scale > 0) {
		return 1
	}
	cov, dense := f.cov.(*mat.SymDense)
	if !dense {
		return f.weakestByTrace()
	}
	rows, raw := make([]float64, len(f.sd)), cov.RawSymmetric()
	for i, a := range f.sd { // of the upper triangle, which is also that of the lower one's columns
		for j, v := range raw.Data[i*raw.Stride+i : i*raw.Stride+raw.N] {
			v = math.Abs(v) * a * f.sd[i+j]
			rows[i] += v
			if j > 0 {
				rows[i+j] += v
			}
		}
	}
	inverse := floats.Max(append(rows, 0)) * f.problem.sums.SumW / f.Scale
	if largest := linalg.NormBound(f.corr); inverse > 0 && largest > 0 {
		return 1 / (inverse * largest)
	}
	return 1
}

// weakestByTrace is weakestPenalised of columns of many levels, where the covariance is a diagonal and a positive semidefinite
// matrix of few columns: its trace is no less than its largest eigenvalue.
func (f *Fit) weakestByTrace() float64 {
	cov := f.cov.(*linalg.Structured)
	largest, trace := 0.0, 0.0
	for i, v := range linalg.Diagonal(cov) {
		square := f.sd[i] * f.sd[i]
		largest = max(largest, cov.D[i]*square)
		trace += (v - cov.D[i]) * square
	}
	if inverse := (largest + trace) * f.problem.sums.SumW / f.Scale; inverse > 0 {
		return 1 / (inverse * linalg.NormBound(f.corr))
	}
	return 1
}

// standardise maps directions of coefficients to orthonormal directions of
// standardised columns.
func standardise(d *mat.Dense, sd []float64) (*mat.Dense, error) {
	if d == nil {
		return nil, nil
	}
	scaled := mat.DenseCopyOf(d)
	for i, s := range sd {
		if s > 0 { // a constant column is its own direction
			floats.Scale(s, scaled.RawRowView(i))
		}
	}
	_, r := d.Dims()
	for j := range r { // columns may differ by orders of magnitude
		v := scaled.ColView(j).(*mat.VecDense)
		if norm := mat.Norm(v, 2); norm > 0 {
			v.ScaleVec(1/norm, v)
		}
	}
	var svd mat.SVD
	if !svd.Factorize(scaled, mat.SVDThin) {
		return nil, errors.New("the singular value decomposition of the aliased directions did not converge")
	}
	var u mat.Dense
	svd.UTo(&u)
	return &u, nil
}
