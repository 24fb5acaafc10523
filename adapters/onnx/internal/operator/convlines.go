package operator

import (
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// convLines is a convolution of constant weights whose window moves by one along the last
// axis: a line of outputs, for all channels of a group, is a sum of products of weights
// with lines of the padded image.
type convLines[T kernel.Float] struct {
	*convPlan
	cin, cout   int   // channels that a group reads; outputs of all groups
	image       []int // the axes behind the channels
	padded, out []int
	w           []T
	initial     []T           // of kernel.Slide, for every output
	steps       []kernel.Step // behind the first
	inner       int           // products in a step
	lda, step   int           // of weights
	ldb         int           // between lines of the image
}

// asLines prepares n, nil if it is no such convolution. With weights that are not finite
// the padding would count.
func asLines[T kernel.Float](n *graph.Node) *convLines[T] {
	p := n.Resolved.(*convPlan)
	d := len(p.kernel)
	if !runsByLines(n) {
		return nil
	}
	wv, image, out := n.Inputs[1], n.Inputs[0].Shape[2:], n.Outputs[0].Shape
	c := &convLines[T]{convPlan: p, cin: wv.Shape[1], cout: wv.Shape[0], image: image, padded: p.paddedImage(image), out: out[2:], w: Floats[T](wv)}
	c.initial = make([]T, c.cout*kernel.SlideWidth)
	if len(n.Inputs) > 2 && n.Inputs[2] != nil {
		for i, b := range Floats[T](n.Inputs[2]) {
			for j := range kernel.SlideWidth {
				c.initial[i*kernel.SlideWidth+j] = b
			}
		}
	}
	size, along, strides, last := graph.Product(c.padded), p.kernel[d-1], rowMajor(c.padded), make([]int, d)
	c.lda = c.cin * p.points
	for tap := 0; tap < p.points; tap++ {
		unravel(tap, p.kernel, last)
		pixel := 0
		for i, k := range last {
			pixel += k * p.dilate[i] * strides[i]
		}
		switch {
		case c.cin >= along: // a step for each tap
			c.steps = append(c.steps, kernel.Step{A: tap, B: pixel})
		case tap%along == 0: // a step for each channel and line of taps
			for ch := range c.cin {
				c.steps = append(c.steps, kernel.Step{A: ch*p.points + tap, B: ch*size + pixel})
			}
		}
	}
	c.steps = c.steps[1:] // of the first tap and channel: 0, 0
	if c.inner, c.step, c.ldb = along, 1, p.dilate[d-1]; c.cin >= along {
		c.inner, c.step, c.ldb = c.cin, p.points, size
	}
	return c
}

// runsByLines reports whether a Conv is one that asLines prepares.
func runsByLines(n *graph.Node) bool {
	p := n.Resolved.(*convPlan)
	wv, shape := n.Inputs[1], n.Inputs[0].Shape
	if wv.Const == nil || p.stride[len(p.kernel)-1] != 1 || len(n.Inputs) > 2 && n.Inputs[2] != nil && n.Inputs[2].Const == nil {
		return false
	}
	const most = 8 // padding may be any: not much memory for it
	padded, ok := graph.Elements(p.paddedImage(shape[2:]))
	return ok && padded <= most*(graph.Product(shape[2:])+64) && !slices.ContainsFunc(wv.Const.F, func(x float64) bool { return x-x != 0 })
}

// paddedImage is the image as far as windows reach.
func (p *convPlan) paddedImage(image []int) []int {
	out := make([]int, len(image))
	for i, n := range image {
		out[i] = n + p.pad[i] + p.after[i]
	}
	return out
}

// imageValues are about how many of the padded images lie side by side: they stay in cache.
const imageValues = 1 << 14

// run convolves every row, some at a time.
func (c *convLines[T]) run(x *Exec[T]) {
	in, out := x.In[0].F, x.Out[0].F
	d, channels := len(c.image), c.cin*c.group
	size, imageSize, outSize := graph.Product(c.padded), graph.Product(c.image), graph.Product(c.out)
	width := c.out[d-1]
	rows := max(1, min(len(out)/(c.cout*outSize), imageValues/(channels*size)))
	buf := x.temp(rows*channels*size + kernel.SlideRoom(width))
	clear(buf)
	m := c.cout / c.group
	var at [graph.MaxRank]int
	strides := rowMajor(c.padded)
	for len(out) > 0 {
		rows = min(rows, len(out)/(c.cout*outSize))
		images := kernel.Images{Count: rows, B: channels * size, C: c.cout * outSize}
		c.place(buf, in[:rows*channels*imageSize])
		for g := range c.group {
			for line := range outSize / width {
				first, rest := g*c.cin*size, line
				for i := d - 2; i >= 0; i-- {
					at[i] = rest % c.out[i]
					rest /= c.out[i]
					first += at[i] * c.stride[i] * strides[i]
				}
				kernel.Slide(out[g*m*outSize+line*width:], outSize, c.w[g*m*c.lda:], c.lda, c.step,
					buf[first:], c.ldb, c.initial[g*m*kernel.SlideWidth:], m, width, c.inner, c.steps, x.Relu, images)
			}
		}
		in, out = in[rows*channels*imageSize:], out[rows*c.cout*outSize:]
	}
}

// place copies images, of any channels and rows, between their padding.
func (c *convLines[T]) place(dst, images []T) {
	d, size, pad := len(c.image), graph.Product(c.padded), c.convPlan.pad
	width := c.image[d-1]
	if d == 1 {
		kernel.Spread(dst[pad[0]:], size, images, width)
		return
	}
	plane, stride := c.image[d-2]*width, c.padded[d-1]
	for ; len(images) > 0; dst = dst[size:] {
		for p := range graph.Product(c.image[:d-2]) {
			to, rest, step := pad[d-2]*stride+pad[d-1], p, c.padded[d-2]*stride
			for i := d - 3; i >= 0; i-- {
				to += (rest%c.image[i] + pad[i]) * step
				rest /= c.image[i]
				step *= c.padded[i]
			}
			kernel.Spread(dst[to:], stride, images[:plane], width)
			images = images[plane:]
		}
	}
}
