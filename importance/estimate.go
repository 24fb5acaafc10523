package importance

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// mostRows bounds what Estimate holds in memory; so many rows tell a shape to about
// half a percent.
const mostRows = 1 << 17

// Estimate is o.Family with the unknown parameters of a family.Held estimated by
// maximum likelihood at the model's own predictors plus offset; any other family is
// returned as it is. It runs the network once over src and keeps every row, or, of
// more than 131072, every 2nd, 4th, ... so that fewer remain: equal data give equal
// numbers.
//
// Errors: of reading, of the network, a response outside the support (with its row),
// no row of positive weight, what family.Estimate refuses.
func Estimate(ctx context.Context, m decompose.Model, src data.Source, o *decompose.Options) (family.Family, error) {
	h, ok := o.Family.(family.Held)
	if !ok || h.Unknown() == nil {
		return o.Family, nil
	}
	k := len(m.Predictors())
	if h.Predictors() != k {
		return nil, fmt.Errorf("importance: family %q has %d predictors, the model %d", h.Name(), h.Predictors(), k)
	}
	columns := append(slices.Clone(m.Columns()), o.Response)
	for _, name := range []string{o.Weights, o.Offset} {
		if name != "" {
			columns = append(columns, name)
		}
	}
	slices.Sort(columns)
	sample := thinned{k: k, stride: 1}
	const step = 1024
	for b, err := range src.Batches(ctx, slices.Compact(columns)) {
		if err != nil {
			return nil, err
		}
		for from := 0; from < b.Rows(); from += step {
			if err := sample.read(ctx, m, b.Slice(from, min(from+step, b.Rows())), o, h); err != nil {
				return nil, err
			}
		}
	}
	found, err := family.Estimate(h, sample.y, sample.w, sample.eta)
	if err != nil {
		return nil, fmt.Errorf("importance: response %q: %w", o.Response, err)
	}
	return found, nil
}

// thinned keeps every stride-th row.
type thinned struct {
	k            int
	y, w, eta    []float64
	seen, stride int
}

// read adds the rows of b: their predictors with offset, responses and weights.
func (s *thinned) read(ctx context.Context, m decompose.Model, b *data.Batch, o *decompose.Options, f family.Family) error {
	n := b.Rows()
	y, err := b.Numeric(o.Response)
	if err != nil {
		return fmt.Errorf("importance: response: %w", err)
	}
	var w, offset []float64
	if o.Weights != "" {
		if w, err = b.Numeric(o.Weights); err != nil {
			return fmt.Errorf("importance: weights: %w", err)
		}
	}
	if o.Offset != "" {
		if offset, err = b.Numeric(o.Offset); err != nil {
			return fmt.Errorf("importance: offset: %w", err)
		}
	}
	out := &decompose.Outputs{Zeta: mat.NewDense(n, s.k, nil), Eta: mat.NewDense(n, s.k, nil), Taps: map[string]*mat.Dense{}}
	for name, width := range m.Taps() {
		out.Taps[name] = mat.NewDense(n, width, nil)
	}
	if err := m.Forward(ctx, out, b); err != nil {
		return err
	}
	for i := range n {
		if err := f.Check(y[i]); err != nil {
			return fmt.Errorf("importance: response %q, data row %d: %w", o.Response, b.Row(i)+1, err)
		}
		s.seen++
		if (s.seen-1)%s.stride != 0 {
			continue
		}
		weight, shift := 1.0, 0.0
		if w != nil {
			weight = w[i]
		}
		if offset != nil {
			shift = offset[i]
		}
		s.y, s.w, s.eta = append(s.y, y[i]), append(s.w, weight), append(s.eta, out.Eta.RawRowView(i)...)
		s.eta[len(s.eta)-s.k] += shift
		if len(s.y) > mostRows {
			s.halve()
		}
	}
	return nil
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
