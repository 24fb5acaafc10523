package operator

import (
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/kernel"
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
	initial     []T // of kernel.Slide, for every output
	steps       []convStep
	inner       int // products in a step
	lda, step   int // of weights
	ldb         int // between lines of the image
}

// convStep is where the products of one step begin: in the weights of an output, and in
// the padded image of a group.
type convStep struct{ weight, pixel int }

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
			c.steps = append(c.steps, convStep{tap, pixel})
		case tap%along == 0: // a step for each channel and line of taps
			for ch := range c.cin {
				c.steps = append(c.steps, convStep{ch*p.points + tap, ch*size + pixel})
			}
		}
	}
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
		for ch := range rows * channels {
			c.pad1(buf[ch*size:(ch+1)*size], in[ch*imageSize:(ch+1)*imageSize])
		}
		for g := range c.group {
			for line := range outSize / width {
				first, rest := g*c.cin*size, line
				for i := d - 2; i >= 0; i-- {
					at[i] = rest % c.out[i]
					rest /= c.out[i]
					first += at[i] * c.stride[i] * strides[i]
				}
				for i, s := range c.steps {
					var initial []T
					if i == 0 {
						initial = c.initial[g*m*kernel.SlideWidth:]
					}
					kernel.Slide(out[g*m*outSize+line*width:], outSize, c.w[g*m*c.lda+s.weight:], c.lda, c.step,
						buf[first+s.pixel:], c.ldb, initial, m, width, c.inner, x.Relu && i == len(c.steps)-1, images)
				}
			}
		}
		in, out = in[rows*channels*imageSize:], out[rows*c.cout*outSize:]
	}
}

// pad1 copies the image of one channel into its place between the padding.
func (c *convLines[T]) pad1(dst, image []T) {
	d := len(c.image)
	width := c.image[d-1]
	if d == 1 {
		copy(dst[c.convPlan.pad[0]:], image)
		return
	}
	for line := 0; len(image) > 0; line++ {
		to, rest, stride := c.convPlan.pad[d-1], line, c.padded[d-1]
		for i := d - 2; i >= 0; i-- {
			to += (rest%c.image[i] + c.convPlan.pad[i]) * stride
			rest /= c.image[i]
			stride *= c.padded[i]
		}
		copy(dst[to:], image[:width])
		image = image[width:]
	}
}
