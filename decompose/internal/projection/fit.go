package projection

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
	"github.com/pho-go/pho/penalty"
)

// MinProductTolerance is the smallest rank tolerance that products decide: they hold
// the squares of singular values, in sixteen digits.
const MinProductTolerance = 1e-6

// fewDigits: a fit that hangs on an eigenvalue of the standardised products this
// small, relative to the largest, is good to four or five digits: its error is about
// 1e-15 over the eigenvalue.
const fewDigits = 1e-10

// Fit is alpha and what goes with it. Slices by block are in the blocks' order.
type Fit struct {
	EDF        []float64        // by block
	EDF1, EDF2 []float64        // by block, for tests and with the uncertainty of smoothing; nil: not known
	EDFTotal   float64          // with the intercept
	Rank       int              // without the intercept and kept blocks
	Scale      float64          // residual variance
	Lambda     [][]float64      // smoothing parameters by block; nil of kept blocks
	AtInfinity [][]bool         // which of them left only their penalty's null space
	Score      *float64         // of the smoothing criterion; nil: nothing was chosen or given
	Other      *penalty.Minimum // another minimum of it; nil: see penalty.Fit
	Status     string           // of the selection; "": none
	Iterations int

	problem *Problem
	alpha   []float64     // constrained
	cov     mat.Symmetric // of alpha; nil: no column
	vague   *mat.SymDense // what the uncertainty of smoothing parameters adds to cov; nil: not known, or nothing
	// shrinkage and shrinkageIn are penalty.Fit's; nil: not known.
	shrinkage   func() mat.Symmetric
	shrinkageIn func(expand func(*mat.Dense) *mat.Dense) *mat.SymDense
	sandwich    *penalty.Sandwich // nil: there is none
	common      *common           // with other fits; nil: it shares nothing
	dropped     *mat.Dense        // orthonormal directions of standardised columns left out (c x r); nil if none
	sd          []float64         // scale of each column, 0 for a constant one
	corr        mat.Symmetric     // of the columns; nil if there are none, or ForgetCorrelations was called
	back        *mat.Dense        // N H of Settle (see spread); nil: aliasing left nothing open
	// weakest is the smallest eigenvalue of the standardised X'WX + S on the
	// directions kept, relative to the largest of X'WX: moments hold sixteen digits
	// of it. It is 1 if nothing is projected on.
	weakest float64
}

// newFit is a fit of p with the scales and correlations of its columns. Without a factor
// these take the memory of p's products, which are gone then (see products).
func newFit(p *Problem) *Fit {
	f := &Fit{problem: p, sd: standardDeviations(p.sums), weakest: 1}
	xx := p.sums.XX
	if p.factor != nil && xx != nil {
		own := mat.NewSymDense(len(f.sd), nil)
		own.CopySym(p.sums.XX)
		xx = own
	} else {
		p.sums.XX = nil
	}
	f.corr = correlations(xx, p.sums.SumW, f.sd)
	return f
}

// products are X'WX a of the problem; columns of zeros, to rounding, have none.
func (f *Fit) products(a []float64) *mat.VecDense {
	x := make([]float64, len(f.sd))
	floats.MulTo(x, a, f.sd)
	out := linalg.MulVec(f.corr, x)
	floats.Mul(out, f.sd)
	floats.Scale(f.problem.sums.SumW, out)
	return mat.NewVecDense(len(out), out)
}

// Alpha are the raw coefficients that move from the deep part to the terms.
func (f *Fit) Alpha() []float64 { return f.raw(f.alpha, f.problem.beta) }

// raw are the raw coefficients that move: alpha is constrained, beta (raw) was projected
// along if the total was.
func (f *Fit) raw(alpha, beta []float64) []float64 {
	moved := f.problem.columns.expand(alpha)
	if f.problem.total {
		floats.Sub(moved, beta)
	}
	return moved
}

// Covariance is that of the raw coefficients; nil if there are none.
func (f *Fit) Covariance() mat.Symmetric { return f.problem.columns.expandCov(f.cov) }

// Sandwich is a way to A^-1 m A^-1 for symmetric m, A^-1 being Covariance but for the scale.
type Sandwich struct {
	// Lo and Hi are the raw columns of which few numbers of m are read if they have products with near ones only
	// (linalg.Near); Hi 0: there are none.
	Lo, Hi int
	// Around is A^-1 m A^-1 + base; base nil: 0. It uses up m.
	Around func(m linalg.Shifted, base mat.Symmetric) mat.Symmetric
}

