package operator

import (
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// convLines is how a convolution is computed: many outputs side by side are a sum of weights
// times lines of the image, one for each channel and tap of the window. A window that moves by s
// pixels meets every s-th pixel at each tap. So each axis of the padded image is cut into phases,
// in which the window moves by one.
// Nothing is copied once for each tap, as im2col does. The order of a sum depends on the weights'
// shape alone.
type convLines struct {
	*convPlan
	channels, filters int   // of a group
	image, out        []int // the axes behind the channels
	axes              []axisPhases
	plane             int   // numbers of a channel, laid out
	starts            []int // of the lines: by block of channels and tap, in order of summation
	inner, ldb        int   // lines behind each start, and how far apart
	together          int   // lines of outputs that are computed as one
}

// axisPhases are the phases of an axis that a tap meets, all of one size.
type axisPhases struct {
	phases         []phase
	size           int
	step, pixel    int // numbers from one index to the next, as laid out and in the image
	stride, dilate int
}

// phase holds every stride-th pixel of an axis. Indices lo to hi-1 are in the image, lo at pixel
// first; the others are padding.
type phase struct{ number, lo, hi, first, at int }

const (
	imageValues  = 1 << 17 // numbers of images that are laid out at once: they stay in the second cache
	resultValues = 1 << 16 // and of their results that are cut into lines, at most
	// channelBlock is how many channels are summed up before the next tap: lines of so many stay
	// in the first cache until all taps have met them.
	channelBlock = 32
	vectorValues = 16 // what kernels compute as one, about
)

// newConvLines lays out a convolution whose weights have the shape w.
func newConvLines(p *convPlan, w, image, out []int) *convLines {
	c := &convLines{convPlan: p, channels: w[1], filters: w[0] / p.group, image: image, out: out}
	if p.pointwise { // lines need not end where those of the image do
		c.convPlan = &convPlan{group: p.group, kernel: []int{1}, stride: []int{1}, dilate: []int{1}, pad: []int{0}, points: 1}
		c.image, c.out = []int{graph.Product(image)}, []int{graph.Product(out)}
	}
	step, pixel := 1, 1
	c.axes = make([]axisPhases, len(c.image))
	for i := range slices.Backward(c.axes) {
		a := &c.axes[i]
		*a = c.phasesOf(i, c.out[i])
		a.step, a.pixel = step, pixel
		step, pixel = step*a.size, pixel*c.image[i]
		for j := range a.phases {
			f := &a.phases[j]
			f.at = j
			if f.lo = max(0, (c.pad[i]-f.number+a.stride-1)/a.stride); c.pad[i] < f.number {
				f.lo = 0
			}
			f.first = f.lo*a.stride + f.number - c.pad[i]
			if last := c.image[i] - 1 - f.first; last >= 0 {
				f.hi = min(a.size, f.lo+last/a.stride+1)
			}
		}
	}
	c.plane = step
	for _, a := range slices.Backward(c.axes) {
		for j := range a.phases {
			a.phases[j].at *= c.plane
		}
		c.plane *= len(a.phases)
	}
	if c.plane%512 == 0 {
		c.plane += vectorValues // of lines whole pages apart few would fit in the first cache
	}
	c.order()
	c.joinLines()
	return c
}

// phasesOf are those of axis i, for so many outputs along it.
func (p *convPlan) phasesOf(i, out int) axisPhases {
	a := axisPhases{size: out + (p.kernel[i]-1)*p.dilate[i]/p.stride[i], stride: p.stride[i], dilate: p.dilate[i]}
	var met []int
	for tap := range min(p.kernel[i], p.stride[i]) {
		met = append(met, tap*p.dilate[i]%p.stride[i])
	}
	slices.Sort(met)
	for _, f := range slices.Compact(met) {
		a.phases = append(a.phases, phase{number: f})
	}
	return a
}

// tap is where along its axis a tap meets the outputs' first pixel.
func (a *axisPhases) tap(k int) int {
	j := slices.IndexFunc(a.phases, func(f phase) bool { return f.number == k*a.dilate%a.stride })
	return a.phases[j].at + k*a.dilate/a.stride*a.step
}

// order decides in which order taps and channels are summed up.
func (c *convLines) order() {
	taps, at := make([]int, c.points), make([]int, len(c.kernel))
	for t := range taps {
		unravel(t, c.kernel, at)
		for i, k := range at {
			taps[t] += c.axes[i].tap(k)
		}
	}
	last := len(c.kernel) - 1
	if c.inner = divisor(c.channels, channelBlock); c.inner < c.kernel[last] && c.stride[last] == 1 {
		c.inner, c.ldb = c.kernel[last], c.dilate[last]
		for ch := range c.channels {
			for t := 0; t < c.points; t += c.inner {
				c.starts = append(c.starts, ch*c.plane+taps[t])
			}
		}
		return
	}
	c.ldb = c.plane
	for ch := 0; ch < c.channels; ch += c.inner {
		for _, t := range taps {
			c.starts = append(c.starts, ch*c.plane+t)
		}
	}
}

// divisor is the largest divisor of n up to most, n itself if that is small.
func divisor(n, most int) int {
	for d := most; d > most/4; d-- {
		if n%d == 0 {
			return d
		}
	}
	return n
}

// joinLines decides how many lines are computed as one, with the outputs between them that are
// none: so that vectors are full.
func (c *convLines) joinLines() {
	d := len(c.out)
	c.together = 1
	if d == 1 {
		return
	}
	least, width, pitch := 0, c.out[d-1], c.axes[d-1].size
	for n := range c.out[d-2] {
		values := n*pitch + width
		vectors := (values + vectorValues - 1) / vectorValues * ((c.out[d-2] + n) / (n + 1))
		if pitch > width && values*c.filters > resultValues {
			break
		}
		if least == 0 || vectors < least {
			least, c.together = vectors, n+1
		}
	}
}

// packConv prepares weights, as the graph has them, and a bias or nil.
func packConv[T kernel.Float](c *convLines, w, bias []T) *kernel.Filters[T] {
	ordered := make([]T, 0, len(w))
	for each := c.channels * c.points; len(w) > 0; w = w[each:] {
		if c.ldb != c.plane {
			ordered = append(ordered, w[:each]...)
			continue
		}
		for ch := 0; ch < c.channels; ch += c.inner {
			for t := range c.points {
				for l := range c.inner {
					ordered = append(ordered, w[(ch+l)*c.points+t])
				}
			}
		}
	}
	return kernel.PackFilters(c.group, c.filters, ordered, bias, c.starts, c.ldb, c.inner)
}

// block is how many of the images are worked on at once.
func (c *convLines) block(images int) int {
	return max(1, min(images, imageValues/(c.channels*c.plane)))
}

// work is how many numbers a convolution of so many images works in.
func (c *convLines) work(images int) int {
	return c.block(images) * (c.channels*c.plane + kernel.SlideWidth + c.filters*c.results())
}

// results is the room for a filter's outputs that are cut into lines, 0 if they need not be.
func (c *convLines) results() int {
	last := len(c.out) - 1
	if c.together == 1 || c.axes[last].size == c.out[last] {
		return 0
	}
	return (c.together-1)*c.axes[last].size + c.out[last]
}

// convolve sets out to the convolution of images, and negative outputs to 0 with relu. work holds
// c.work numbers.
func convolve[T kernel.Float](c *convLines, f *kernel.Filters[T], out, in, work []T, relu bool) {
	imageSize, outSize := c.channels*graph.Product(c.image), c.filters*graph.Product(c.out)
	images := len(in) / (imageSize * c.group)
	block := c.block(images)
	room := block*c.channels*c.plane + kernel.SlideWidth
	laid, results := work[:room], work[room:]
	clear(laid)
	for at := 0; at < images; at += block {
		n := min(block, images-at)
		for g := range c.group {
			for i := range n {
				lay(c, laid[i*c.channels*c.plane:], in[((at+i)*c.group+g)*imageSize:])
			}
			slide(c, f, g, out[(at*c.group+g)*outSize:], laid, results, relu, n)
		}
	}
}

// lay lays out the channels of an image, whose padding is 0 already.
func lay[T kernel.Float](c *convLines, dst, image []T) {
	size := graph.Product(c.image)
	for ch := range c.channels {
		layAxis(c.axes, dst[ch*c.plane:][:c.plane], image[ch*size:][:size])
	}
}

func layAxis[T kernel.Float](axes []axisPhases, dst, image []T) {
	a := &axes[0]
	for _, f := range a.phases {
		switch {
		case f.lo >= f.hi:
		case len(axes) == 2 && a.stride == 1 && axes[1].stride == 1:
			line := axes[1].phases[0]
			to, from := f.at+f.lo*a.step+line.at+line.lo, f.first*a.pixel+line.first
			kernel.CopyRows(dst[to:], a.step, image[from:], a.pixel, line.hi-line.lo, f.hi-f.lo)
		case len(axes) > 1:
			for q := f.lo; q < f.hi; q++ {
				layAxis(axes[1:], dst[f.at+q*a.step:], image[(f.first+(q-f.lo)*a.stride)*a.pixel:])
			}
		case a.stride == 1:
			copy(dst[f.at+f.lo:f.at+f.hi], image[f.first:])
		default:
			pixels := image[f.first:]
			for i := range dst[f.at+f.lo : f.at+f.hi] {
				dst[f.at+f.lo+i] = pixels[i*a.stride]
			}
		}
	}
}

// slide computes the filters of group g for n images that are laid out.
func slide[T kernel.Float](c *convLines, f *kernel.Filters[T], g int, out, laid, results []T, relu bool, n int) {
	d, outSize := len(c.out), graph.Product(c.out)
	width, pitch, lines := c.out[d-1], c.axes[d-1].size, 1
	if d > 1 {
		lines = c.out[d-2]
	}
	images := kernel.Images{Count: n, B: c.channels * c.plane, C: c.group * c.filters * outSize}
	cut := c.results() > 0
	for plane := range outSize / (lines * width) {
		first, rest := 0, plane
		for i := d - 3; i >= 0; i-- {
			first += rest % c.out[i] * c.axes[i].step
			rest /= c.out[i]
		}
		for l := 0; l < lines; l += c.together {
			count := min(c.together, lines-l)
			to, from, values := out[(plane*lines+l)*width:], laid[first+l*pitch:], (count-1)*pitch+width
			if !cut {
				f.Slide(g, to, outSize, from, values, relu, images)
				continue
			}
			ld := c.results()
			f.Slide(g, results, ld, from, values, relu, kernel.Images{Count: n, B: images.B, C: c.filters * ld})
			for i := range n {
				for m := range c.filters {
					result, channel := results[(i*c.filters+m)*ld:], to[i*images.C+m*outSize:]
					kernel.CopyRows(channel, width, result, pitch, width, count)
				}
			}
		}
	}
}
