package decompose

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/family"
)

// EstimateFamily is o.Family with the unknown parameters of a family.Incomplete estimated by
// maximum likelihood at the model's own predictors plus offset; any other family is
// returned as it is. It is a pass of its own, before Accumulate: it runs the network once over src and
// keeps every row, or, of more than 131072, a sample of at most so many: the rows with hashes of their
// numbers that begin with enough zero bits. Equal data give equal numbers for any batch size and worker
// count.
//
// Errors: of reading, of the network, a response outside the support or a weight that is
// none (with their row), no row of positive weight, what family.Estimate refuses.
//
// The hash chooses, not every second or fourth row: where each second row is left out, that would
// keep all or nothing. The pass is needed since no sums over rows give these maxima.
func EstimateFamily(ctx context.Context, m Model, src data.Source, o *Options) (family.Family, error) {
	return EstimateFamilyFrom(ctx, m, RowScans(rebatched{src, data.TensorRows(tensorNumbers(m), o.orDefault().workers()*4*evalRows)}), o)
}

// EstimateFamilyFrom is EstimateFamily with rows that this process may not hold. The look at
// them is called "family".
func EstimateFamilyFrom(ctx context.Context, m Model, scans Scans, o *Options) (family.Family, error) {
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
	own := *o // a scanner may be shown rows when the caller has changed its options
	s := &familyScan{ctx: ctx, model: m, plan: p, o: &own, sample: &thinned{k: len(p.predictors)}}
	if err := scans.Scan(ctx, "family", p.reading(m, o), []SummingScanner{s}); err != nil {
		return nil, err
	}
	found, err := family.Estimate(o.Family, s.sample.inOrder())
	if err != nil {
		return nil, fmt.Errorf("decompose: response %q: %w", o.Response, err)
	}
	return found, nil
}

// rebatched is a source in batches of so many rows.
type rebatched struct {
	data.Source
	rows int
}

// Batches reads the source.
func (r rebatched) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return data.Rebatch(r.Source.Batches(ctx, columns), r.rows)
}

// familyScan runs the network to sample responses and predictors. It is no Spec's: it makes no blocks.
type familyScan struct {
	ctx    context.Context // of the pass that the scanner is made for
	model  Model
	plan   *plan
	o      *Options
	each   []*forward // of each worker
	sample *thinned
}

// NeedsScan is true: it is all about the rows.
func (s *familyScan) NeedsScan() bool { return true }

// Build makes no blocks.
func (s *familyScan) Build() ([]Block, error) { return nil, nil }

// Sums are the sample.
func (s *familyScan) Sums() (Sums, error) { return s.sample, nil }

// Restore takes the sample of all rows.
func (s *familyScan) Restore(sums Sums) error { return s.sample.Add(sums) }

// Scan runs the network on b, a part of it in each worker.
func (s *familyScan) Scan(b *data.Batch) error {
	workers := min(s.o.workers(), (b.Rows()+evalRows-1)/evalRows)
	for len(s.each) < workers {
		s.each = append(s.each, newForward(s.model, s.plan))
	}
	parts, faults := make([]*thinned, workers), make([]error, workers)
	cut := func(w int) int { return min((b.Rows()*w/max(workers, 1)+evalRows-1)/evalRows*evalRows, b.Rows()) }
	var running sync.WaitGroup
	for w := range workers {
		running.Go(func() {
			parts[w], faults[w] = readPredictors(s.ctx, s.each[w], b.Slice(cut(w), cut(w+1)), s.o)
		})
	}
	running.Wait()
	for w, part := range parts {
		if faults[w] != nil {
			return faults[w]
		}
		s.sample.take(part)
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
		r, err := readResponses(rows, o)
		if err != nil {
			return nil, err
		}
		w, err := weights(rows, o.Weights)
		if err != nil {
			return nil, err
		}
		for i, y := range r.y {
			s.Y, s.W, s.rows = append(s.Y, y), append(s.W, weight(w, i)), append(s.rows, rows.Row(i))
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