// Sandwich has less work than two products; nil: there is no such way.
func (f *Fit) Sandwich() *Sandwich {
	if f.sandwich == nil || f.dropped != nil || f.problem.factor != nil {
		return nil
	}
	columns, sandwich := f.problem.columns, f.sandwich
	lo, hi := sandwich.Eliminated()
	if start, ok := columns.asRaw(lo, hi); ok && hi > lo {
		return &Sandwich{Lo: start, Hi: start + hi - lo, Around: sandwich.In(columns.expandRows, start).Around}
	}
	return &Sandwich{Around: func(m linalg.Shifted, base mat.Symmetric) mat.Symmetric {
		v := columns.expandCov(sandwich.Around(linalg.Shifted{M: columns.reduce(m.Sum()).(*mat.SymDense)}, nil))
		return linalg.Plus(v, base)
	}}
}

// TakeCovariance is Covariance in the memory of the fit, if nothing is to be mapped, and ForgetCovariance.
func (f *Fit) TakeCovariance() mat.Symmetric {
	cov := f.cov
	f.ForgetCovariance()
	if f.common == nil {
		return f.problem.columns.expandOwn(cov)
	}
	return f.common.cov.of(f.Scale, func() mat.Symmetric { return f.problem.columns.expandOwn(cov) }).own()
}

// ForgetCovariance gives back the memory of the covariance; Covariance, SmoothingBias, Sandwich and
// Response are not to be called any more.
func (f *Fit) ForgetCovariance() {
	f.cov, f.vague, f.shrinkage, f.shrinkageIn, f.sandwich = nil, nil, nil, nil, nil
}

// ForgetCorrelations gives back the memory of the columns' correlations; Orthogonality, Concurvity, Aliases,
// AliasesIn, Settle and Response are not to be called any more.
func (f *Fit) ForgetCorrelations() { f.corr = nil }

// LostDigits tells whether the solution hangs on digits that products do not hold.
func (f *Fit) LostDigits() bool { return f.problem.factor == nil && f.weakest < fewDigits }

// Orthogonality is the largest |correlation| between a column and the residual of the
// projection; directions below the rank tolerance are not projected on.
func (f *Fit) Orthogonality() float64 {
	p := f.problem.sums
	if f.problem.factor != nil {
		return f.problem.factor.orthogonality(f.alpha, f.sd, p.SumW)
	}
	n := len(f.alpha)
	if n == 0 {
		return 0
	}
	fitted := f.products(f.alpha)
	left := p.ZZ - 2*floats.Dot(p.XZ, f.alpha) + mat.Dot(fitted, mat.NewVecDense(n, f.alpha))
	if !(left > 1e-20*p.ZZ) {
		return 0
	}
	var worst float64
	for i, sd := range f.sd {
		if sd > 0 {
			r := (p.XZ[i] - fitted.AtVec(i)) / (sd * math.Sqrt(p.SumW*left))
			worst = math.Max(worst, math.Abs(r))
		}
	}
	return worst
}

// reading is the rank tolerance for what is read from correlations.
func (c *Constrained) reading() float64 { return math.Max(c.tolerance, MinProductTolerance) }

// standardDeviations is the root mean square of each column (centred where the
// problem is): 0 where rounding is all there is.
func standardDeviations(p *penalty.Problem) []float64 {
	sd := make([]float64, len(p.XZ))
	for i := range sd {
		sd[i] = math.Sqrt(math.Max(p.XX.At(i, i), 0) / p.SumW)
	}
	return sd
}

// correlations overwrites xx with D^-1 XX D^-1 / SumW; rows and columns with sd 0 are zero.
func correlations(xx mat.Symmetric, sumW float64, sd []float64) mat.Symmetric {
	if len(sd) == 0 {
		return nil
	}
	over := make([]float64, len(sd))
	for i, s := range sd {
		if s > 0 {
			over[i] = 1 / (s * math.Sqrt(sumW))
		}
	}
	return linalg.ScaledBoth(xx, over)
}

// symmetrised is (A + A')/2.
func symmetrised(a *mat.Dense) *mat.SymDense {
	n, _ := a.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
		}
	}
	return s
}
