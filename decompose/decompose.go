package decompose

import (
	"context"
	"errors"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/penalty"
)

// Decompose moves what m's structured terms can explain from its deep
// predictors to them, over all rows of src: two passes, predictions unchanged; a
// third if products turn out to hold too few digits (Options.Route).
// nil options are the defaults. It is Accumulate, Solve and Explain in turn.
func Decompose(ctx context.Context, m Model, src data.Source, o *Options) (*Result, error) {
	o = o.orDefault()
	if err := o.validate(m); err != nil {
		return nil, err
	}
	if j, ok := m.(*Members); ok && !j.shared {
		return j.decomposeApart(ctx, src, o)
	}
	p, err := newPlan(m, o.DeepFeatures...)
	if err != nil {
		return nil, err
	}
	cache, err := o.outputs(m, p)
	if err != nil {
		return nil, err
	}
	defer o.done(cache)
	r, err := p.fit(ctx, m, src, o, cache)
	if err != nil {
		return nil, err
	}
	if err := p.explain(ctx, m, src, r, o, cache); err != nil {
		return nil, err
	}
	return r, nil
}

// fit is Accumulate and Solve, by the factor if the products hold too few digits.
func (p *plan) fit(ctx context.Context, m Model, src data.Source, o *Options, cache *outputCache) (*Result, error) {
	stats, err := p.accumulate(ctx, m, src, o, cache)
	if err != nil {
		return nil, err
	}
	r, err := p.solve(ctx, stats, o)
	if !NeedsFactor(r, err, o) {
		return r, err
	}
	again := *o
	again.Route = QR
	if stats, err = p.accumulate(ctx, m, src, &again, cache); err != nil {
		return nil, err
	}
	if r, err = p.solve(ctx, stats, &again); err != nil {
		return nil, err
	}
	r.NoteFactor()
	return r, nil
}

// LostDigits tells whether the products held too few digits of a direction that decides:
// see NeedsFactor. A result that was read does not tell.
func (r *Result) LostDigits() bool {
	for _, d := range r.Predictors {
		if d.fit != nil && d.fit.lost {
			return true
		}
	}
	return false
}

// NeedsFactor tells, of what Solve made of statistics of all rows with options o, whether
// Decompose would read the rows again for their triangular factor: accumulate with Route QR
// then, solve with it, and note it (NoteFactor).
func NeedsFactor(r *Result, err error, o *Options) bool {
	o = o.orDefault()
	lost := err == nil && r.LostDigits() || errors.Is(err, penalty.ErrLostDigits)
	return lost && o.Route == "" && !o.factor()
}

// NoteFactor notes among the warnings that the rows were read again, as Decompose does.
func (r *Result) NoteFactor() {
	r.Warnings = append(r.Warnings, "X'WX held too few digits, so the rows were read again for their triangular factor (route qr)")
}
