package operator

import (
	"errors"
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// sliding is a window that slides over an image of any number of axes. Along axis i,
// tap k of the window at place o lies on pixel o*stride - before + k*dilate, which may
// be outside of the image.
type sliding struct {
	image, places                  []int
	kernel, stride, dilate, before []int

	reach                    [][][2]int // by axis and tap: the places whose pixel is inside
	imageStride, placeStride []int
}

// newSliding computes what does not depend on rows.
func newSliding(image, places, kernel, stride, dilate, before []int) *sliding {
	s := &sliding{image: image, places: places, kernel: kernel, stride: stride, dilate: dilate, before: before,
		imageStride: rowMajor(image), placeStride: rowMajor(places)}
	for i := range kernel {
		r := make([][2]int, kernel[i])
		for k := range r {
			off := k*dilate[i] - before[i]
			lo, hi := 0, 0
			if off < 0 {
				lo = (-off + stride[i] - 1) / stride[i]
			}
			if off < image[i] {
				hi = min(places[i], (image[i]-1-off)/stride[i]+1)
			}
			r[k] = [2]int{min(lo, hi), hi}
		}
		s.reach = append(s.reach, r)
	}
	return s
}

// each calls f for all runs of places along the last axis whose pixel at a tap is inside:
// place o+j lies on pixel x + j*stride, j < n. Taps come in order.
func (s *sliding) each(f func(tap, o, x, n int)) {
	last := len(s.kernel) - 1
	var k, at [graph.MaxRank]int
	for tap := 0; ; tap++ {
		if o, x, some := s.begin(&k, &at); some {
			n := s.reach[last][k[last]][1] - s.reach[last][k[last]][0]
			for more := true; more; {
				f(tap, o, x, n)
				more = false
				for i := last - 1; i >= 0; i-- {
					r := s.reach[i][k[i]]
					o += s.placeStride[i]
					x += s.stride[i] * s.imageStride[i]
					if at[i]++; at[i] < r[1] {
						more = true
						break
					}
					o -= (r[1] - r[0]) * s.placeStride[i]
					x -= (r[1] - r[0]) * s.stride[i] * s.imageStride[i]
					at[i] = r[0]
				}
			}
		}
		i := last
		for ; i >= 0; i-- {
			if k[i]++; k[i] < s.kernel[i] {
				break
			}
			k[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// begin is the first place of tap k, which is written to at, and its pixel; some is false
// if the tap is never inside.
func (s *sliding) begin(k, at *[graph.MaxRank]int) (o, x int, some bool) {
	for i := range s.kernel {
		r := s.reach[i][k[i]]
		if r[0] >= r[1] {
			return 0, 0, false
		}
		at[i] = r[0]
		o += r[0] * s.placeStride[i]
		x += (r[0]*s.stride[i] - s.before[i] + k[i]*s.dilate[i]) * s.imageStride[i]
	}
	return o, x, true
}

// pixels calls f for the pixels under the window at place o (coordinates).
func (s *sliding) pixels(o []int, f func(tap, x int)) {
	var k [graph.MaxRank]int
taps:
	for tap := range graph.Product(s.kernel) {
		unravel(tap, s.kernel, k[:len(s.kernel)])
		x := 0
		for i := range s.kernel {
			p := o[i]*s.stride[i] - s.before[i] + k[i]*s.dilate[i]
			if p < 0 || p >= s.image[i] {
				continue taps
			}
			x += p * s.imageStride[i]
		}
		f(tap, x)
	}
}

// covers calls f for the taps and places that lie on pixel x (coordinates).
func (s *sliding) covers(x []int, f func(tap, o int)) {
	var k [graph.MaxRank]int
taps:
	for tap := range graph.Product(s.kernel) {
		unravel(tap, s.kernel, k[:len(s.kernel)])
		o := 0
		for i := range s.kernel {
			p := x[i] + s.before[i] - k[i]*s.dilate[i]
			if p < 0 || p%s.stride[i] != 0 || p/s.stride[i] >= s.places[i] {
				continue taps
			}
			o += p / s.stride[i] * s.placeStride[i]
		}
		f(tap, o)
	}
}

// countable bounds the taps of a window, and what newSliding keeps of them.
func countable(c *graph.Check, kernel []int) error {
	if _, ok := graph.Elements(kernel); !ok {
		return fmt.Errorf("kernel %v overflows", kernel)
	}
	sum := 0
	for _, k := range kernel {
		if k < 1 {
			return fmt.Errorf("empty kernel %v", kernel)
		}
		sum += 2 * k
	}
	return c.Fits(sum, "the window", kernel)
}

// imageAxes is the number of axes behind rows and channels of input 0. The batch
// axis may be one of the first leading axes.
func imageAxes(c *graph.Check, leading int) (int, error) {
	in := c.Inputs[0].Shape
	if len(in) < 3 {
		return 0, fmt.Errorf("needs a tensor [rows, channels, ...], has %s", graph.ShapeText(in))
	}
	for _, d := range in[leading:] {
		if graph.IsRows(d) {
			return 0, fmt.Errorf("mixes rows: the batch axis of %s is not the first; transpose it there", graph.ShapeText(in))
		}
	}
	return len(in) - 2, nil
}

// kernelShape reads the attribute that pools need.
func kernelShape(c *graph.Check, d int) ([]int, error) {
	if _, ok := c.Attrs["kernel_shape"]; !ok {
		return nil, errors.New("has no kernel_shape")
	}
	return spatial(c, "kernel_shape", d, 1)
}

// windowOf reads strides, dilations and pads of a window on an image; after is the padding
// behind each axis.
func windowOf(c *graph.Check, kernel, image []int) (g *convPlan, after []int, err error) {
	if err := countable(c, kernel); err != nil {
		return nil, nil, err
	}
	g = &convPlan{kernel: kernel}
	if g.stride, err = spatial(c, "strides", len(kernel), 1); err != nil {
		return nil, nil, err
	}
	if g.dilate, err = spatial(c, "dilations", len(kernel), 1); err != nil {
		return nil, nil, err
	}
	g.pad, after, err = padding(c, g, image)
	return g, after, err
}

// span is how many pixels the window covers along axis i.
func (p *convPlan) span(i int) int { return (p.kernel[i]-1)*p.dilate[i] + 1 }

func (p *convPlan) places(image, after []int) ([]int, error) {
	places := make([]int, len(image))
	for i, n := range image {
		room := n + p.pad[i] + after[i] - p.span(i)
		if room < 0 {
			return nil, fmt.Errorf("kernel %v does not fit an image of %v", p.kernel, image)
		}
		places[i] = room/p.stride[i] + 1
	}
	return places, nil
}

// setFitting sets output 0, in the type of input 0, before memory is taken for each of its
// axes.
func setFitting(c *graph.Check, shape []int) error {
	if err := c.Set(0, c.Inputs[0].Type, shape); err != nil {
		return err
	}
	if n, ok := graph.Elements(shape); !ok || c.Fits(n, "the output", shape) != nil {
		return graph.MemoryError(fmt.Sprintf("the output %s needs more memory than is allowed (MaxMemory)", graph.ShapeText(shape)))
	}
	return nil
}
