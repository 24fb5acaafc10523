package data

import (
	"context"
	"iter"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"
)

// Cache is a Source that keeps the batches of a pass in memory once the pass has read
// all rows, if they take no more than a limit: later passes over the same columns decode
// nothing. A pass over other columns reads the source again, and its batches take the
// place of those before. A Cache is safe for concurrent use if its source is; each pass
// that runs at the time then holds batches of its own.
type Cache struct {
	src Source

	mu      sync.Mutex
	limit   int64
	columns []string // of the batches, sorted
	batches []*Batch
	bytes   int64
	whole   bool // the batches are those of a whole pass
}

// NewCache keeps up to limit bytes of src's batches; 0 or less: none.
func NewCache(src Source, limit int64) *Cache { return &Cache{src: src, limit: limit} }

// Schema is the source's.
func (c *Cache) Schema() Schema { return c.src.Schema() }

// Limit changes how many bytes may be kept. Batches that take more are forgotten.
func (c *Cache) Limit(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = bytes
	if c.bytes > bytes {
		c.forget()
	}
}

// Bytes is how many bytes the batches in memory take.
func (c *Cache) Bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

func (c *Cache) forget() { c.columns, c.batches, c.bytes, c.whole = nil, nil, 0, false }

// Batches yields the batches in memory if they hold the columns, else those of the
// source.
func (c *Cache) Batches(ctx context.Context, columns []string) iter.Seq2[*Batch, error] {
	columns = slices.Compact(slices.Sorted(slices.Values(columns)))
	return func(yield func(*Batch, error) bool) {
		held, limit := c.begin(columns)
		if held == nil {
			c.read(ctx, columns, limit, yield)
			return
		}
		for _, b := range held {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

// begin returns the batches of the columns, nil if they have to be read; the batches in
// memory are forgotten then.
func (c *Cache) begin(columns []string) (held []*Batch, limit int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.whole && slices.Equal(c.columns, columns) {
		return c.batches, c.limit
	}
	c.forget()
	return nil, c.limit
}

// read yields the source's batches and keeps them if the pass ends well.
func (c *Cache) read(ctx context.Context, columns []string, limit int64, yield func(*Batch, error) bool) {
	batches, bytes, fit := make([]*Batch, 0, 64), int64(0), limit > 0
	for b, err := range c.src.Batches(ctx, columns) {
		if err != nil {
			yield(nil, err)
			return
		}
		if fit {
			b = b.trimmed()
			bytes += b.bytes()
			batches = append(batches, b)
			if fit = bytes <= limit; !fit {
				batches = nil
			}
		}
		if !yield(b, nil) {
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if fit && bytes <= c.limit {
		c.columns, c.batches, c.bytes, c.whole = columns, batches, bytes, true
	}
}

// trimmed is b in memory of its own if rows were left out: columns that were cut
// short hold on to the rest.
func (b *Batch) trimmed() *Batch {
	if b.numbers == nil {
		return b
	}
	t := NewBatch(b.rows, b.first)
	t.numbers = b.numbers
	for name, v := range b.numeric {
		t.numeric[name] = slices.Clone(v)
	}
	for name, codes := range b.codes {
		t.codes[name] = Codes{Index: slices.Clone(codes.Index), Levels: codes.Levels, Declared: codes.Declared}
	}
	for name, m := range b.tensors {
		t.tensors[name] = mat.DenseCopyOf(m)
	}
	return t
}

// bytes is what the columns of b take, without the levels that all batches share.
func (b *Batch) bytes() int64 {
	n := 8 * int64(len(b.numbers))
	for _, v := range b.numeric {
		n += 8 * int64(len(v))
	}
	for _, c := range b.codes {
		n += 4 * int64(len(c.Index))
	}
	for _, m := range b.tensors {
		r, c := m.Dims()
		n += 8 * int64(r) * int64(c)
	}
	return n
}
