package decompose

import (
	"context"
	"iter"
	"sync"

	"github.com/pho-go/pho/data"
)

// evalRows is the number of rows that go through the network at once: small
// enough that a chunk's activations stay in cache. It divides every chunk.
const evalRows = 256

// ahead is seq, read by a goroutine of its own up to n batches ahead.
func ahead(seq iter.Seq2[*data.Batch, error], n int) iter.Seq2[*data.Batch, error] {
	type item struct {
		batch *data.Batch
		err   error
	}
	return func(yield func(*data.Batch, error) bool) {
		items, stop := make(chan item, n), make(chan struct{})
		go func() {
			defer close(items)
			for b, err := range seq {
				select {
				case items <- item{b, err}:
				case <-stop:
					return
				}
			}
		}()
		defer func() { // the source is not read any more when the loop is over
			close(stop)
			for range items {
			}
		}()
		for i := range items {
			if !yield(i.batch, i.err) {
				return
			}
		}
	}
}

// pass makes one pass of a plan over the rows: see eachChunk.
func pass[T any](ctx context.Context, p *plan, m Model, src data.Source, o *Options,
	work func(worker, index int, b *data.Batch) (T, error), reduce func(T, *data.Batch) error) error {

	columns := p.reading(m, o)
	return eachChunk(ctx, src, columns, p.chunkRows(), o.workers(), work, reduce)
}

// eachChunk cuts src into chunks of the given number of rows and calls work on
// them concurrently, each call with a worker number < workers and the chunk's
// number, and reduce on the outcomes one at a time in row order. The first error in
// row order ends it. A worker begins when a chunk finds all others at work, so there
// are no more than chunks. At most 2 x workers chunks are in memory.
func eachChunk[T any](ctx context.Context, src data.Source, columns []string, rows, workers int,
	work func(worker, index int, b *data.Batch) (T, error), reduce func(T, *data.Batch) error) error {

	ctx, cancel := context.WithCancel(ctx)
	r := &chunkRun[T]{jobs: make(chan job[T]), order: make(chan job[T], 2*workers), workers: workers, work: work}
	r.running.Go(func() { r.read(ctx, data.Rebatch(src.Batches(ctx, columns), rows)) })
	defer r.running.Wait()
	defer cancel()
	return r.reduce(ctx, reduce)
}

// chunkRun is eachChunk at work.
type chunkRun[T any] struct {
	jobs    chan job[T]
	order   chan job[T] // outcomes in row order; its capacity bounds what is under way
	workers int         // at most
	started int
	work    func(worker, index int, b *data.Batch) (T, error)
	running sync.WaitGroup
}

type job[T any] struct {
	index int
	batch *data.Batch
	done  chan outcome[T]
}

type outcome[T any] struct {
	value T
	batch *data.Batch
	err   error
}

// read hands out chunks until there are no more, one is a fault, or ctx is done.
func (r *chunkRun[T]) read(ctx context.Context, chunks iter.Seq2[*data.Batch, error]) {
	defer close(r.order)
	defer close(r.jobs)
	index := 0
	for b, err := range chunks {
		j := job[T]{index: index, batch: b, done: make(chan outcome[T], 1)}
		index++
		if err != nil {
			j.done <- outcome[T]{err: err}
		}
		select {
		case r.order <- j:
		case <-ctx.Done():
			return
		}
		if err != nil || !r.hand(ctx, j) {
			return
		}
	}
}

// hand gives j to a worker, to a new one if none is idle; false if ctx is done.
func (r *chunkRun[T]) hand(ctx context.Context, j job[T]) bool {
	select {
	case r.jobs <- j:
		return true
	default:
	}
	if r.started < r.workers {
		w := r.started
		r.started++
		r.running.Go(func() {
			for j := range r.jobs {
				v, err := r.work(w, j.index, j.batch)
				j.done <- outcome[T]{value: v, batch: j.batch, err: err}
			}
		})
	}
	select {
	case r.jobs <- j:
		return true
	case <-ctx.Done():
		return false
	}
}

// reduce takes the outcomes in row order.
func (r *chunkRun[T]) reduce(ctx context.Context, reduce func(T, *data.Batch) error) error {
	for j := range r.order {
		select {
		case o := <-j.done:
			if o.err != nil {
				return o.err
			}
			if err := reduce(o.value, o.batch); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return ctx.Err()
}
