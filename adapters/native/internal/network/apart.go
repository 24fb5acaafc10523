package network

import (
	"slices"

	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Networks side by side have nothing to do with each other between what they read and their
// outputs. So each goes through all of its layers before the next one begins, and what a
// backward pass needs for a while only is overwritten by the next network's: it stays in the
// second cache. Workers share out networks, not rows: the gradients of a network's
// parameters are added up by one of them, in the order of the rows, while what they are
// products of is at hand.

// group is one of a tower's networks side by side, with the tower's parameters: hidden
// layers and head.
type group[T kernel.Float] struct {
	number int
	layers nn.Layer[T]
}

// Apart tells whether the groups of all towers can go apart in as many parts (nn.Mode), of
// about the same size, and little is left to do besides.
func (m *Network[T]) Apart(parts int) bool {
	structured := 0
	for _, l := range m.Structured {
		if l != nil {
			structured += len(l.W.Value)
		}
	}
	for _, t := range m.Towers {
		if !t.Plan.apart(parts) {
			return false
		}
	}
	return len(m.Towers) > 0 && 256*structured <= m.Weights()
}

// apart tells so of a tower: no worker waits for the others more than an eighth of its time.
func (p *Plan) apart(parts int) bool {
	groups := p.Groups()
	largest := (groups + parts - 1) / parts
	return groups > 1 && 7*largest*parts <= 8*groups && p.ProductOf < 0 && len(p.Factors) == 0 && !p.BatchNorm && !p.Orthogonalize
}

// cut makes the parts of the tower.
func (t *Tower[T]) cut(parts int) {
	if len(t.parts) == parts {
		return
	}
	layers := &nn.Chain[T]{Layers: append(slices.Clone(t.Chain.Layers), t.Head)}
	groups := t.Plan.Groups()
	t.parts = make([][]group[T], parts)
	for i := range t.parts {
		var last nn.Layer[T]
		for g := i * groups / parts; g < (i+1)*groups/parts; g++ {
			last = nn.Group(layers, last, g, groups)
			t.parts[i] = append(t.parts[i], group[T]{g, last})
		}
	}
}

// forwardApart is the output of the heads.
func (t *Tower[T]) forwardApart(x []T, n int, mode nn.Mode) []T {
	t.cut(mode.Parts)
	t.Settle()
	t.out = kernel.Units(t.out, t.Head.Out(), n)
	if mode.Pool == nil { // without a closure, which would take memory in every step
		for i := range t.parts {
			t.forwardPart(i, x, n, mode)
		}
	} else {
		mode.Pool.Each(len(t.parts), func(i int) { t.forwardPart(i, x, n, mode) })
	}
	return t.out
}

func (t *Tower[T]) forwardPart(i int, x []T, n int, mode nn.Mode) {
	ld := kernel.UnitStride[T](n)
	in, out := t.Plan.Numeric*ld, len(t.Plan.Predictors)*ld
	for _, g := range t.parts[i] {
		copy(t.out[g.number*out:][:out], g.layers.Forward(x[g.number*in:][:in], n, mode))
	}
}

// backwardApart takes the gradient in the output of the heads.
func (t *Tower[T]) backwardApart(df []T, n int, mode nn.Mode) {
	if mode.Pool == nil {
		for i := range t.parts {
			t.backwardPart(i, df, n)
		}
	} else {
		mode.Pool.Each(len(t.parts), func(i int) { t.backwardPart(i, df, n) })
	}
}

// backwardPart begins with the group that went forward last: it is at hand.
func (t *Tower[T]) backwardPart(i int, df []T, n int) {
	out := len(t.Plan.Predictors) * kernel.UnitStride[T](n)
	for _, g := range slices.Backward(t.parts[i]) {
		g.layers.Backward(df[g.number*out:][:out], n)
	}
}
