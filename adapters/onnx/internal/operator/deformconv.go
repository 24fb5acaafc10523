package operator

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// deformOps are convolutions whose taps lie where each row says.
func deformOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "DeformConv", Versions: []int{19, 22}, Min: 3, Max: 5, Outputs: 1, Check: checkDeformConv},
			Rule: opaque, Compile: compileDeformConv[T], Weighs: true},
	}
}

// deformConv is a DeformConv of images with its attributes resolved.
type deformConv struct {
	height, width   int
	places          []int // height and width of the output
	kernel          []int
	stride, dilate  []int
	before          []int
	channels        int
	groups, offsets int // groups of weights and of offsets
}

// Scratch holds, for every tap of every channel, the image at all places.
func (p *deformConv) Scratch() int {
	return p.channels * graph.Product(p.kernel) * graph.Product(p.places)
}

func checkDeformConv(c *graph.Check) error {
	if err := errors.Join(c.Floating(0), c.SameType()); err != nil {
		return err
	}
	if _, err := imageAxes(c, 1); err != nil {
		return err
	}
	in, w, offset := c.Inputs[0].Shape, c.Inputs[1].Shape, c.Inputs[2].Shape
	if len(in) != 4 || len(w) != 4 || len(offset) != 4 || graph.HasRows(w) {
		return fmt.Errorf("needs images [rows, channels, height, width], weights and offsets of four axes, has %s, %s and %s", graph.ShapeText(in), graph.ShapeText(w), graph.ShapeText(offset))
	}
	group, offsets := c.AttrInt("group", 1), c.AttrInt("offset_group", 1)
	if group < 1 || offsets < 1 || group > int64(in[1]) || offsets > int64(in[1]) || int64(in[1])%group != 0 || int64(in[1])%offsets != 0 || int64(w[0])%group != 0 || int64(w[1]) != int64(in[1])/group {
		return fmt.Errorf("weights %v, %d groups and %d groups of offsets do not fit input %s", w, group, offsets, graph.ShapeText(in))
	}
	p := &deformConv{height: in[2], width: in[3], kernel: w[2:], channels: in[1], groups: int(group), offsets: int(offsets)}
	g, after, err := windowOf(c, p.kernel, in[2:])
	if err != nil {
		return err
	}
	p.stride, p.dilate, p.before = g.stride, g.dilate, g.pad
	if p.places, err = g.places(in[2:], after); err != nil {
		return err
	}
	if err := p.fits(c, w); err != nil {
		return err
	}
	c.Resolved = p
	out := append([]int{in[0], w[0]}, p.places...)
	if err := c.MultiplyAdds(out, w[1]*graph.Product(p.kernel)); err != nil {
		return err
	}
	return c.Set(0, c.Inputs[0].Type, out)
}

// fits checks the shapes of offsets, bias and mask, and the memory of the columns.
func (p *deformConv) fits(c *graph.Check, w []int) error {
	taps := graph.Product(p.kernel)
	for i, perTap := range []int{0, 0, 2, 0, 1} { // numbers of offsets and mask
		if perTap == 0 || !c.Has(i) {
			continue
		}
		v := c.Inputs[i]
		want := []int{c.Inputs[0].Shape[0], p.offsets * taps * perTap, p.places[0], p.places[1]}
		if !slices.Equal(v.Shape, want) {
			return fmt.Errorf("input %d (%q) must have shape %s, has %s", i, v.Name, graph.ShapeText(want), graph.ShapeText(v.Shape))
		}
	}
	if c.Has(3) {
		if err := channel(c, 3, w[0]); err != nil {
			return err
		}
	}
	columns := []int{p.channels, taps, p.places[0], p.places[1]}
	n, ok := graph.Elements(columns)
	if !ok {
		return fmt.Errorf("the columns %v overflow", columns)
	}
	return c.Fits(n, "the columns", columns)
}

func compileDeformConv[T kernel.Float](n *graph.Node) Step[T] {
	p := n.Resolved.(*deformConv)
	taps, places, size := graph.Product(p.kernel), graph.Product(p.places), p.height*p.width
	return func(x *Exec[T]) error {
		in, w, out := x.In[0].F, x.In[1].F, x.Out[0].F
		outputs := x.Out[0].Shape[1]
		var mask []T
		if len(x.In) > 4 {
			mask = x.In[4].F
		}
		columns := x.temp(p.Scratch())
		perGroup := p.channels / p.groups * taps
		for row := range x.In[0].Shape[0] {
			offset := x.In[2].F[row*p.offsets*taps*2*places:]
			var m []T
			if mask != nil {
				m = mask[row*p.offsets*taps*places:]
			}
			deform(p, columns, in[row*p.channels*size:], offset, m)
			for o := range outputs {
				dst := out[(row*outputs+o)*places:][:places]
				fillWith(dst, biasOf(x, 3, o))
				group := columns[o/(outputs/p.groups)*perGroup*places:]
				for k, v := range w[o*perGroup : (o+1)*perGroup] {
					kernel.Axpy(dst, group[k*places:(k+1)*places], v)
				}
			}
		}
		return nil
	}
}

// deform writes what lies under every tap of every channel at all places.
func deform[T kernel.Float](p *deformConv, columns, image, offset, mask []T) {
	taps, places, size := graph.Product(p.kernel), graph.Product(p.places), p.height*p.width
	perOffset := p.channels / p.offsets
	for k := range p.offsets * taps {
		tap := k % taps
		for o := range places {
			y := float64((o/p.places[1])*p.stride[0]-p.before[0]+tap/p.kernel[1]*p.dilate[0]) + float64(offset[2*k*places+o])
			x := float64((o%p.places[1])*p.stride[1]-p.before[1]+tap%p.kernel[1]*p.dilate[1]) + float64(offset[(2*k+1)*places+o])
			scale := 1.0
			if mask != nil {
				scale = float64(mask[k*places+o])
			}
			at, w := p.around(y, x)
			for ch := k / taps * perOffset; ch < (k/taps+1)*perOffset; ch++ {
				s := T(0)
				for i, v := range w {
					if v != 0 {
						s += T(T(v*scale) * image[ch*size+at[i]])
					}
				}
				columns[(ch*taps+tap)*places+o] = s
			}
		}
	}
}

// around is the four pixels around a point, with weights; those outside have none.
func (p *deformConv) around(y, x float64) (at [4]int, w [4]float64) {
	if !(y > -1 && x > -1 && y < float64(p.height) && x < float64(p.width)) {
		if math.IsNaN(y) || math.IsNaN(x) {
			w[0] = math.NaN()
		}
		return at, w
	}
	y0, x0 := math.Floor(y), math.Floor(x)
	for i := range 4 {
		r, c := int(y0)+i/2, int(x0)+i%2
		if r < 0 || r >= p.height || c < 0 || c >= p.width {
			continue
		}
		at[i] = r*p.width + c
		w[i] = (1 - math.Abs(y-float64(r))) * (1 - math.Abs(x-float64(c)))
	}
	return at, w
}
