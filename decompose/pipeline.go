package decompose

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
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

// place says which rows of a pass are at hand.
type place struct {
	nth   int // among the chunks that have rows
	chunk int // by row numbers, from Resources.FirstChunk
}

// pass makes one pass of a plan over the rows: see eachChunk.
func pass[T any](ctx context.Context, p *plan, m Model, src data.Source, o *Options,
	work func(worker int, at place, b *data.Batch) (T, error), reduce func(T, place, *data.Batch) error) error {

	rows := p.chunkRows()
	return eachChunk(ctx, o.chunks(src.Batches(ctx, p.reading(m, o)), rows), o.workers(), work, reduce)
}

// sparseNumbers is how many numbers there are for each of a source's first rows, from which
// on they are taken for names rather than places: each chunk costs as much as a few dozen rows.
const sparseNumbers = 64

// chunks numbers the chunks of a shard's rows.
func (o *Options) chunks(seq iter.Seq2[*data.Batch, error], rows int) iter.Seq2[data.Chunk, error] {
	if o.FirstChunk == 0 && o.FirstRow == 0 && o.Chunks == 0 {
		return counted(seq, rows)
	}
	return o.numbered(seq, rows)
}

// counted numbers the chunks of all rows: by the rows' numbers, or by counting rows if those
// of the first chunk's worth are sparse.
func counted(seq iter.Seq2[*data.Batch, error], rows int) iter.Seq2[data.Chunk, error] {
	return func(yield func(data.Chunk, error) bool) {
		next, stop := iter.Pull2(seq)
		defer stop()
		held, sparse, err := firstRows(next, rows)
		all := func(yield func(*data.Batch, error) bool) {
			for _, b := range held {
				if !yield(b, nil) {
					return
				}
			}
			for err == nil {
				b, err, ok := next()
				if !ok || !yield(b, err) || err != nil {
					return
				}
			}
			yield(nil, err)
		}
		if !sparse {
			new(Options).numbered(all, rows)(yield)
			return
		}
		var number int64
		for b, err := range data.Rebatch(all, rows) {
			if !yield(data.Chunk{Number: number, Batch: b}, err) || err != nil {
				return
			}
			number++
		}
	}
}

// firstRows takes batches until they have so many rows, and tells whether the numbers of
// these are sparse.
func firstRows(next func() (*data.Batch, error, bool), rows int) (held []*data.Batch, sparse bool, err error) {
	var first, last int64
	for n := 0; n < rows; {
		b, err, ok := next()
		if err != nil || !ok {
			return held, sparse, err
		}
		held = append(held, b)
		if b.Rows() == 0 {
			continue
		}
		if n == 0 {
			first = b.Row(0)
		}
		some := min(b.Rows(), rows-n)
		n, last = n+some, b.Row(some-1)
		sparse = last-first >= int64(sparseNumbers*n)
	}
	return held, sparse, nil
}

// numbered numbers chunks by the rows' numbers.
func (o *Options) numbered(seq iter.Seq2[*data.Batch, error], rows int) iter.Seq2[data.Chunk, error] {
	return func(yield func(data.Chunk, error) bool) {
		for c, err := range data.Chunks(seq, rows, o.FirstRow) {
			switch {
			case err != nil:
			case c.Number > int64(math.MaxInt-1-o.FirstChunk):
				err = errors.New("decompose: chunk numbers are used up: row numbers are too large")
			case o.Chunks > 0 && c.Number >= int64(o.Chunks):
				err = fmt.Errorf("decompose: data row %d is none of the %d rows of this shard, which begin with row %d", c.Batch.Row(0)+1, int64(o.Chunks)*int64(rows), o.FirstRow+1)
			default:
				c.Number += int64(o.FirstChunk)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// chunkRange is a shard's chunks [first, next), of which those in done have rows.
func (o *Options) chunkRange(done [][2]int) (first, next int) {
	first, next = o.FirstChunk, o.FirstChunk+o.Chunks
	if n := len(done); n > 0 {
		next = max(next, done[n-1][1])
	}
	return first, next
}

// eachChunk calls work on the chunks concurrently, each call with a worker number < workers
// and the chunk's place, and reduce on the outcomes one at a time in row order. The first error
// in row order ends it. A worker begins when a chunk finds all others at work, so there
// are no more than chunks. At most 2 x workers chunks are in memory.
func eachChunk[T any](ctx context.Context, chunks iter.Seq2[data.Chunk, error], workers int,
	work func(worker int, at place, b *data.Batch) (T, error), reduce func(T, place, *data.Batch) error) error {

	ctx, cancel := context.WithCancel(ctx)
	r := &chunkRun[T]{jobs: make(chan job[T]), order: make(chan job[T], 2*workers), workers: workers, work: work}
	r.running.Go(func() { r.read(ctx, chunks) })
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
	work    func(worker int, at place, b *data.Batch) (T, error)
	running sync.WaitGroup
}

type job[T any] struct {
	at    place
	batch *data.Batch
	done  chan outcome[T]
}

type outcome[T any] struct {
	value T
	err   error
}

// read hands out chunks until there are no more, one is a fault, or ctx is done.
func (r *chunkRun[T]) read(ctx context.Context, chunks iter.Seq2[data.Chunk, error]) {
	defer close(r.order)
	defer close(r.jobs)
	nth := 0
	for c, err := range chunks {
		j := job[T]{at: place{nth, int(c.Number)}, batch: c.Batch, done: make(chan outcome[T], 1)}
		nth++
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
				v, err := r.work(w, j.at, j.batch)
				j.done <- outcome[T]{v, err}
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
func (r *chunkRun[T]) reduce(ctx context.Context, reduce func(T, place, *data.Batch) error) error {
	for j := range r.order {
		select {
		case o := <-j.done:
			if o.err != nil {
				return o.err
			}
			if err := reduce(o.value, j.at, j.batch); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return ctx.Err()
}
