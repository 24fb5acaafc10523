package penalty

import "fmt"

// Criterion says how smoothing parameters are chosen.
type Criterion uint8

const (
	// REML minimises the negative Gaussian restricted log-likelihood, with the
	// scale profiled out or known (Wood 2017, 6.2.6).
	REML Criterion = iota
	// GCV minimises n RSS_w/(n - gamma edf)^2, or UBRE if the scale is known
	// (Wood 2017, 6.2.3).
	GCV
	// Fixed chooses nothing: every penalty brings its SP. The score is REML's.
	Fixed
	// ML minimises the negative Gaussian marginal likelihood: the penalised
	// coefficients, in an orthonormal basis of the range of the penalties in
	// Problem's coordinates, are integrated out, the others estimated (Wood 2017,
	// 6.2.6). With an intercept it needs Problem.XMean.
	ML
	// DF chooses nothing by the data: every penalty has its SP or its term a DF.
	// The score is REML's.
	DF
)

// String returns the name that ParseCriterion accepts.
func (m Criterion) String() string {
	switch m {
	case REML:
		return "reml"
	case GCV:
		return "gcv"
	case Fixed:
		return "fixed"
	case ML:
		return "ml"
	case DF:
		return "df"
	}
	return fmt.Sprintf("Criterion(%d)", uint8(m))
}

// ParseCriterion reads "reml", "ml", "gcv", "df" or "fixed".
func ParseCriterion(s string) (Criterion, error) {
	for _, m := range []Criterion{REML, ML, GCV, DF, Fixed} {
		if s == m.String() {
			return m, nil
		}
	}
	return 0, fmt.Errorf("penalty: unknown smoothing criterion %q: known are reml, ml, gcv, df and fixed", s)
}

// Options of Select. The zero value, or nil, is REML with the scale
// estimated. A penalty whose component gives its SP stays fixed by every criterion,
// and a component that gives its DF has it by every criterion but Fixed.
type Options struct {
	Criterion Criterion
	// Gamma > 1 asks for smoother fits: each effective degree of freedom counts
	// gamma times. 0 means 1.
	Gamma float64
	// Scale is the known residual variance; 0: estimated.
	Scale float64
	// RankTolerance: unpenalised directions of the standardised columns are aliased, and left out of the fit, if their
	// singular value is at most this times the largest among them, or times that of one column if that is larger. 0 means
	// 1e-6; below that moments cannot tell, and Select refuses.
	RankTolerance float64
	// MaxIterations of Newton's method; 0 means 100.
	MaxIterations int
	// Tolerance: done when every component of the gradient in log lambda, in
	// units of the log-likelihood, is at most Tolerance (1 + |score|). 0 means
	// 1e-9.
	Tolerance float64
	// WithoutVc leaves out Fit.Vc and EDF2, which cost a p x p product for each
	// smoothing parameter, as much as several iterations.
	WithoutVc bool
	// WithoutVe leaves out Fit.Ve, which costs two p x p products.
	WithoutVe bool
	// FewNumbers: X'WX of many levels that has no inverse of few numbers for each is an ErrManyNumbers. Else it becomes a matrix
	// with all of its numbers, of up to MaxWhole columns.
	FewNumbers bool
}

// withDefaults returns the options with zeros replaced, or why they are
// refused.
func (o *Options) withDefaults() (Options, error) {
	var v Options
	if o != nil {
		v = *o
	}
	if v.Criterion > DF {
		return v, fmt.Errorf("penalty: unknown smoothing criterion %v", v.Criterion)
	}
	if v.Gamma == 0 {
		v.Gamma = 1
	}
	if v.RankTolerance == 0 {
		v.RankTolerance = 1e-6
	}
	if v.MaxIterations == 0 {
		v.MaxIterations = 100
	}
	if v.Tolerance == 0 {
		v.Tolerance = 1e-9
	}
	switch {
	case !(v.Gamma > 0) || !finite(v.Gamma):
		return v, fmt.Errorf("penalty: gamma is %g: it must be positive (1 is usual, 1.5 smoother)", v.Gamma)
	case !(v.Scale >= 0) || !finite(v.Scale):
		return v, fmt.Errorf("penalty: the known scale is %g: it must be positive, or 0 to be estimated", v.Scale)
	case !(v.RankTolerance >= 1e-6) || v.RankTolerance >= 1:
		return v, fmt.Errorf("penalty: rank tolerance %g: moments hold squares, so they resolve no less than 1e-6, and it must be below 1", v.RankTolerance)
	case v.MaxIterations < 0:
		return v, fmt.Errorf("penalty: %d iterations: the limit must be positive", v.MaxIterations)
	case !(v.Tolerance > 0) || !finite(v.Tolerance):
		return v, fmt.Errorf("penalty: tolerance %g must be positive", v.Tolerance)
	}
	return v, nil
}
