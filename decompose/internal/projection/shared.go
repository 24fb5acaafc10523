package projection

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/penalty"
)

// Shared is the projections of several predictors on the same columns with one lambda for
// each penalty.
type Shared struct {
	Problems []*Problem // at least one; their columns are Same
	// By are the responses by which lambda is chosen, on the columns of Problems; nil:
	// Problems.
	By []*Problem
	// Independent is how many of them are independent (penalty.Problem); 0: all.
	Independent float64
}

// Penalised is Problem.Penalised of each problem.
func (s Shared) Penalised(ctx context.Context, groups []*moments.Moments, o penalty.Options) ([]*Fit, error) {
	columns := s.Problems[0].columns
	o.RankTolerance = columns.reading()
	o.WithoutVc, o.WithoutVe = o.WithoutVc || columns.width() > maxVc, true
	exact, hasFactor := false, s.Problems[0].factor != nil
	fits, err := s.smoothed(ctx, groups, o, exact)
	if groups == nil && hasFactor && (errors.Is(err, penalty.ErrLostDigits) || err == nil && lackDigits(fits)) {
		exact = true
		fits, err = s.smoothed(ctx, nil, o, exact)
	}
	if err != nil {
		return nil, err
	}
	for _, f := range fits {
		if hasFactor && (!exact || columns.tolerance < MinProductTolerance) {
			if err := f.refine(ctx, o.Scale); err != nil {
				return nil, err
			}
		}
		f.withoutKept()
	}
	return fits, nil
}

func lackDigits(fits []*Fit) bool {
	for _, f := range fits {
		if f.choiceLacksDigits() {
			return true
		}
	}
	return false
}

// smoothed is the fit of products, or of the factor's rows if exact, at the smoothing
// parameters that are chosen.
func (s Shared) smoothed(ctx context.Context, groups []*moments.Moments, o penalty.Options, exact bool) ([]*Fit, error) {
	by := s.By
	if by == nil {
		by = s.Problems
	}
	chosen, err := s.choose(ctx, by, groups, o, exact)
	if err != nil {
		return nil, err
	}
	if s.By != nil {
		if chosen, err = s.at(ctx, chosen, o, exact); err != nil {
			return nil, err
		}
	}
	fits := make([]*Fit, len(s.Problems))
	for r, p := range s.Problems {
		one := chosen
		if r > 0 {
			one = chosen.Others[r-1]
		}
		if fits[r], err = p.fitOf(one, exact); err != nil {
			return nil, err
		}
	}
	inCommon(fits)
	return fits, nil
}

// choose finds lambda by the criterion or, with groups, by leaving out one group of rows
// after the other.
func (s Shared) choose(ctx context.Context, by []*Problem, groups []*moments.Moments, o penalty.Options, exact bool) (*penalty.Fit, error) {
	p := together(by, exact)
	p.Independent = s.Independent
	if groups != nil {
		problems, err := leftOut(ctx, by, groups)
		if err != nil {
			return nil, err
		}
		problems[0].Independent = s.Independent
		return penalty.SelectGroupedContext(ctx, problems, &o)
	}
	fit, err := penalty.SelectContext(ctx, p, &o)
	if err != nil && ctx.Err() == nil && int64(len(p.XZ)) >= p.Rows {
		err = fmt.Errorf("%d columns on %d rows leave smoothing nothing to go by: use fewer basis functions (k), or fix smoothing parameters (%w)", len(p.XZ), p.Rows, err)
	}
	return fit, err
}

// at is the fit of the problems at the lambdas that other responses chose, of whose
// selection it says how it went.
func (s Shared) at(ctx context.Context, chosen *penalty.Fit, o penalty.Options, exact bool) (*penalty.Fit, error) {
	p := together(s.Problems, exact)
	p.Terms = append([]penalty.Component(nil), p.Terms...)
	next := 0
	for i := range p.Terms {
		t := &p.Terms[i]
		t.SP, t.DF = chosen.Lambda[next:next+len(t.S)], 0
		next += len(t.S)
	}
	o.Criterion = penalty.Fixed
	fit, err := penalty.SelectContext(ctx, p, &o)
	if err != nil {
		return nil, err
	}
	for _, f := range append([]*penalty.Fit{fit}, fit.Others...) {
		f.AtInfinity, f.Score, f.Status, f.Log, f.LostDigits = chosen.AtInfinity, chosen.Score, chosen.Status, chosen.Log, chosen.LostDigits
	}
	return fit, nil
}

// together is the problems as one of several responses; exact: with the factor's rows.
func together(problems []*Problem, exact bool) *penalty.Problem {
	p := *problems[0].sums
	if exact {
		f := problems[0].factor
		p.Factor = new(mat.Dense)
		p.Factor.Augment(f.g, f.y)
	}
	for _, other := range problems[1:] {
		r := penalty.Response{XZ: other.sums.XZ, ZZ: other.sums.ZZ, ZMean: other.sums.ZMean}
		if exact {
			r.Y = mat.Col(nil, 0, other.factor.y)
		}
		p.Others = append(p.Others, r)
	}
	return &p
}

// leftOut are the same for each group of rows.
func leftOut(ctx context.Context, by []*Problem, groups []*moments.Moments) ([]*penalty.Problem, error) {
	var problems []*penalty.Problem
	for _, m := range groups {
		if m.Positive == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		of := make([]*Problem, len(by))
		for r, p := range by {
			columns := *p.columns
			columns.view = columns.viewOf(m)
			of[r] = &Problem{sums: columns.products(p.sums.Intercept, p.total, p.beta)}
		}
		problems = append(problems, together(of, false))
	}
	if len(problems) < 2 {
		return nil, fmt.Errorf("cross validation needs two groups of rows at least, there are %d", len(problems))
	}
	return problems, nil
}
