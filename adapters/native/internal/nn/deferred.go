package nn

import "github.com/pho-go/pho/internal/base/kernel"

// Deferred lists what backward passes in mode Defer have still to do. blocks are replicas of
// one layer that took a block of rows each, in the order of the rows. Each function adds to
// gradients that no other touches, one block after the other; so they may run at once, and
// the bits are those of one pass over all rows.
func Deferred[T kernel.Float](blocks []Layer[T]) []func() {
	var todo []func()
	switch first := blocks[0].(type) {
	case *Chain[T]:
		for i := range first.Layers {
			todo = append(todo, Deferred(at(blocks, func(c *Chain[T]) Layer[T] { return c.Layers[i] }))...)
		}
	case *Dense[T]:
		todo = deferredOfDense(at(blocks, func(d *Dense[T]) *Dense[T] { return d }))
	case *ExU[T]:
		todo = deferredOfDense(at(blocks, func(e *ExU[T]) *Dense[T] { return e.dense }))
	}
	return todo
}

// at is f of each block.
func at[T kernel.Float, L, M any](blocks []Layer[T], f func(L) M) []M {
	out := make([]M, len(blocks))
	for i, b := range blocks {
		out[i] = f(any(b).(L))
	}
	return out
}

// deferredOfDense shares out groups, and parts of their weights.
func deferredOfDense[T kernel.Float](blocks []*Dense[T]) []func() {
	const rows = 48 // of weights: whole tiles
	var todo []func()
	d := blocks[0]
	each := func(f func(b *Dense[T])) {
		todo = append(todo, func() {
			for _, b := range blocks {
				f(b)
			}
		})
	}
	for g := range d.back.dyRows {
		if d.B.trained() {
			each(func(b *Dense[T]) { b.addSums(g) })
		}
		if !d.W.trained() {
			continue
		}
		for column := 0; column < d.OutEach; column += d.back.dyRows[g].Columns(column) {
			for i := 0; i < d.In; i += rows {
				each(func(b *Dense[T]) { b.addGradient(g, i, min(i+rows, d.In), column) })
			}
		}
	}
	return todo
}
