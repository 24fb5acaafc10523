package nn

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pho-go/pho/internal/base/kernel"
)

// TestGroups: the groups of a layer, forward in order and backward in the opposite one, give
// the bits of the whole.
func TestGroups(t *testing.T) {
	divided := 0
	for _, c := range layerCases[float64]() {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(9, 8))
			whole, l := c.build(), c.build()
			groups := groupsOf(l)
			if groups == 0 {
				if Group(l, nil, 0, 1) != nil {
					t.Error("groups of a layer without any")
				}
				return
			}
			x, weights := values[float64](rng, c.n*c.in), values[float64](rng, c.n*l.Out())
			want := pass(t, &c, whole, x, weights)
			for _, p := range l.Params() {
				for i := range p.Grad {
					p.Grad[i] = 0.25
				}
			}
			if e, ok := l.(*ExU[float64]); ok {
				e.Effective()
			}
			ld := kernel.UnitStride[float64](c.n)
			in, out := c.in/groups*ld, l.Out()/groups*ld
			columns, dy := columnsOf(x, c.n), columnsOf(weights, c.n)
			var layers []Layer[float64]
			var y, dx []float64
			for g := range groups {
				var beside Layer[float64]
				if g > 0 {
					beside = layers[g-1]
				}
				layers = append(layers, Group(l, beside, g, groups))
				y = append(y, layers[g].Forward(columns[g*in:][:in], c.n, c.mode)...)
			}
			for g := range slices.Backward(layers) {
				dx = slices.Concat(layers[g].Backward(dy[g*out:][:out], c.n), dx)
			}
			finish(l)
			if !slices.Equal(rowsOf(y, c.n), want.y) || c.input && !slices.Equal(rowsOf(dx, c.n), want.dx) {
				t.Error("output or gradient of the input differ")
			}
			for k, p := range l.Params() {
				for i, g := range p.Grad {
					if g-0.25 != want.params[k][i] {
						t.Errorf("gradient of %s, element %d: %v, of the whole %v", p.Name, i, g-0.25, want.params[k][i])
					}
				}
			}
			if groups > 1 {
				divided++
			}
		})
	}
	if divided < 20 {
		t.Errorf("%d cases with several groups", divided)
	}
}

// groupsOf is the number of groups that a layer can be divided into; 0: it cannot be.
func groupsOf(l Layer[float64]) int {
	switch l := l.(type) {
	case *Dense[float64]:
		return l.G
	case *ExU[float64]:
		return l.dense.G
	case *Activation[float64]:
		return l.Width
	case *Dropout[float64]:
		return l.Width / l.Run
	case *Chain[float64]:
		groups := l.Width
		for _, part := range l.Layers {
			groups = min(groups, groupsOf(part))
		}
		return groups
	}
	return 0
}
