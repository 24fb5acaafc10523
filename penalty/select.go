package penalty

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// zeroResidual is the share of z'Wz below which a residual is rounding.
const zeroResidual = 1e-13

// negativeResidual: a residual below minus this share of z'Wz shows that X'WX has lost
// its digits; ordinary rounding is far smaller.
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
	if rows, reduced := newFewRows(p, &opts); rows != nil {
		return rows.choose(ctx, p, reduced, &opts)
	}
	return choose(ctx, p, &opts, nil)
}

// choose is SelectContext for a valid problem; groups are those of grouped cross
// validation, else nil. Whatever came out when ctx was done is worth nothing.
func choose(ctx context.Context, p *Problem, opts *Options, groups []*Problem) (*Fit, error) {
	fit, err := chooseUntilDone(ctx, p, opts, groups, false)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return fit, err
}

// MaxWhole is up to how many columns X'WX of many levels may become a matrix with all of its numbers: a few minutes, and some ten
// matrices of 200 MB.
const MaxWhole = 5_000

// ErrManyNumbers is wrapped by errors about X'WX of many levels of which an inverse of few numbers for each is asked, and not to be had.
var ErrManyNumbers = errors.New("there is no inverse of few numbers")

// criterion is that of the options, made from p. Columns are eliminated first where that
// is a gain, unless dense.
func (p *Problem) criterion(ctx context.Context, opts *Options, groups []*Problem, live []bool, dense bool) (*criterion, error) {
	whole := opts.Criterion == ML || opts.Criterion == GCV || groups != nil
	crossed := false
	if !whole && !dense {
		var c *criterion
		if c, crossed = newSchur(ctx, p, live, opts); c != nil {
			return c, nil
		}
	}
	if many := p.many(); many != nil && (opts.FewNumbers || len(many.D) > MaxWhole) {
		if whole {
			return nil, fmt.Errorf("penalty: this criterion takes all products of %d columns with each other, and %d are the most: choose reml", len(many.D), MaxWhole)
		}
		return nil, fmt.Errorf("penalty: X'WX of %d columns: %w: columns of many levels are combinations of others, some have no row of positive weight, or there is nothing else, not even an intercept: leave out such levels, terms of the same columns and columns that are constant within levels, or take the levels as a random effect", len(many.D), ErrManyNumbers)
	}
	s, err := reduce(ctx, p, live, opts.RankTolerance)
	if err != nil {
		return nil, err
	}
	c := newCriterion(s, opts, p.links())
	c.crossed = crossed
	if opts.Criterion == ML {
		if err := c.withInside(p, live, opts); err != nil {
			return nil, err
		}
	}
	if groups != nil {
		c.kind = groupedCV
		if err := c.withFolds(p, groups, opts.RankTolerance); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// chooseUntilDone is choose; dense: with one matrix of all columns.
func chooseUntilDone(ctx context.Context, p *Problem, opts *Options, groups []*Problem, dense bool) (*Fit, error) {
	lambda, fixed, live := p.given()
	if err := p.unchosen(opts.Criterion, fixed); err != nil {
		return nil, err
	}
	c, err := p.criterion(ctx, opts, groups, live, dense)
	if err != nil {
		return nil, err
	}
	s := c.system
	search := newSearch(c, opts.Tolerance, fixed)
	start := append([]float64(nil), search.start...)
	for j := range s.penalties {
		if i := s.penalties[j].index; fixed[i] {
			start[c.set[j]] = math.Log(lambda[i])
		}
	}
	var targets []*target
	if opts.Criterion != Fixed {
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

	if err := search.raiseFloor(floor, lowest, start); err != nil {
		return nil, err
	}

	if s.stopped() {
		return nil, ctx.Err()
	}
	fit := &Fit{Lambda: lambda, Fixed: fixed, AtInfinity: make([]bool, len(lambda)), Rank: s.q, Dropped: s.dropped}
	without := residualIsZero(search, floor)
	if s.stopped() {
		return nil, ctx.Err()
	}
	if without && search.negative() {
		return nil, errSingular
	}
	if without {
		if c.schur != nil && p.many() == nil { // there is nothing to choose, and products are refined
			return chooseUntilDone(ctx, p, opts, groups, true)
		}
		if s.zz() == 0 {
			lowest = start
		}
		return fit.perfect(p, search, lowest, floor), nil
	}
	if free := s.n - opts.Gamma*s.mp(); (c.kind == REML || c.kind == DF || c.kind == Fixed) && opts.Scale == 0 && free <= 0 {
		return nil, fmt.Errorf("penalty: gamma %g times %g unpenalised directions exceeds the %g rows: lower gamma", opts.Gamma, s.mp(), s.n)
	}
	if len(targets) == 0 {
		start = search.near(start)
	}
	best, status, err := search.runWithTargets(start, opts.MaxIterations, targets)
	if err != nil {
		return nil, err
	}
	if s.stopped() {
		return nil, ctx.Err()
	}
	var other *point
	if len(targets) == 0 && groups == nil {
		search, best, status, other = search.startAgain(best, status, start, fixed, opts.MaxIterations)
		if s.stopped() {
			return nil, ctx.Err()
		}
	}
	fit.Status, fit.Log, fit.Score, fit.LostDigits = status, search.log, best.score, search.lostDigits
	fit.finish(p, search, best.rho, opts.Scale)
	if other != nil {
		fit.Other = fit.minimumAt(p, search, best, other)
	}
	for _, own := range fit.all() {
		own.Phi = best.phi
	}
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
		if (opts.Criterion == REML || opts.Criterion == ML) && groups == nil && !opts.WithoutVc && s.q > 0 && fit.structure == nil {
			fit.correct(p, search, best)
		}
		for _, own := range fit.Others {
			own.Hessian = fit.Hessian
		}
	}
	return fit, nil
}

// unchosen is an error if the criterion leaves the lambda of some penalty open.
func (p *Problem) unchosen(m Criterion, fixed []bool) error {
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
			return fmt.Errorf("penalty: term %q: smoothing parameters are fixed by the criterion but it has none for a penalty: give it one (sp=), or choose reml, ml or gcv", p.termOf(j))
		}
	}
	return nil
}

