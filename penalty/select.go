package penalty

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// zeroResidual is the share of z'Wz below which a residual is rounding.
const zeroResidual = 1e-13

// negativeResidual is the share of z'Wz by which a residual is negative only if X'WX has
// lost its digits.
const negativeResidual = 1e-6

// Select chooses the smoothing parameters that are not fixed and returns the
// penalised fit alpha = (X'WX + sum_j lambda_j S_j)^-1 X'Wz. It sees moments
// only and costs O(p^3) per iteration. A nil o is REML. p is not changed and
// shares no memory with the fit. Errors are faults of the problem or the
// options, all the problem's at once; how the iteration ended is Fit.Status.
func Select(p *Problem, o *Options) (*Fit, error) {
	return SelectContext(context.Background(), p, o)
}

// SelectContext is Select that ends with ctx's error when ctx is done: between the
// blocks of a factorisation, but not within one eigendecomposition.
func SelectContext(ctx context.Context, p *Problem, o *Options) (*Fit, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, errors.New("penalty: no problem given")
	}
	if err := p.validate(); err != nil {
		return nil, err
	}
	return choose(ctx, p, &opts, nil)
}

// choose is SelectContext for a valid problem; groups are those of grouped cross
// validation, else nil. Whatever came out when ctx was done is worth nothing.
func choose(ctx context.Context, p *Problem, opts *Options, groups []*Problem) (*Fit, error) {
	fit, err := chooseWhile(ctx, p, opts, groups)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return fit, err
}

func chooseWhile(ctx context.Context, p *Problem, opts *Options, groups []*Problem) (*Fit, error) {
	lambda, fixed, live := p.given()
	if err := p.unchosen(opts.Method, fixed); err != nil {
		return nil, err
	}
	s, err := reduce(ctx, p, live, opts.RankTolerance)
	if err != nil {
		return nil, err
	}
	c := newCriterion(s, opts, p.links())
	if opts.Method == ML {
		if err := c.withInside(p, live, opts); err != nil {
			return nil, err
		}
	}
	if groups != nil {
		c.method = groupedCV
		if err := c.withFolds(p, groups, opts.RankTolerance); err != nil {
			return nil, err
		}
	}
	search := newSearch(c, opts.Tolerance, fixed)
	start := append([]float64(nil), search.start...)
	for j := range s.penalties {
		if i := s.penalties[j].index; fixed[i] {
			start[c.set[j]] = math.Log(lambda[i])
		}
	}
	var targets []*target
	if opts.Method != Fixed {
		if targets, err = search.targets(p, fixed); err != nil {
			return nil, err
		}
		if err := search.reach(start, targets); err != nil {
			return nil, err
		}
	}
	lowest, floor := append([]float64(nil), start...), append([]float64(nil), start...)
	for _, i := range search.free {
		lowest[i] = search.lo[i]
		floor[i] = lowest[i] + math.Log(1e-2) // where next to nothing is penalised
	}

	if err := search.raise(floor, lowest, start); err != nil {
		return nil, err
	}

	if s.stopped() {
		return nil, ctx.Err()
	}
	fit := &Fit{Lambda: lambda, Fixed: fixed, AtInfinity: make([]bool, len(lambda)), Rank: s.q, Dropped: s.dropped}
	without := noResidual(search, floor)
	if s.stopped() {
		return nil, ctx.Err()
	}
	if without && search.residualSum() < -negativeResidual*s.zz {
		return nil, errSingular
	}
	if without {
		if s.zz == 0 {
			lowest = start
		}
		return fit.perfect(p, search, lowest, floor), nil
	}
	if free := s.n - opts.Gamma*s.mp(); (c.method == REML || c.method == DF || c.method == Fixed) && opts.Scale == 0 && free <= 0 {
		return nil, fmt.Errorf("penalty: gamma %g times %g unpenalised directions exceeds the %g rows: lower gamma", opts.Gamma, s.mp(), s.n)
	}
	best, status, err := search.runWithTargets(start, opts.MaxIterations, targets)
	if err != nil {
		return nil, err
	}
	if s.stopped() {
		return nil, ctx.Err()
	}
	fit.Status, fit.Log, fit.Score, fit.LostDigits = status, search.log, best.score, search.lost
	fit.finish(p, search, best.rho, opts.Scale)
	fit.Phi = best.phi
	if n := len(search.free); n > 0 {
		fit.Hessian = mat.NewSymDense(n, nil)
		for a, j := range search.free {
			for b := a; b < n; b++ {
				fit.Hessian.SetSym(a, b, best.hess.At(j, search.free[b]))
			}
		}
		if s.stopped() {
			return nil, ctx.Err()
		}
		if (opts.Method == REML || opts.Method == ML) && groups == nil && !opts.WithoutVc && s.q > 0 {
			fit.correct(p, search, best)
		}
	}
	return fit, nil
}

// unchosen finds a penalty that the method leaves without a lambda.
func (p *Problem) unchosen(m Method, fixed []bool) error {
	if m != Fixed && m != DF {
		return nil
	}
	set, next := p.links(), 0
	aimed := make([]bool, len(set))
	for _, t := range p.Terms {
		for range t.S {
			aimed[set[next]] = aimed[set[next]] || t.DF > 0
			next++
		}
	}
	for j, f := range fixed {
		switch {
		case f || m == DF && aimed[set[j]]:
		case m == DF:
			return fmt.Errorf("penalty: term %q: degrees of freedom are to be given but it has none: give them (df=) or its smoothing parameter (sp=), or choose reml, ml or gcv", p.termOf(j))
		default:
			return fmt.Errorf("penalty: term %q: smoothing parameters are fixed by the method but it has none for a penalty: give it one (sp=), or choose reml, ml or gcv", p.termOf(j))
		}
	}
	return nil
}

