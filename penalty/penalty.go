// Package penalty holds quadratic penalties and the selection of their
// smoothing parameters from the moments of the data: REML, ML, GCV, grouped
// cross validation, given degrees of freedom, or fixed (Wood 2017, chapters 5
// and 6), without another look at the rows.
// Criteria that need single rows, as leaving one out does, are left out for that reason.
package penalty

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// Penalty is a sum of quadratic penalties lambda_j a'S_j a on a block's d raw
// coefficients. The zero value penalises nothing.
type Penalty struct {
	// S are d x d each, positive semi-definite, unscaled. One that is zero off its diagonal may be a *mat.DiagDense, which takes room
	// and time for d numbers.
	S  []mat.Symmetric
	SP []float64 // fixed smoothing parameters; nil or negative: to be chosen
	// Link, one per S, names smoothing parameters that are one: penalties of any
	// terms with the same name, if it is not empty, have the same lambda on the
	// reported scale (mgcv's id). nil: each its own.
	Link []string
}

// Equal tells whether p and o are the same numbers.
func (p Penalty) Equal(o Penalty) bool {
	return slices.Equal(p.SP, o.SP) && slices.Equal(p.Link, o.Link) && slices.EqualFunc(p.S, o.S, func(a, b mat.Symmetric) bool {
		x, diagonal := a.(*mat.DiagDense)
		y, both := b.(*mat.DiagDense)
		if diagonal && both {
			return slices.Equal(linalg.Diagonal(x), linalg.Diagonal(y))
		}
		return a == b || !linalg.IsNil(a) && !linalg.IsNil(b) && mat.Equal(a, b)
	})
}

// Problem is a penalised least squares problem by its moments, on the scale and
// in the coordinates where smoothing parameters are reported: constraints
// absorbed, penalties scaled.
type Problem struct {
	Rows    int64   // n: rows of positive weight
	SumW    float64 // sum of weights
	SumLogW float64 // sum of log weights over those rows

	// With an intercept, XX (p x p), XZ (p) and ZZ are centred at the weighted
	// means and the intercept itself is not among the p columns. Without one
	// they are raw.
	Intercept bool
	XX        mat.Symmetric // X'WX: a *mat.SymDense, or one that this module's packages make for columns of many levels
	XZ        []float64     // X'Wz
	ZZ        float64       // z'Wz

	// Means that were subtracted, with an intercept; nil and 0 if unknown. They
	// serve to tell a constant from one that varies (a standard deviation below
	// 1e-13 of a column's mean is rounding, or 1e-12 of the response's), and ML and
	// SelectGrouped need them.
	XMean []float64 // p
	ZMean float64

	// Factor, if not nil, is a matrix [G, y], m x (p+1) with m > p, with G'G = XX, G'y = XZ
	// and y'y = ZZ: the triangular factor of the rows, say. Then criteria and fit are
	// computed from it by orthogonal transformations, which hold the digits that squares
	// lose, at several times the cost. SelectGrouped does not use it.
	Factor *mat.Dense

	// Others are further responses on the same rows and columns. One lambda is chosen for
	// each penalty for all of them, as if their rows were stacked, with one residual
	// variance: sums of squares are added up, and rows and unpenalised directions count
	// Independent times. nil: there is z alone.
	// Standard errors stay each response's own.
	Others []Response
	// Independent is how many of the responses, z and Others, are independent of each
	// other: K-1 of K that sum to zero in every row. 0: all.
	Independent float64

	Terms []Component // in column order, one a term; together they cover the p columns
}

// Response is another z on the columns of a Problem, as its XZ, ZZ, ZMean and the last
// column of its Factor are.
type Response struct {
	XZ        []float64 // p
	ZZ, ZMean float64
	Y         []float64 // m; nil without a Factor
}

// Component is a range of columns and its penalties there: what a term of a model is to
// the selection of its smoothing parameters.
type Component struct {
	Name       string
	Start, Dim int
	S          []mat.Symmetric // each Dim x Dim, as in Penalty; none: unpenalised
	SP         []float64       // as in Penalty
	Link       []string        // as in Penalty; an SP given for one of a set is given for all of it

	// DF > 0 asks for these effective degrees of freedom, as Fit.EDF counts them
	// (an intercept elsewhere): the term's free lambdas are moved together, in the
	// proportions in which selection starts, until its edf is DF. 0: not given.
	DF float64
}