// residualIsZero tells whether z lies in the span of the columns: with every lambda at
// floor nothing is left of it, so no scale can be estimated. If the columns span all
// rows this holds for any z, and it is not counted: REML has a minimum then.
func residualIsZero(s *search, floor []float64) bool {
	if s.scale > 0 {
		return false // nothing to estimate
	}
	s.solveAll(floor)
	if s.zz() == 0 || s.n <= s.mp() {
		return true
	}
	if s.residual() > zeroResidual*s.zz() {
		return false
	}
	if len(s.free) == 0 {
		return true
	}
	s.invertAll(s.perPenalty(floor))
	return s.edfNow() < s.n-0.5
}

// negative tells whether rounding has made some residual clearly negative.
func (c *criterion) negative() bool {
	for r := range c.responses {
		if c.residualSum(r) < -negativeResidual*c.responses[r].zz {
			return true
		}
	}
	return false
}

// raiseFloor raises floor, and lowest with it, towards start until X'WX + S can be
// factored there. Basis functions that are zero in nearly all rows, as at the ends of a
// fine spline, need some penalty to be determined in floating point.
func (s *search) raiseFloor(floor, lowest, start []float64) error {
	for range 20 {
		if s.solveAll(floor) {
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

// ErrLostDigits is wrapped by errors about products X'WX in which rounding is larger than
// the numbers that decide the fit, because they are sums of numbers of very different
// size. Problem.Factor has those digits.
var ErrLostDigits = errors.New("X'WX holds too few digits of some direction that decides")

// solveAll is solve unless the factor is at hand, also for no columns.
func (c *criterion) solveAll(rho []float64) bool {
	each := c.perPenalty(rho)
	if c.q == 0 || c.solvedAt(each) && !c.inverted {
		return true
	}
	_, ok := c.solve(each)
	return ok
}

// invertAt is solve and invertAll unless their outcome is at hand.
func (c *criterion) invertAt(rho []float64) bool {
	each := c.perPenalty(rho)
	if c.solvedAt(each) && c.inverted {
		return true
	}
	ok := c.solveAll(rho)
	c.invertAll(each)
	return ok
}

func (c *criterion) solvedAt(each []float64) bool {
	return c.solved != nil && slices.Equal(c.solved, each)
}

// invertAll makes inverse and m for the factor at hand; each is one log lambda
// for each penalty.
func (c *criterion) invertAll(each []float64) {
	c.inverted = true
	if c.schur != nil {
		c.schur.invert()
		return
	}
	if c.q > 0 {
		c.invert()
	}
	c.middle(each)
}

// edfNow is the effective degrees of freedom with the intercept, after
// invertAll.
func (c *criterion) edfNow() float64 {
	edf := c.one + float64(c.q)
	for j := range c.penalties {
		edf -= c.spentBy(j)
	}
	return edf
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
