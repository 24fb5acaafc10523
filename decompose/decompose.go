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
	p, err := newPlan(m)
	if err != nil {
		return nil, err
	}
	cache, err := newOutputCache(m, p, o)
	if err != nil {
		return nil, err
	}
	defer cache.close()
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
	lost := err == nil && r.lostDigits() || errors.Is(err, penalty.ErrLostDigits)
	if !lost || o.Route != "" || o.factor() {
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
	r.Warnings = append(r.Warnings, "X'WX held too few digits, so the rows were read again for their triangular factor (route qr)")
	return r, nil
}

func (r *Result) lostDigits() bool {
	for _, d := range r.Predictors {
		if d.lost {
			return true
		}
	}
	return false
}
