package nn

import "github.com/pho-go/pho/internal/base/kernel"

// Chain applies layers one after another; without any it is the identity on
// Width columns.
type Chain[T kernel.Float] struct {
	Width  int
	Layers []Layer[T]
}

func (c *Chain[T]) Out() int {
	if n := len(c.Layers); n > 0 {
		return c.Layers[n-1].Out()
	}
	return c.Width
}

func (c *Chain[T]) Params() []*Param[T] {
	var p []*Param[T]
	for _, l := range c.Layers {
		p = append(p, l.Params()...)
	}
	return p
}

func (c *Chain[T]) Replica() Layer[T] {
	r := &Chain[T]{Width: c.Width}
	for _, l := range c.Layers {
		r.Layers = append(r.Layers, l.Replica())
	}
	return r
}

func (c *Chain[T]) Forward(x []T, n int, m Mode) []T {
	for _, l := range c.Layers {
		x = l.Forward(x, n, m)
	}
	return x
}

func (c *Chain[T]) Backward(dy []T, n int) []T {
	for i := len(c.Layers) - 1; i >= 0 && dy != nil; i-- {
		dy = c.Layers[i].Backward(dy, n)
	}
	return dy
}
