package decompose

import (
	"context"
	"errors"
	"iter"

	"github.com/pho-go/pho/data"
)

// applyRows is how many rows are split at a time, by one goroutine.
const applyRows = 4096

// All yields the parts of every row of src in order, in chunks of at most 4096
// rows, with the columns of Columns and extra. An error ends the sequence. Chunks are read
// and split ahead, in goroutines that have ended when the sequence has.
func (a *Applier) All(ctx context.Context, src data.Source, extra ...string) iter.Seq2[*Parts, error] {
	return func(yield func(*Parts, error) bool) {
		err := a.eachChunk(ctx, src, extra,
			func(int) *Parts { return new(Parts) },
			func(p *Parts) (any, error) { return p, nil },
			func(part any) error {
				if !yield(part.(*Parts), nil) {
					return errStopped
				}
				return nil
			})
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// errStopped is of a loop that its body has left.
var errStopped = errors.New("decompose: the loop over the parts was left")

// Visit shows the parts of every row of src to visitors, as the last pass of a decomposition
// does: Begin first, Map of chunks of at most 4096 rows concurrently, Reduce of each in row
// order, End last. The numbers of the parts are valid until Map returns.
func (a *Applier) Visit(ctx context.Context, src data.Source, visitors ...Visitor) error {
	var extra []string
	for _, v := range visitors {
		if err := v.Begin(a.result); err != nil {
			return err
		}
		extra = union(extra, v.Columns())
	}
	own := make([]Parts, a.options().workers())
	err := a.eachChunk(ctx, src, extra,
		func(worker int) *Parts { return &own[worker] },
		func(p *Parts) (any, error) {
			out := make([]any, len(visitors))
			for i, v := range visitors {
				var err error
				if out[i], err = v.Map(p); err != nil {
					return nil, err
				}
			}
			return out, nil
		},
		func(part any) error {
			for i, v := range visitors {
				if err := v.Reduce(part.([]any)[i]); err != nil {
					return err
				}
			}
			return nil
		})
	if err != nil {
		return err
	}
	for _, v := range visitors {
		if err := v.End(a.result); err != nil {
			return err
		}
	}
	return nil
}

// eachChunk splits chunks of rows in goroutines, into the memory that each gets, maps the
// parts there, and hands the outcomes to reduce in row order.
func (a *Applier) eachChunk(ctx context.Context, src data.Source, extra []string, memory func(worker int) *Parts,
	mapped func(*Parts) (any, error), reduce func(any) error) error {

	workers := a.options().workers()
	splitters := make([]*splitter, workers)
	defer func() {
		for _, s := range splitters {
			if s != nil {
				a.giveBack(s)
			}
		}
	}()
	rows := numberedBatches(data.Rebatch(src.Batches(ctx, union(a.Columns(), extra)), data.TensorRows(tensorNumbers(a.model), applyRows)))
	return eachChunk(ctx, rows, workers,
		func(w int, _ place, b *data.Batch) (any, error) {
			if splitters[w] == nil {
				splitters[w] = a.splitter()
			}
			parts := memory(w)
			if err := splitters[w].split(ctx, parts, b, nil); err != nil {
				return nil, err
			}
			return mapped(parts)
		},
		func(part any, _ place, _ *data.Batch) error { return reduce(part) })
}

// options are those that say how many workers there are.
func (a *Applier) options() *Options { return &Options{Resources: Resources{Workers: a.workers}} }

// numberedBatches are chunks in the order of seq.
func numberedBatches(seq iter.Seq2[*data.Batch, error]) iter.Seq2[data.Chunk, error] {
	return func(yield func(data.Chunk, error) bool) {
		var number int64
		for b, err := range seq {
			if !yield(data.Chunk{Number: number, Batch: b}, err) {
				return
			}
			number++
		}
	}
}