// noResidual tells whether z lies in the span of the columns, so that no scale
// can be estimated: with lambda at its lower end nothing is left. Where the
// columns span all rows that is no statement about z, and REML still has a limit.
func noResidual(s *search, floor []float64) bool {
	if s.scale > 0 {
		return false // nothing to estimate
	}
	s.solveAll(floor)
	if s.zz == 0 || s.n <= s.mp() {
		return true
	}
	if s.residual() > zeroResidual*s.zz {
		return false
	}
	if len(s.free) == 0 {
		return true
	}
	s.invertAll(s.every(floor))
	return s.edfNow() < s.n-0.5
}

// raise lifts floor, and lowest with it, towards start until X'WX + S can be factored
// there: where hardly any row reaches a basis function, as at the ends of a fine
// spline, next to no penalty leaves it undetermined to rounding.
func (s *search) raise(floor, lowest, start []float64) error {
	for range 20 {
		if _, ok := s.solveAll(floor); ok {
			return nil
		}
		for _, i := range s.free {
			floor[i] = math.Min(start[i], floor[i]+math.Log(10))
			lowest[i] = math.Max(lowest[i], floor[i])
		}
	}
	return errSingular
}

var errSingular = fmt.Errorf("penalty: X'WX + S is not positive definite to rounding, or a fixed smoothing parameter is extreme: %w", ErrLostDigits)

// ErrLostDigits is in errors that products X'WX cause which are not those of any rows:
// sums of numbers of very different size left rounding in the place of what decides.
// A Problem whose products are those of a triangular factor of the rows has more digits.
var ErrLostDigits = errors.New("X'WX holds too few digits of some direction that decides")

// solveAll is solve, also for no columns.
func (c *criterion) solveAll(rho []float64) (float64, bool) {
	if c.q == 0 {
		return 0, true
	}
	return c.solve(c.every(rho))
}

// invertAll makes inverse and m for the factor at hand; each is one log lambda
// for each penalty.
func (c *criterion) invertAll(each []float64) {
	if c.q > 0 {
		c.invert()
	}
	c.middle(each)
}

// edfNow is the effective degrees of freedom with the intercept, after
// invertAll.
func (c *criterion) edfNow() float64 {
	edf := c.one + float64(c.q)
	for i := range c.rows {
		edf -= c.m.At(i, i)
	}
	return edf
}

// perfect fills the fit of a response without residual at rho: the projection
// itself, by iteration from the floor.
func (f *Fit) perfect(p *Problem, s *search, rho, floor []float64) *Fit {
	f.Status = ZeroResidual
	f.finish(p, s, rho, 0)
	if _, ok := s.solveAll(floor); ok && s.q > 0 && s.zz > 0 && len(s.free) == s.params {
		left, more := mat.NewVecDense(s.q, nil), make([]float64, s.q)
		for range 5 {
			left.MulVec(s.gram, mat.NewVecDense(s.q, s.alpha))
			for i := range s.q {
				left.SetVec(i, s.cross[i]-left.AtVec(i))
			}
			s.solveInto(more, left.RawVector().Data)
			for i, v := range more {
				s.alpha[i] += v
			}
		}
		mat.NewVecDense(len(f.Alpha), f.Alpha).MulVec(s.basis, mat.NewVecDense(s.q, s.alpha))
		f.RSS = s.residual()
	}
	f.Scale, f.Phi = 0, 0
	if f.Vp != nil {
		f.Vp.Zero()
		f.Ve.Zero()
	}
	return f
}

// finish computes everything but the score at rho, in the coordinates of p.
func (f *Fit) finish(p *Problem, s *search, rho []float64, known float64) {
	for j, param := range s.set {
		if i := s.penalties[j].index; !f.Fixed[i] {
			f.Lambda[i] = math.Exp(rho[param])
			f.AtInfinity[i] = rho[param] >= s.hi[param]
		}
	}
	dim := len(p.XZ)
	f.Alpha, f.EDF, f.EDF1 = make([]float64, dim), make([]float64, len(p.Terms)), make([]float64, len(p.Terms))
	f.EDFTotal = s.one
	s.solveAll(rho)
	s.invertAll(s.every(rho))
	f.RSS = s.residual()
	var basis *mat.Dense
	var unscaled *mat.SymDense
	if s.q > 0 {
		mat.NewVecDense(dim, f.Alpha).MulVec(s.basis, mat.NewVecDense(s.q, s.alpha))
		basis = s.innerBasis()
		unscaled = sandwich(basis, s.inverse)
	}
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
		for i := range pen.rank {
			f.EDF[pen.term] -= s.m.At(pen.lo+i, pen.lo+i)
		}
		// 2F - FF = I - (I - F)^2.
		for l := range s.penalties {
			f.EDF1[pen.term] -= s.traceProduct(j, l)
		}
	}
	for t, e := range f.EDF {
		f.EDF[t], f.EDF1[t] = math.Max(0, e), math.Max(0, f.EDF1[t]) // but for rounding
		f.EDFTotal += f.EDF[t]
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
	f.Vp, f.Ve = mat.NewSymDense(dim, nil), mat.NewSymDense(dim, nil)
	if s.q > 0 {
		f.Vp.ScaleSym(f.Scale, unscaled)
		f.Ve.ScaleSym(f.Scale, sandwich(full(unscaled), p.XX))
	}
}

// sandwich is b m b'.
func sandwich(b *mat.Dense, m *mat.SymDense) *mat.SymDense {
	return symmetric(productTrans(product(b, full(m)), b))
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
