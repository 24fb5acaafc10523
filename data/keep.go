package data

import (
	"context"
	"iter"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"
)

// Kept is a Source whose batches stay in memory once a pass has read all of them, if
// they take no more than a limit: later passes over the same columns decode nothing.
// Passes over other columns read the source, and theirs stay instead. It is safe for
// concurrent use if the source is; each pass that runs then holds batches of its own.
type Kept struct {
	src Source

	mu      sync.Mutex
	limit   int64
	columns []string // of the batches, sorted
	batches []*Batch
	bytes   int64
	whole   bool // the batches are all of a pass's
}

// Keep keeps up to limit bytes of src's batches; 0 or less: none.
func Keep(src Source, limit int64) *Kept { return &Kept{src: src, limit: limit} }

// Schema is the source's.
func (k *Kept) Schema() Schema { return k.src.Schema() }

// Limit changes how many bytes may be kept, and lets go of more.
func (k *Kept) Limit(bytes int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.limit = bytes
	if k.bytes > bytes {
		k.forget()
	}
}

// Bytes is what is kept.
func (k *Kept) Bytes() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.bytes
}

func (k *Kept) forget() { k.columns, k.batches, k.bytes, k.whole = nil, nil, 0, false }

// Batches yields the batches that are kept, or those of the source.
func (k *Kept) Batches(ctx context.Context, columns []string) iter.Seq2[*Batch, error] {
	columns = slices.Compact(slices.Sorted(slices.Values(columns)))
	return func(yield func(*Batch, error) bool) {
		held, limit := k.begin(columns)
		if held == nil {
			k.read(ctx, columns, limit, yield)
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

// begin returns the batches of the columns, nil if they have to be read; then nothing
// is kept any more.
func (k *Kept) begin(columns []string) (held []*Batch, limit int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.whole && slices.Equal(k.columns, columns) {
		return k.batches, k.limit
	}
	k.forget()
	return nil, k.limit
}

// read yields the source's batches and keeps them if the pass ends well.
func (k *Kept) read(ctx context.Context, columns []string, limit int64, yield func(*Batch, error) bool) {
	batches, bytes, fit := make([]*Batch, 0, 64), int64(0), limit > 0
	for b, err := range k.src.Batches(ctx, columns) {
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
	k.mu.Lock()
	defer k.mu.Unlock()
	if fit && bytes <= k.limit {
		k.columns, k.batches, k.bytes, k.whole = columns, batches, bytes, true
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
	for name, c := range b.codes {
		t.codes[name] = Codes{Index: slices.Clone(c.Index), Levels: c.Levels}
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
