package decompose

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/decompose/internal/projection"
	"github.com/pho-go/pho/internal/base/linalg"
)

// solver decomposes one predictor by the moments.
type solver struct {
	plan    *plan
	k       int
	d       planned
	moments *moments.Moments
	groups  []*moments.Moments // for cross validation; nil: none
	method  Method
	o       *Options

	unitsOnly bool // columns that others span are all of learned terms

	columns  *projection.Constrained
	networks []*projection.Constrained // with the deep part of each of several networks
	fit      *projection.Fit
	// Raw coefficients: the network's own, what moves, and their sum.
	beta, alpha, after []float64

	nesting       projection.Nesting
	hierarchy     *projection.Hierarchy // nil: terms stay as they are fitted
	splits        splits                // of beta and of after
	networkSplits []splits              // of several networks

	out      Predictor
	warnings []string
}

// solve is algorithm 2 (paper) from the moments on, with penalties where the method says
// so, and what there is to tell about the outcome.
func (s *solver) solve(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		s.constrain,
		s.project,
		s.settle,
		s.coefficients,
		s.describe,
		s.given,
		s.inseparable,
		s.members,
		s.orders,
		s.check,
		s.verdicts,
	} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// constrain finds the coordinates in which the coefficients are free.
func (s *solver) constrain(context.Context) (err error) {
	if s.columns != nil {
		return nil
	}
	tolerance := s.o.tolerance(s.d)
	s.columns, err = projection.Constrain(s.moments, s.k, s.plan.resolved(s.d, s.moments, s.o), tolerance)
	if err != nil {
		return err
	}
	s.warnings = append(s.warnings, s.columns.Notes()...)
	s.out.Name, s.out.RankTolerance = s.d.name, tolerance
	return nil
}

// problem is the projection of the deep part on the columns.
func (s *solver) problem() *projection.Problem {
	return s.columns.Problem(s.intercept(), s.o.RefitTotal)
}

// project fits the deep part by the columns: least squares, penalised or not. What shares
// its smoothing parameters with others has been fitted with them.
func (s *solver) project(ctx context.Context) (err error) {
	if s.fit != nil {
		return nil
	}
	problem := s.problem()
	if err := ctx.Err(); err != nil {
		return err
	}
	switch {
	case s.method == PHO:
		s.fit, err = problem.Orthogonal()
	case s.plan.joined != nil:
		s.fit, err = s.projectTogether(ctx, problem)
	default:
		s.fit, err = problem.Penalised(ctx, s.groups, s.o.Smoothing.Selection)
	}
	return err
}

// settle chooses the split where aliasing leaves it open.
func (s *solver) settle(context.Context) error { return s.fit.Settle() }

// intercept tells whether the projection has an intercept column.
func (s *solver) intercept() bool { return !s.o.withoutIntercept(s.d.name) }

// coefficients maps alpha back to raw coordinates, and says what moves to the intercept.
func (s *solver) coefficients(context.Context) error {
	s.beta, s.alpha = s.columns.Beta(), s.fit.Alpha()
	s.after = make([]float64, len(s.alpha))
	floats.AddTo(s.after, s.beta, s.alpha)
	out, fit, mean := &s.out, s.fit, s.columns.Mean()
	out.mean, out.sumW = mean, s.moments.SumW
	if err := s.hierarchical(); err != nil {
		return err
	}
	out.Rank, out.Columns = fit.Rank, s.columns.Width()
	out.Orthogonality, out.fit.lost = fit.Orthogonality(), fit.LostDigits()
	out.EDF, out.Scale, out.Score = fit.EDFTotal, fit.Scale, fit.Score
	out.Status, out.Iterations = fit.Status, fit.Iterations
	out.Importance = []Importance{}
	out.InterceptBefore = s.d.intercept + floats.Dot(mean, s.beta)
	moved := floats.Dot(mean, s.alpha)
	if !s.intercept() {
		out.Intercept = out.InterceptBefore + moved
		return nil
	}
	out.Rank++
	out.Columns++
	out.InterceptMoved = s.columns.MeanZeta() - moved
	out.Intercept = out.InterceptBefore + s.columns.MeanZeta() // InterceptMoved + moved, without rounding
	return nil
}

