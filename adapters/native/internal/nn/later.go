package nn

import "github.com/pho-go/pho/internal/kernel"

// Left lists what the backward passes of blocks of rows in mode Later left to do:
// blocks are replicas of one layer, in the order of their rows. Each function adds to
// gradients that no other touches, one block after the other, so they may run at once
// and give the bits of one pass over all rows.
func Left[T kernel.Float](blocks []Layer[T]) []func() {
	var left []func()
	switch first := blocks[0].(type) {
	case *Chain[T]:
		for i := range first.Layers {
			left = append(left, Left(at(blocks, func(c *Chain[T]) Layer[T] { return c.Layers[i] }))...)
		}
	case *Dense[T]:
		left = leftOfDense(at(blocks, func(d *Dense[T]) *Dense[T] { return d }))
	case *ExU[T]:
		left = leftOfDense(at(blocks, func(e *ExU[T]) *Dense[T] { return e.dense }))
	}
	return left
}

// at is f of each block.
func at[T kernel.Float, L, M any](blocks []Layer[T], f func(L) M) []M {
	out := make([]M, len(blocks))
	for i, b := range blocks {
		out[i] = f(any(b).(L))
	}
	return out
}

// leftOfDense shares out groups, or columns if there is one group.
func leftOfDense[T kernel.Float](blocks []*Dense[T]) []func() {
	const columns = 64
	var left []func()
	d := blocks[0]
	if d.B.trained() {
		left = append(left, func() {
			for _, b := range blocks {
				kernel.AddRows(b.B.Grad, b.dy)
			}
		})
	}
	if !d.W.trained() {
		return left
	}
	for g := range d.G {
		for j := 0; j < d.OutEach; j += columns {
			left = append(left, func() {
				for _, b := range blocks {
					b.addGradient(g, j, min(j+columns, d.OutEach))
				}
			})
		}
	}
	return left
}
