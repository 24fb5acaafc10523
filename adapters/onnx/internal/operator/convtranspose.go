package operator

import (
	"errors"
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// convTransposeOps multiply what each place holds with a kernel and spread it over the
// pixels under its window.
func convTransposeOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "ConvTranspose", Versions: []int{1, 11, 22}, Min: 2, Max: 3, Outputs: 1, Check: checkConvTranspose},
			Rule: convTransposeRule, Compile: compileConvTranspose[T], Weighs: true},
	}
}

// convTranspose is a ConvTranspose with its attributes resolved: places are those of the
// input, the image is the output. Weights are channels x outputs/group x taps.
type convTranspose struct {
	*sliding
	group, channels, outputs, taps int // channels and outputs: of one group
	constant                       bool
}

// Scratch holds a column for each tap and output of a group, and weights if they are not
// constants.
func (p *convTranspose) Scratch() int {
	n := p.taps * p.outputs * graph.Product(p.places)
	if !p.constant {
		n += p.channels * p.outputs * p.taps
	}
	return n
}

func checkConvTranspose(c *graph.Check) error {
	if err := errors.Join(c.Floating(0), c.SameType()); err != nil {
		return err
	}
	d, err := imageAxes(c, 1)
	if err != nil {
		return err
	}
	in, w := c.Inputs[0].Shape, c.Inputs[1].Shape
	if len(w) != len(in) || graph.HasRows(w) {
		return fmt.Errorf("needs weights of %d axes that are the same for all rows, has %s", len(in), graph.ShapeText(w))
	}
	group := c.AttrInt("group", 1)
	if group < 1 || group > int64(in[1]) || int64(in[1])%group != 0 || w[0] != in[1] {
		return fmt.Errorf("weights %v and %d groups do not fit input %s", w, group, graph.ShapeText(in))
	}
	if _, ok := graph.Elements([]int{int(group), w[1]}); !ok {
		return fmt.Errorf("weights %v and %d groups overflow", w, group)
	}
	if c.Has(2) {
		if err := channel(c, 2, w[1]*int(group)); err != nil {
			return err
		}
	}
	s, err := transposedWindow(c, d, in[2:], w[2:])
	if err != nil {
		return err
	}
	p := &convTranspose{sliding: s, group: int(group), channels: w[0] / int(group), outputs: w[1], taps: graph.Product(w[2:]), constant: c.Inputs[1].Const != nil}
	c.Resolved = p
	column := []int{p.taps, p.outputs, graph.Product(p.places), 1}
	if n, ok := graph.Elements(column); !ok || c.Fits(n, "the columns", column) != nil {
		return fmt.Errorf("the columns %v of its window need more memory than is allowed (MaxMemory)", column)
	}
	if err := c.MultiplyAdds(append([]int{in[1], p.taps}, in[2:]...), p.outputs); err != nil {
		return err
	}
	return c.Set(0, c.Inputs[0].Type, append([]int{in[0], w[1] * int(group)}, p.image...))
}

// transposedWindow is the window, and the image that it covers.
func transposedWindow(c *graph.Check, d int, places, kernel []int) (*sliding, error) {
	if err := countable(c, kernel); err != nil {
		return nil, err
	}
	stride, err := spatial(c, "strides", d, 1)
	if err != nil {
		return nil, err
	}
	dilate, err := spatial(c, "dilations", d, 1)
	if err != nil {
		return nil, err
	}
	extra, err := spatial(c, "output_padding", d, 0)
	if err != nil {
		return nil, err
	}
	total := make([]int, d) // what is covered, pads included
	for i := range d {
		if places[i] < 1 || places[i] > math.MaxInt32 {
			return nil, fmt.Errorf("cannot spread an empty or huge axis of %v", places)
		}
		total[i] = stride[i]*(places[i]-1) + extra[i] + (kernel[i]-1)*dilate[i] + 1
	}
	image, before, err := transposedPads(c, total, places, stride)
	if err != nil {
		return nil, err
	}
	for i, n := range image {
		if n < 1 {
			return nil, fmt.Errorf("the pads leave nothing of axis %d, which has %d", 2+i, total[i])
		}
	}
	return newSliding(image, places, kernel, stride, dilate, before), nil
}