// describe says what the coefficients are and how sure. Of few columns both leave processors idle, so
// that they are worked out at the same time; of many the memory that they take together counts.
func (s *solver) describe(ctx context.Context) error {
	var wait sync.WaitGroup
	defer wait.Wait()
	if s.columns.Width() <= projection.FewColumns {
		wait.Go(s.covariances)
	}
	for _, step := range []func(context.Context) error{s.terms, s.concurvity, s.aliases, s.variances} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(ctx); err != nil {
			return err
		}
	}
	if s.columns.Width() > projection.FewColumns {
		if s.plan.joined == nil { // several networks' responses need them
			s.fit.ForgetCorrelations()
		}
		s.covariances()
	}
	return nil
}

// covariances are of the coefficients, and of the part that smoothing adds.
func (s *solver) covariances() {
	out, fit := &s.out, s.fit
	if s.errors() {
		if s.plan.joined == nil && s.hierarchy == nil {
			out.fit.penalties = fit.Penalties()
		}
		if out.fit.penalties == nil {
			out.fit.bias, out.fit.sandwich = fit.SmoothingBias(), fit.Sandwich()
		}
	}
	switch own := s.plan.joined == nil; { // several networks' responses need it
	case own && s.errors():
		out.cov = fit.TakeCovariance()
	case own:
		fit.ForgetCovariance()
	case s.errors():
		out.cov = fit.Covariance()
	}
	if s.hierarchy != nil {
		s.foldCovariances()
	}
}

// given says whether bands take the split as given; describe works out covariances and terms side by side.
func (s *solver) given(context.Context) error {
	s.out.tellGiven()
	return nil
}

// errors tells whether there are standard errors: not where the columns take up all rows,
// which leave no remainder to tell them by.
func (s *solver) errors() bool {
	return s.o.bands() != NoBands && float64(s.moments.Positive)-s.fit.EDFTotal > 0.5
}

// terms describes what the terms were and become.
func (s *solver) terms(ctx context.Context) error {
	s.out.Terms = []TermResult{}
	for j, b := range s.d.blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		t, err := s.term(j, b)
		if err != nil {
			return err
		}
		s.out.Terms = append(s.out.Terms, t)
	}
	return nil
}

// term is what the fit and the moments say of block j.
func (s *solver) term(j int, b Block) (TermResult, error) {
	lo, hi := s.columns.Raw(j)
	t := TermResult{
		Name: b.Term.Name(), Kind: b.Term.Kind(), Features: b.Term.Columns(),
		Columns: s.columns.Columns(j), EDF: s.fit.EDF[j], SP: append([]float64{}, s.fit.Lambda[j]...),
		Beta: s.beta[lo:hi:hi], Alpha: s.alpha[lo:hi:hi], AliasedWith: []string{}, term: b.Term,
	}
	if s.fit.EDF1 != nil {
		t.EDF1 = &s.fit.EDF1[j]
	}
	if s.fit.EDF2 != nil {
		t.EDF2 = &s.fit.EDF2[j]
	}
	for _, inf := range s.fit.AtInfinity[j] {
		t.AtInfinity = t.AtInfinity || inf
	}
	const nothing = 0.01
	t.TakenOut = len(t.SP) > 0 && !b.isKept() && t.EDF < nothing
	t.Before = s.moment(j, t.Beta)
	t.After = s.moment(j, s.after[lo:hi])
	t.Moved = s.moment(j, t.Alpha)
	t.Center = t.After.Mean
	s.hierarchicalTerm(j, &t)
	if known := s.plan.known[b.Term].spec; known != nil {
		t.Spec = known
	} else if enc, ok := b.Term.(json.Marshaler); ok {
		spec, err := enc.MarshalJSON()
		if err != nil {
			return t, fmt.Errorf("term %q: %w", t.Name, err)
		}
		t.Spec = spec
	}
	return t, nil
}

func (s *solver) moment(j int, b []float64) Moment {
	mean, variance := s.columns.Moment(j, b)
	return Moment{Mean: mean, Variance: variance}
}

// sumMoments are those of the sum of some terms.
func (s *solver) sumMoments(terms []int) (before, after *Moment) {
	b, a := make([]float64, len(s.beta)), make([]float64, len(s.beta))
	var blocks []int
	for _, p := range s.out.pieces(terms) {
		lo, hi := s.columns.Raw(p.term)
		copy(b[lo:hi], p.before)
		floats.AddTo(a[lo:hi], p.before, p.moved)
		blocks = append(blocks, p.term)
	}
	slices.Sort(blocks)
	moment := func(v []float64) *Moment {
		mean, variance := s.columns.SumMoment(blocks, v)
		return &Moment{Mean: mean, Variance: variance}
	}
	return moment(b), moment(a)
}

