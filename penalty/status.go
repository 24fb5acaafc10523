package penalty

import "fmt"

// Status says how the choice of smoothing parameters ended.
// Not to converge is a status and no error.
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
