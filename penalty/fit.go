package penalty

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Fit is a penalised least squares fit with its smoothing parameters. All
// coefficients and covariances are in the coordinates of Problem, for its p
// columns as centred; the intercept is the caller's. Nothing in it is NaN.
type Fit struct {
	Lambda     []float64 // one per penalty, in term order, on the scale of Problem's S
	Fixed      []bool    // that lambda was given, not chosen
	AtInfinity []bool    // lambda is capped: the term has shrunk to the null space of this S

	Alpha    []float64 // p coefficients; 0 along Dropped
	EDF      []float64 // effective degrees of freedom of each term
	EDFTotal float64   // their sum, and 1 for an intercept
	EDF1     []float64 // of each term by 2F - FF: an upper bound, for tests (Wood 2017, 6.12.2)
	EDF2     []float64 // of each term by Vc X'WX/Scale, so with the uncertainty of lambda; EDF1 if its sum is less; nil if Vc is

	Score float64 // the minimised criterion: -REML, -ML, GCV, UBRE or, of SelectGrouped, the mean squared error, in the original coordinates
	Phi   float64 // REML's own scale estimate (RSS_w + alpha'S alpha)/(n - Mp); ML's rp/n; for GCV the same as Scale; known: the known one
	Scale float64 // the reported scale RSS_w/(n - edf), or the known one; used for Vp and Ve
	RSS   float64 // weighted residual sum of squares

	Vp *mat.SymDense // p x p Bayesian covariance scale (X'WX + S)^-1; nil if p = 0
	Ve *mat.SymDense // p x p frequentist covariance F Vp; nil if p = 0

	// Vc is Vp with the uncertainty of the smoothing parameters (p x p; Wood, Pya
	// and Saefken 2016): Vp + J V J' and the second-order term by the factor
	// of X'WX + S in Problem's coordinates, as mgcv has it. Those at a bound count as known.
	// nil unless some were chosen by REML or ML, if Options.WithoutVc, or without
	// residual.
	Vc *mat.SymDense

	// Rank is the number of directions kept of the p columns (without the
	// intercept). Dropped (p x (p - Rank), orthonormal columns, original
	// coordinates; nil if there are none) are the directions that neither the
	// data nor a penalty determine: a column with a non-zero row in it is
	// aliased. Alpha has minimum norm among equals, in standardised columns.
	Rank    int
	Dropped *mat.Dense

	// Hessian of the objective in the log of the estimated lambdas, in order, at
	// the end, with one entry for each linked set, at its first, and none for those
	// that give a term its DF: of Score for REML and ML, of n/2 log Score for GCV
	// and grouped cross validation, of n/(2 scale) Score for UBRE. nil if none is
	// estimated.
	Hessian *mat.SymDense

	// LostDigits tells that the search came to smoothing parameters where X'WX + S has too
	// few digits, so that there may be a better fit beyond: see Problem.Factor.
	LostDigits bool

	Status Status
	Log    []Step
}

// Status says how the choice of smoothing parameters ended.
type Status uint8

const (
	// Converged: the gradient is zero up to the tolerance, or nothing was to be
	// chosen.
	Converged Status = iota
	// AtBound: converged, with at least one lambda at the end of its range:
	// infinity (see AtInfinity) or zero.
	AtBound
	// IterationLimit: MaxIterations were not enough; the fit is the last one.
	IterationLimit
	// StepFailed: no step along the search direction improves the criterion,
	// though its gradient is not zero up to the tolerance.
	StepFailed
	// ZeroResidual: the response is constant or lies in the span of the columns,
	// so the scale is zero and the criterion has no minimum. Alpha is the
	// projection, lambda the lower end of its range (the starting value for a
	// constant response); Score, Phi, Scale and the covariances are 0, Log and
	// Hessian empty. "Zero" is RSS_w at most 1e-13 z'Wz.
	ZeroResidual
)

// String names the status in words that fit a report.
func (s Status) String() string {
	switch s {
	case Converged:
		return "converged"
	case AtBound:
		return "converged at a bound"
	case IterationLimit:
		return "iteration limit"
	case StepFailed:
		return "step failed"
	case ZeroResidual:
		return "zero residual"
	}
	return fmt.Sprintf("Status(%d)", uint8(s))
}

// Step is one accepted iterate; the first is the start.
type Step struct {
	Iteration int
	Rho       []float64 // log lambda of the estimated penalties
	Score     float64   // as Fit.Score
	GradNorm  float64   // largest gradient component that is free to move
	Halvings  int       // how often the Newton step was halved
}
