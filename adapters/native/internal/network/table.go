package network

import (
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Batch is what the network reads of N rows.
type Batch[T kernel.Float] struct {
	N          int
	X          [][]T       // numeric inputs of each tower, as layers read them: see nn.Layer
	Codes      [][][]int32 // of each tower's factors
	Structured [][]T       // X_k of each predictor, N x p
}

// Table is all rows that batches are taken from: as a Batch, but the inputs lie row by row.
type Table[T kernel.Float] Batch[T]

// Rows sets dst to the given rows of t, in the memory that it has.
func (t *Table[T]) Rows(dst *Batch[T], rows []int) {
	t.prepare(dst, len(rows))
	for i, x := range t.X {
		w := len(x) / t.N
		dst.X[i] = kernel.Units(dst.X[i], w, dst.N)
		kernel.GatherUnits(dst.X[i], x, w, rows)
		for j, c := range t.Codes[i] {
			dst.Codes[i][j] = Pick(dst.Codes[i][j], c, rows)
		}
	}
	for k, x := range t.Structured {
		w := len(x) / t.N
		dst.Structured[k] = nn.Sized(dst.Structured[k], w*dst.N)
		kernel.GatherRows(dst.Structured[k], x, w, rows)
	}
}

// Prefetch asks for the given rows, which are read later: in an order drawn at random they
// are in no cache.
func (t *Table[T]) Prefetch(rows []int) {
	for _, all := range [][][]T{t.X, t.Structured} {
		for _, x := range all {
			kernel.PrefetchRows(x, len(x)/t.N, rows)
		}
	}
}

// Part sets dst to rows i to j-1 of t; the structured columns and the codes are not copied.
func (t *Table[T]) Part(dst *Batch[T], i, j int) {
	t.prepare(dst, j-i)
	ld := kernel.UnitStride[T](dst.N)
	for k, x := range t.X {
		w := len(x) / t.N
		dst.X[k] = kernel.Units(dst.X[k], w, dst.N)
		for r := range dst.N {
			for u, v := range x[(i+r)*w:][:w] {
				dst.X[k][u*ld+r] = v
			}
		}
		for f, c := range t.Codes[k] {
			dst.Codes[k][f] = c[i:j:j]
		}
	}
	for k, x := range t.Structured {
		w := len(x) / t.N
		dst.Structured[k] = x[i*w : j*w : j*w]
	}
}

// prepare makes the slices of dst as many as t has.
func (t *Table[T]) prepare(dst *Batch[T], n int) {
	dst.N = n
	if len(dst.X) == len(t.X) && len(dst.Structured) == len(t.Structured) {
		return
	}
	dst.X, dst.Structured, dst.Codes = make([][]T, len(t.X)), make([][]T, len(t.Structured)), make([][][]int32, len(t.Codes))
	for i := range t.Codes {
		dst.Codes[i] = make([][]int32, len(t.Codes[i]))
	}
}

// Pick is src at the given rows, in dst's memory if that is large enough.
func Pick[E any](dst, src []E, rows []int) []E {
	if cap(dst) < len(rows) {
		dst = make([]E, len(rows))
	}
	dst = dst[:len(rows)]
	for i, r := range rows {
		dst[i] = src[r]
	}
	return dst
}
