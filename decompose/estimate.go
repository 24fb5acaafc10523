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

// EstimateFamily is o.Family with the unknown parameters of a family.Incomplete estimated by
// maximum likelihood at the model's own predictors plus offset; any other family is
// returned as it is. It is a pass of its own, before Accumulate: it runs the network once
// over src and keeps every row, or, of more than 131072, every 2nd, 4th, ... so that
// fewer remain: equal data give equal numbers for any batch size and worker count.
//
// Errors: of reading, of the network, a response outside the support or a weight that is
// none (with their row), no row of positive weight, what family.Estimate refuses.
func EstimateFamily(ctx context.Context, m Model, src data.Source, o *Options) (family.Family, error) {
	o = o.orDefault()
	if family.Unknown(o.Family) == nil {
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
		func(w int, _ place, b *data.Batch) (*thinned, error) {
			if workers[w] == nil {
				workers[w] = newForward(m, p)
			}
			return readPredictors(ctx, workers[w], b, o)
		},
		func(rows *thinned, _ place, _ *data.Batch) error {
			sample.add(rows)
			return nil
		})
	if err != nil {
		return nil, err
	}
	found, err := family.Estimate(o.Family, sample.Sample)
	if err != nil {
		return nil, fmt.Errorf("decompose: response %q: %w", o.Response, err)
	}
	return found, nil
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
		r, err := readResponses(rows, o)
		if err != nil {
			return nil, err
		}
		w, err := weights(rows, o.Weights)
		if err != nil {
			return nil, err
		}
		for i, y := range r.y {
			s.Y, s.W = append(s.Y, y), append(s.W, weight(w, i))
			if r.event != nil {
				s.Event = append(s.Event, r.event[i])
			}
			s.Eta = append(s.Eta, out.Eta.RawRowView(i)...)
			if r.offset != nil {
				s.Eta[len(s.Eta)-s.k] += r.offset[i]
			}
		}
	}
	return s, nil
}

// thinned holds every stride-th row: responses, weights, and the predictors with offset.
type thinned struct {
	family.Sample
	k            int
	seen, stride int
}

// add takes the rows that follow.
func (s *thinned) add(rows *thinned) {
	for i := range rows.Y {
		s.seen++
		if (s.seen-1)%s.stride != 0 {
			continue
		}
		s.Y, s.W = append(s.Y, rows.Y[i]), append(s.W, rows.W[i])
		if rows.Event != nil {
			s.Event = append(s.Event, rows.Event[i])
		}
		s.Eta = append(s.Eta, rows.Eta[i*s.k:(i+1)*s.k]...)
		if len(s.Y) > maxSample {
			s.halve()
		}
	}
}

// halve keeps every second of the rows.
func (s *thinned) halve() {
	s.stride *= 2
	kept := 0
	for i := 0; i < len(s.Y); i += 2 {
		s.Y[kept], s.W[kept] = s.Y[i], s.W[i]
		if s.Event != nil {
			s.Event[kept] = s.Event[i]
		}
		copy(s.Eta[kept*s.k:], s.Eta[i*s.k:(i+1)*s.k])
		kept++
	}
	s.Y, s.W, s.Eta = s.Y[:kept], s.W[:kept], s.Eta[:kept*s.k]
	if s.Event != nil {
		s.Event = s.Event[:kept]
	}
}
