package penalty

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
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

	Score float64 // the minimised criterion: -REML, -ML, GCV, UBRE or, of SelectGrouped, the mean squared error, in the original coordinates; of all responses
	Phi   float64 // REML's own scale estimate (RSS_w + alpha'S alpha)/(n - Mp); ML's rp/n; for GCV the same as Scale; known: the known one; of all responses together
	Scale float64 // the reported scale RSS_w/(n - edf), or the known one; used for Vp and Ve
	RSS   float64 // weighted residual sum of squares

	Vp *mat.SymDense // p x p Bayesian covariance scale (X'WX + S)^-1; nil if p = 0, or where Covariance alone has it
	Ve *mat.SymDense // p x p frequentist covariance F Vp; nil if Vp is, or with Options.WithoutVe

	// Vc is Vp with the uncertainty of the smoothing parameters (p x p; Wood, Pya
	// and Saefken 2016): Vp + J V J' and the second-order term by the factor
	// of X'WX + S in Problem's coordinates, as mgcv has it. Those at a bound count as known.
	// nil unless some were chosen by REML or ML, if Options.WithoutVc, where Vp is, or without
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

	// Other is a minimum of the criterion that was found besides; nil: none was, or it was not
	// looked for, since that would take long.
	Other *Minimum

	Status Status
	Log    []Step

	schur     *schur             // what was eliminated and factored last; nil: nothing
	structure *linalg.Structured // (X'WX + S)^-1 in place of Vp; nil: there is Vp
	fewRows   *fewRows           // nil: it was fitted as it is

	// Others are the fits of Problem.Others: their own Alpha, RSS, Scale, Vp, Ve, Vc and
	// EDF2, all else shared with this one. nil without.
	Others []*Fit
}

// perfect fills the fit of a response without residual. Its coefficients are those of
// the projection without penalty, by iterative refinement from the fit at floor.
func (f *Fit) perfect(p *Problem, s *search, rho, floor []float64) *Fit {
	f.Status = ZeroResidual
	f.finish(p, s, rho, 0)
	ok := s.solveAll(floor)
	for r, own := range f.all() {
		if ok && s.q > 0 && s.responses[r].zz > 0 && len(s.free) == s.params {
			if s.schur == nil {
				s.refine(r)
				s.basis.times(own.Alpha, s.at[r].alpha)
				own.RSS = s.residualOf(r)
			} else if f.structure != nil {
				own.refineByStructure(p.XX, p.responses()[r])
			}
		}
		own.Scale, own.Phi = 0, 0
		if own.Vp != nil {
			own.Vp.Zero()
			if own.Ve != nil {
				own.Ve.Zero()
			}
		}
	}
	return f
}

// refineByStructure makes alpha that of z without penalty.
func (f *Fit) refineByStructure(xx mat.Symmetric, z Response) {
	var left []float64 // X'W(z - X alpha)
	for range 5 {
		left = linalg.MulVec(xx, f.Alpha)
		for i, v := range left {
			left[i] = z.XZ[i] - v
		}
		floats.Add(f.Alpha, linalg.MulVec(f.structure, left))
	}
	f.RSS = math.Max(0, z.ZZ-floats.Dot(f.Alpha, z.XZ)-floats.Dot(f.Alpha, left))
}

// Covariance is Vp where that is nil for columns of many levels, as a matrix of few numbers for each of them; else Vp. nil: p = 0.
func (f *Fit) Covariance() mat.Symmetric {
	switch {
	case f.Vp != nil:
		return f.Vp
	case f.structure != nil:
		return f.structure.Scaled(f.Scale)
	}
	return nil
}

