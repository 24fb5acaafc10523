package decompose

import (
	"context"
	"fmt"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/family"
)

// maxSample bounds the rows that EstimateFamily holds in memory; so many tell a shape to
// about half a percent.
const maxSample = 1 << 17

// EstimateFamily is o.Family with the unknown parameters of a family.Held, or the thresholds
// of a family.Ordinal, estimated by maximum likelihood at the model's own predictors plus offset; any other family is
// returned as it is. It is a pass of its own, before Accumulate: it runs the network once
// over src and keeps every row, or, of more than 131072, every 2nd, 4th, ... so that
// fewer remain: equal data give equal numbers for any batch size and worker count.
//
// Errors: of reading, of the network, a response outside the support or a weight that is
// none (with their row), no row of positive weight, what family.Estimate refuses.
func EstimateFamily(ctx context.Context, m Model, src data.Source, o *Options) (family.Family, error) {
	o = o.orDefault()
	estimate := estimation(o.Family)
	if estimate == nil {
		return o.Family, nil
	}
	if err := o.checkFamily(m); err != nil {
		return nil, err
	}
	p, err := newPlan(m)
	if err != nil {
		return nil, err
	}
	sample := thinned{k: len(p.predictors), stride: 1}
	workers := make([]*forward, o.workers())
	err = pass(ctx, p, m, src, o,
		func(w, _ int, b *data.Batch) (*thinned, error) {
			if workers[w] == nil {
				workers[w] = newForward(m, p)
			}
			return readPredictors(ctx, workers[w], b, o)
		},
		func(rows *thinned, _ *data.Batch) error {
			sample.add(rows)
			return nil
		})
	if err != nil {
		return nil, err
	}
	found, err := estimate(sample.y, sample.w, sample.eta)
	if err != nil {
		return nil, fmt.Errorf("decompose: response %q: %w", o.Response, err)
	}
	return found, nil
}

// estimation finds what of a family is unknown; nil: nothing is.
func estimation(f family.Family) func(y, w, eta []float64) (family.Family, error) {
	switch f := f.(type) {
	case family.Held:
		if f.Unknown() != nil {
			return func(y, w, eta []float64) (family.Family, error) { return family.Estimate(f, y, w, eta) }
		}
	case family.Ordinal:
		if !f.Known() {
			return func(y, w, eta []float64) (family.Family, error) { return family.EstimateOrdinal(y, w, eta) }
		}
	}
	return nil
}

// readPredictors runs the network on all rows of b.
func readPredictors(ctx context.Context, f *forward, b *data.Batch, o *Options) (*thinned, error) {
	s := &thinned{k: f.k}
	for i := 0; i < b.Rows(); i += evalRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows := f.cut(b, i, min(i+evalRows, b.Rows()))
		out, err := f.run(ctx, rows, nil, 0)
		if err != nil {
			return nil, err
		}
		y, offset, err := response(rows, o)
		if err != nil {
			return nil, err
		}
		w, err := weights(rows, o.Weights)
		if err != nil {
			return nil, err
		}
		for i := range y {
			s.y, s.w = append(s.y, y[i]), append(s.w, weight(w, i))
			s.eta = append(s.eta, out.Eta.RawRowView(i)...)
			if offset != nil {
				s.eta[len(s.eta)-s.k] += offset[i]
			}
		}
	}
	return s, nil
}

// thinned holds every stride-th row: responses, weights, and the predictors with offset.
type thinned struct {
	k            int
	y, w, eta    []float64
	seen, stride int
}

// add takes the rows that follow.
func (s *thinned) add(rows *thinned) {
	for i := range rows.y {
		s.seen++
		if (s.seen-1)%s.stride != 0 {
			continue
		}
		s.y, s.w = append(s.y, rows.y[i]), append(s.w, rows.w[i])
		s.eta = append(s.eta, rows.eta[i*s.k:(i+1)*s.k]...)
		if len(s.y) > maxSample {
			s.halve()
		}
	}
}

// halve keeps every second of the rows.
func (s *thinned) halve() {
	s.stride *= 2
	kept := 0
	for i := 0; i < len(s.y); i += 2 {
		s.y[kept], s.w[kept] = s.y[i], s.w[i]
		copy(s.eta[kept*s.k:], s.eta[i*s.k:(i+1)*s.k])
		kept++
	}
	s.y, s.w, s.eta = s.y[:kept], s.w[:kept], s.eta[:kept*s.k]
}