// concurvity says how much of each term the others could stand for.
func (s *solver) concurvity(ctx context.Context) error {
	fitted := s.after
	if s.hierarchy != nil {
		fitted = mat.Col(nil, 0, s.splits.after.Own)
	}
	full, pairs, err := s.fit.Concurvity(ctx, fitted)
	if err != nil {
		return err
	}
	s.observed(full, pairs)
	for j := range s.out.Terms {
		s.out.Terms[j].Concurvity = Concurvity(full[j])
	}
	s.out.Concurvity = []PairConcurvity{}
	for _, p := range pairs {
		s.out.Concurvity = append(s.out.Concurvity, PairConcurvity{
			Term: s.out.Terms[p.Block].Name, With: s.out.Terms[p.With].Name, Concurvity: Concurvity(p.Concurvity),
		})
	}
	return nil
}

// aliases names the columns and terms that the rows do not determine.
func (s *solver) aliases(context.Context) error {
	found := s.fit.Aliases()
	if s.hierarchy != nil {
		found = s.fit.AliasesIn(s.hierarchy)
	}
	s.out.Aliased, s.out.Entangled, s.unitsOnly = []string{}, []Entanglement{}, true
	for _, c := range found.Columns {
		s.unitsOnly = s.unitsOnly && s.d.blocks[c.Block].Term.Kind() == Learned
		s.out.Aliased = append(s.out.Aliased, s.d.blocks[c.Block].columnName(c.At, s.columns.Columns(c.Block)))
	}
	for j := range s.out.Terms {
		t := &s.out.Terms[j]
		t.Identified = len(found.With[j]) == 0
		for _, i := range found.With[j] {
			t.AliasedWith = append(t.AliasedWith, s.out.Terms[i].Name)
		}
	}
	found.With = besideTwins(found.With, s.out.Terms)
	for _, group := range found.Groups() {
		e := s.out.entanglement(group)
		e.Before, e.After = s.sumMoments(group)
		s.out.Entangled = append(s.out.Entangled, e)
	}
	return nil
}

// variances splits the variance of the predictor before and after.
func (s *solver) variances(context.Context) error {
	s.out.Variance = Variance(s.columns.Variance(s.after, s.alpha))
	s.out.VarianceBefore = Variance(s.columns.Variance(s.beta, make([]float64, len(s.alpha))))
	return nil
}

// check measures whether the projection keeps its promises, and warns where to take care.
func (s *solver) check(context.Context) error {
	s.warnRows()
	s.warnTerms()
	s.warnSmoothing()
	s.warnOtherMinimum()
	if v := s.out.Variance; !s.intercept() {
		s.warn("projection without an intercept: the parts may covary (twice covariance %.3g of total variance %.3g)", v.TwiceCovariance, v.Total)
	}
	return nil
}

func (s *solver) verdicts(context.Context) error {
	d := &s.out
	d.fit.judging = &judging{
		blocks: s.d.blocks, additive: s.columns.ConstantZeta(),
		filled: d.Status == "" && int64(d.Rank) >= s.moments.Positive,
	}
	if s.hierarchy != nil {
		d.fit.judging.margins = s.nesting.Margins
	}
	d.judge(func(v mat.Symmetric, terms ...int) float64 {
		return linalg.Trace(v, s.columns.Products(terms...))
	})
	return nil
}

// columnName names column at of width constrained ones by the term: x1, s(x2).3,
// dow[tue].
func (b Block) columnName(at, width int) string {
	if l, ok := b.Term.(interface{ Levels() []string }); ok {
		levels := l.Levels()
		if b.Constraint.kind == treatment {
			at += b.freeDim() - width
		}
		at = b.selected(at)
		if at < len(levels) {
			return fmt.Sprintf("%s[%s]", b.Term.Name(), levels[at])
		}
	}
	if s, ok := b.Term.(sloped); ok && b.Coordinates.toRaw == nil {
		return fmt.Sprintf("%s[%s]", b.Term.Name(), s.Slopes()[at])
	}
	if width == 1 {
		return b.Term.Name()
	}
	return fmt.Sprintf("%s.%d", b.Term.Name(), at+1)
}

// selected is the raw column that free coefficient at is the only one to be, if
// coordinates are mapped; at itself otherwise.
func (b Block) selected(at int) int {
	m := b.Coordinates.toRaw
	if m == nil {
		return at
	}
	rows, columns := m.Dims()
	for i := 0; i < rows && at < columns; i++ {
		if m.At(i, at) == 1 {
			return i
		}
	}
	return at
}