// refine makes alpha of response r, from the factor at hand, that without penalty.
func (c *criterion) refine(r int) {
	alpha := c.at[r].alpha
	left, more := mat.NewVecDense(c.q, nil), make([]float64, c.q)
	for range 5 {
		left.MulVec(c.gram, mat.NewVecDense(c.q, alpha))
		for i := range c.q {
			left.SetVec(i, c.responses[r].cross[i]-left.AtVec(i))
		}
		c.solveInto(more, make([]float64, c.q), left.RawVector().Data)
		for i, v := range more {
			alpha[i] += v
		}
	}
}

// all are f and the fits of the other responses.
func (f *Fit) all() []*Fit { return append([]*Fit{f}, f.Others...) }

// finish computes everything but the score at rho, in the coordinates of p.
func (f *Fit) finish(p *Problem, s *search, rho []float64, known float64) {
	for j, param := range s.set {
		if i := s.penalties[j].index; !f.Fixed[i] {
			f.Lambda[i] = math.Exp(rho[param])
			f.AtInfinity[i] = rho[param] >= s.hi[param]
		}
	}
	dim := len(p.XZ)
	f.EDF, f.EDF1 = make([]float64, len(p.Terms)), make([]float64, len(p.Terms))
	f.EDFTotal = s.one
	s.invertAt(rho)
	// F = I - (X'WX+S)^-1 S on what was kept, and S_j touches its own term only.
	// Unlike the diagonal of (X'WX+S)^-1 X'WX this does not cancel when lambda is
	// extreme.
	for t, term := range p.Terms {
		for i := term.Start; i < term.Start+term.Dim; i++ {
			f.EDF[t] += s.kept[i]
		}
		f.EDF1[t] = f.EDF[t]
	}
	for j := range s.penalties {
		pen := &s.penalties[j]
		f.EDF[pen.component] -= s.spentBy(j)
		// 2F - FF = I - (I - F)^2.
		for l := range s.penalties {
			f.EDF1[pen.component] -= s.traceProduct(j, l)
		}
	}
	for t, e := range f.EDF {
		f.EDF[t], f.EDF1[t] = math.Max(0, e), math.Max(0, f.EDF1[t]) // but for rounding
		f.EDFTotal += f.EDF[t]
	}
	var vp, ve *mat.SymDense // but for the scale
	if s.q > 0 {
		s.restoreInverse(rho)
		if f.schur = s.schur; f.schur == nil || p.many() == nil {
			vp, ve = s.covariances(p)
		} else {
			f.structure = s.schur.structure()
		}
	}
	for range p.Others {
		own := *f
		f.Others = append(f.Others, &own)
	}
	for r, own := range f.all() {
		own.finishResponse(s, r, known, dim, vp, ve)
	}
}

// finishResponse computes what is response r's own: coefficients, residual and the
// covariances, which are vp and ve but for the scale.
func (f *Fit) finishResponse(s *search, r int, known float64, dim int, vp, ve *mat.SymDense) {
	f.Alpha = make([]float64, dim)
	f.RSS = s.residualOf(r)
	if s.q > 0 {
		s.coefficients(f.Alpha, r)
	}
	f.Scale = known
	if known == 0 {
		if free := s.n - f.EDFTotal; free > 1e-9*s.n {
			f.Scale = f.RSS / free
		}
	}
	if dim == 0 {
		return
	}
	if s.q == 0 {
		f.Vp, f.Ve = mat.NewSymDense(dim, nil), mat.NewSymDense(dim, nil)
		return
	}
	if f.Vp, f.Ve = vp, ve; vp == nil {
		return
	}
	if r < len(s.responses)-1 { // the last one takes their memory
		f.Vp = mat.NewSymDense(dim, nil)
		if ve != nil {
			f.Ve = mat.NewSymDense(dim, nil)
		}
	}
	f.Vp.ScaleSym(f.Scale, vp)
	if ve != nil {
		f.Ve.ScaleSym(f.Scale, ve)
	}
}

// sandwich is b m b'.
func sandwich(b *mat.Dense, m *mat.SymDense) *mat.SymDense {
	return symmetric(productTrans(product(b, full(m)), b))
}
