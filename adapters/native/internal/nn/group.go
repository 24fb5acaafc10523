package nn

import "github.com/pho-go/pho/internal/base/kernel"

// Group is group g of layer l, of so many groups, as a layer by itself: it shares the
// parameters of the group. beside is another group of l that goes backward at another time, or
// nil: they share what does not last, so that it stays in the caches. A layer that is no
// layer of groups, or looks at the whole batch, has none: nil. Who computes with a group of an
// ExU calls Effective of the whole first, and Finish afterwards.
func Group[T kernel.Float](l, beside Layer[T], g, groups int) Layer[T] {
	switch l := l.(type) {
	case *Chain[T]:
		return l.group(beside, g, groups)
	case *Dense[T]:
		return l.group(beside, g, groups)
	case *ExU[T]:
		d := l.dense.group(beside, g, groups)
		d.First = l.First
		return d
	case *Activation[T]:
		return &Activation[T]{Width: l.Width / groups, F: l.F, N: l.N}
	case *Dropout[T]:
		all := l.Width / l.Run
		return &Dropout[T]{Width: l.Width / groups, Run: l.Run, P: l.P, Seed: l.Seed, first: g * all / groups, others: all - all/groups}
	}
	return nil
}

func (c *Chain[T]) group(beside Layer[T], g, groups int) Layer[T] {
	of := &Chain[T]{Width: c.Width / groups}
	for i, l := range c.Layers {
		var b Layer[T]
		if beside != nil {
			b = beside.(*Chain[T]).Layers[i]
		}
		if l = Group(l, b, g, groups); l == nil {
			return nil
		}
		of.Layers = append(of.Layers, l)
	}
	return of
}

func (d *Dense[T]) group(beside Layer[T], g, groups int) *Dense[T] {
	of := &Dense[T]{G: d.G / groups, In: d.In, OutEach: d.OutEach, W: d.W.group(g, groups), B: d.B.group(g, groups), Relu: d.Relu, First: d.First, back: &back[T]{}}
	if b, ok := beside.(*Dense[T]); ok {
		of.back = b.back
	}
	return of
}
