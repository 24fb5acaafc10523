package decompose

import (
	"context"
	"errors"
	"fmt"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/penalty"
)

// Default rank tolerances: a basis learned in float32 carries noise of 1e-7 that
// a smaller tolerance would project on.
const (
	toleranceLearned = 1e-4
	toleranceDefault = 1e-6
)

// Solve projects each deep predictor on its structured columns, from the
// statistics alone: alpha, what it does to the terms, and how sure it is. The
// last pass (Explain) adds what needs rows. When ctx is done Solve ends with its
// error after the step that it is at, of which the longest is an eigendecomposition
// of all columns.
func Solve(ctx context.Context, m Model, s *Statistics, o *Options) (*Result, error) {
	o = o.orDefault()
	if err := errors.Join(o.validate(m), notApart(m)); err != nil {
		return nil, err
	}
	p, err := newPlan(m, o.DeepFeatures...)
	if err != nil {
		return nil, err
	}
	if err := p.belongs(m, s); err != nil {
		return nil, err
	}
	return p.solve(ctx, s, o)
}

func (p *plan) solve(ctx context.Context, s *Statistics, o *Options) (*Result, error) {
	total, err := s.total()
	if err != nil {
		return nil, err
	}
	if total.Positive == 0 {
		return nil, errors.New("decompose: all weights are zero")
	}
	if o.factor() && !total.Layout.Factor {
		return nil, fmt.Errorf("decompose: the statistics hold products, which do not decide ranks for a tolerance of %g: accumulate them with route qr", o.RankTolerance)
	}
	r := &Result{
		Format: Format, Rows: total.Positive, Method: o.method(p),
		Weights: o.Weights, Response: o.Response, Event: o.Event, Offset: o.Offset,
		Warnings: []string{}, Features: []Feature{}, sum: s.sum.Compact(),
	}
	r.describe(o, s, total)
	if p.joined != nil {
		r.Networks = p.joined.described()
	}
	if o.bands() == NoBands {
		r.Bands = NoBands
	}
	groups := s.groups.totals()
	var solvers []*solver
	for k, d := range p.predictors {
		solvers = append(solvers, &solver{plan: p, k: k, d: d, moments: total, groups: groups, method: r.Method, o: o, out: Predictor{fit: &fitState{}}})
	}
	if err := r.addAll(ctx, solvers, o); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, penalty.ErrLostDigits) && !total.Layout.Factor {
			err = fmt.Errorf("%w: accumulate the factor of the rows (route qr), or rescale columns with values far from all others", err)
		}
		return nil, err
	}
	r.DeepFeatures = p.compared(total, o)
	r.state(o.Family)
	return r, nil
}

// addAll solves the predictors, sets that share smoothing parameters first.
func (r *Result) addAll(ctx context.Context, solvers []*solver, o *Options) error {
	for _, set := range o.Shared {
		if err := set.share(ctx, solvers); err != nil {
			return err
		}
	}
	for _, s := range solvers {
		if err := r.add(ctx, s); err != nil {
			return fmt.Errorf("decompose: predictor %q: %w", s.d.name, err)
		}
	}
	for _, set := range o.Shared {
		if !set.Apart {
			r.Sets = append(r.Sets, set.summed(solvers))
		}
	}
	return nil
}

// describe fills in what the options and sums over all rows say.
func (r *Result) describe(o *Options, s *Statistics, total *moments.Moments) {
	if r.Method == PHOGAM {
		r.Smoothing = o.Smoothing.Selection.Criterion.String()
		if s.groups != nil {
			r.Smoothing = "cv"
		}
	}
	if total.Layout.Factor {
		r.Route = QR
	}
	if o.Terms == Fitted {
		r.Terms = Fitted
	}
	if o.RefitTotal {
		r.Refit = "total"
	}
	if o.Family != nil {
		r.Family = o.Family.Name()
		if o.Family.HasDispersion() {
			phi := s.deviance(total) / total.SumW
			r.Dispersion = &phi
		}
	}
	for i, f := range s.features {
		r.Features = append(r.Features, f.feature(s.featureMean(total, i)))
	}
}

// add solves one predictor.
func (r *Result) add(ctx context.Context, s *solver) error {
	if err := s.solve(ctx); err != nil {
		return err
	}
	if s.out.fit.lost {
		s.warn("X'WX holds few digits of some direction that decides: take the figures with care, or use route qr")
	}
	r.Predictors = append(r.Predictors, s.out)
	for _, w := range s.warnings {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s: %s", s.out.Name, w))
	}
	return nil
}

// belongs refuses statistics of another model or of other terms (see
// plan.statistics).
func (p *plan) belongs(m Model, s *Statistics) error {
	l, features := s.sum.Layout(), len(s.features)
	if len(l.Bases) != len(p.layout.Bases)+1+features || l.Responses != p.layout.Responses {
		return fmt.Errorf("decompose: the statistics are of %d bases and %d predictors, the model has %d and %d",
			max(0, len(l.Bases)-1-features), l.Responses, len(p.layout.Bases), p.layout.Responses)
	}
	p.known = s.known
	if err := p.identify(); err != nil {
		return err
	}
	err := sameBases(l.Bases[:len(p.layout.Bases)], p.layout.Bases, "the statistics", "the model")
	if err == nil {
		err = s.network.same(identityOf(m), "the statistics", "the model")
	}
	if err != nil {
		return fmt.Errorf("decompose: the statistics are not the model's: %w", err)
	}
	return nil
}

// method resolves the default: penalised terms ask for PHOGAM.
func (o *Options) method(p *plan) Method {
	if o.Method != "" {
		return o.Method
	}
	for _, d := range p.predictors {
		for _, b := range d.blocks {
			if len(b.Penalty.S) > 0 {
				return PHOGAM
			}
		}
	}
	return PHO
}

func (o *Options) tolerance(d planned) float64 {
	if o.RankTolerance > 0 {
		return o.RankTolerance
	}
	for _, b := range d.blocks {
		if b.Term.Kind() == Learned && !b.isKept() {
			return toleranceLearned
		}
	}
	return toleranceDefault
}