// transposedPads is the image that the pads, auto_pad or output_shape leave of what is
// covered, and how much is cut before it.
func transposedPads(c *graph.Check, total, places, stride []int) (image, before []int, err error) {
	d := len(total)
	mode := c.Attrs["auto_pad"].String
	image = make([]int, d)
	given, ok := c.Attrs["output_shape"]
	switch {
	case ok && len(given.Ints) != d && len(given.Ints) != d+2:
		return nil, nil, fmt.Errorf("output_shape %v for %d spatial axes", given.Ints, d)
	case ok:
		for i, n := range given.Ints[len(given.Ints)-d:] {
			if n < 1 || n > math.MaxInt32 {
				return nil, nil, fmt.Errorf("impossible output_shape %v", given.Ints)
			}
			image[i] = int(n)
		}
	case mode == "SAME_UPPER" || mode == "SAME_LOWER":
		for i := range image {
			image[i] = places[i] * stride[i]
		}
	default:
		var after []int
		if before, after, err = padding(c, nil, total); err != nil {
			return nil, nil, err
		}
		for i := range image {
			image[i] = total[i] - before[i] - after[i]
		}
		return image, before, nil
	}
	before = make([]int, d)
	for i := range before {
		cut := max(total[i]-image[i], 0)
		if before[i] = cut - cut/2; mode == "SAME_UPPER" {
			before[i] = cut / 2
		}
	}
	return image, before, nil
}

// transposeInto writes a matrix of rows x cols to dst as cols x rows; nil: to new memory.
func transposeInto[T kernel.Float](dst, w []T, rows, cols int) []T {
	if dst == nil {
		dst = make([]T, rows*cols)
	}
	for r := range rows {
		for k, v := range w[r*cols : (r+1)*cols] {
			dst[k*rows+r] = v
		}
	}
	return dst
}

// biasOf is element k of input i, 0 if that is left out.
func biasOf[T kernel.Float](x *Exec[T], i, k int) T {
	if i < len(x.In) && x.In[i].F != nil {
		return x.In[i].F[k]
	}
	return 0
}

func compileConvTranspose[T kernel.Float](n *graph.Node) Step[T] {
	p := n.Resolved.(*convTranspose)
	places, image := graph.Product(p.places), graph.Product(p.image)
	size := p.channels * p.outputs * p.taps // of a group's weights
	var fixed [][]T
	if p.constant {
		w := Floats[T](n.Inputs[1])
		for g := range p.group {
			fixed = append(fixed, transposeInto(nil, w[g*size:], p.channels, p.outputs*p.taps))
		}
	}
	return func(x *Exec[T]) error {
		in, out := x.In[0].F, x.Out[0].F
		buf := x.temp(p.Scratch())
		columns := buf[:p.taps*p.outputs*places]
		for g := range len(in) / (p.channels * places) { // groups of all rows
			var w []T
			if p.constant {
				w = fixed[g%p.group]
			} else {
				w = transposeInto(buf[len(columns):], x.In[1].F[g%p.group*size:], p.channels, p.outputs*p.taps)
			}
			kernel.Gemm(columns, w, in[g*p.channels*places:(g+1)*p.channels*places], p.outputs*p.taps, places, p.channels)
			for m := range p.outputs {
				dst := out[(g*p.outputs+m)*image:][:image]
				fillWith(dst, biasOf(x, 2, g%p.group*p.outputs+m))
				spread(p.sliding, dst, columns[m*p.taps*places:])
			}
		}
		return nil
	}
}

// convTransposeRule with constant weights is linear.
func convTransposeRule(n *graph.Node) Rule {
	p, ok := n.Resolved.(*convTranspose)
	if !ok || !p.constant {
		return opaque(n)
	}
	weights := n.Inputs[1].Const
	places, image := graph.Product(p.places), graph.Product(p.image)
	at := make([]int, len(p.image))
	return Rule{Linear: true, Cost: p.channels*p.taps + 1, Each: func(_, e int, yield Link) {
		unravel(e%image, p.image, at)
		m := e / image % (p.group * p.outputs)
		first := m / p.outputs * p.channels // channel of the group
		p.covers(at, func(tap, o int) {
			for ch := first; ch < first+p.channels; ch++ {
				yield(0, ch*places+o, weights.At((ch*p.outputs+m%p.outputs)*p.taps+tap))
			}
		})
		if len(n.Inputs) > 2 && n.Inputs[2] != nil {
			yield(2, m, 1)
		}
	}}
}
