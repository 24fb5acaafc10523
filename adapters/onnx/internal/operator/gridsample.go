package operator

import (
	"errors"
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// gridSampleOps sample images where a grid of each row says.
func gridSampleOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "GridSample", Versions: []int{16, 20, 22}, Min: 2, Max: 2, Outputs: 1, Check: checkGridSample},
			Rule: gridSampleRule, Compile: compileGridSample[T], Jumps: true},
	}
}

// sampler is a GridSample with its attributes resolved.
type sampler struct {
	size, stride []int // of the image; at most three axes
	mode         string
	padding      string
	align        bool
	single       bool // coordinates are computed in float
}

func checkGridSample(c *graph.Check) error {
	if err := errors.Join(c.Floating(0), c.Floating(1)); err != nil {
		return err
	}
	d, err := imageAxes(c, 1)
	if err != nil {
		return err
	}
	in, grid := c.Inputs[0].Shape, c.Inputs[1].Shape
	if d > 3 {
		return fmt.Errorf("image %s has more than three axes", graph.ShapeText(in))
	}
	if len(grid) != len(in) || grid[len(grid)-1] != d || grid[0] != in[0] {
		return fmt.Errorf("grid %s does not fit input %s: both need the same rows, and the grid a coordinate for each of the %d axes", graph.ShapeText(grid), graph.ShapeText(in), d)
	}
	s := &sampler{size: in[2:], stride: rowMajor(in[2:]), align: c.AttrInt("align_corners", 0) != 0, single: c.Inputs[1].Type == graph.Float32}
	for _, n := range s.size {
		if n < 1 {
			return fmt.Errorf("cannot sample the empty image %s", graph.ShapeText(in))
		}
	}
	switch s.mode = c.Attrs["mode"].String; s.mode {
	case "", "bilinear", "linear":
		s.mode = "linear"
	case "bicubic", "cubic":
		s.mode = "cubic"
	case "nearest":
	default:
		return fmt.Errorf("mode %q is none of nearest, linear and cubic", s.mode)
	}
	switch s.padding = c.Attrs["padding_mode"].String; s.padding {
	case "", "zeros":
		s.padding = "zeros"
	case "border", "reflection":
	default:
		return fmt.Errorf("padding_mode %q is none of zeros, border and reflection", s.padding)
	}
	c.Resolved = s
	out := append(append([]int{}, in[:2]...), grid[1:len(grid)-1]...)
	if err := c.Set(0, c.Inputs[0].Type, out); err != nil {
		return err
	}
	return c.MultiplyAdds(out, 64)
}

// maxCorners is the number of pixels that a sample is made of at most: four along each of
// three axes.
const maxCorners = 64

// corners are the pixels that a sample is the weighted sum of.
type corners struct {
	n  int
	at [maxCorners]int
	w  [maxCorners]float64
}

// locate finds the pixels of the point with these normalised coordinates, the last axis's
// first.
func (s *sampler) locate(c *corners, point []float64) {
	c.n, c.at[0], c.w[0] = 1, 0, 1
	for i, size := range s.size {
		var at [4]int
		var w [4]float64
		n := s.axis(point[len(s.size)-1-i], size, &at, &w)
		for k := c.n*n - 1; k >= 0; k-- { // from the end, for it overwrites
			from := k / n
			c.at[k], c.w[k] = c.at[from]+at[k%n]*s.stride[i], c.w[from]*w[k%n]
		}
		c.n *= n
	}
}

// axis finds the pixels of a normalised coordinate along one axis of that size, and
// how many there are.
func (s *sampler) axis(p float64, size int, at *[4]int, w *[4]float64) int {
	x := s.pixel(p, size)
	if math.IsNaN(x) {
		at[0], w[0] = 0, x
		return 1
	}
	lo, hi := -0.5, float64(size)-0.5
	if s.align {
		lo, hi = 0, float64(size-1)
	}
	if x = s.padded(x, size, lo, hi); !(math.Abs(x) < 1<<40) { // far from every pixel
		return 0
	}
	k, coefficients := s.around(x)
	n := 0
	for i, v := range coefficients {
		pixel, inside := s.inside(k+i, size, lo, hi)
		if v != 0 && inside {
			at[n], w[n] = pixel, v
			n++
		}
	}
	return n
}

// padded moves a pixel that is not between lo and hi to where the padding takes it from.
func (s *sampler) padded(x float64, size int, lo, hi float64) float64 {
	switch {
	case x >= lo && x <= hi:
	case s.padding == "border":
		room := 0.0
		if s.mode == "cubic" { // sees the border and what is behind it until it is far away
			room = 4
		}
		return min(max(x, -room), float64(size-1)+room)
	case s.padding == "reflection":
		return reflectedAt(x, lo, hi)
	}
	return x
}

// around is the first of the pixels around x, and the weights of up to four.
func (s *sampler) around(x float64) (first int, w [4]float64) {
	first = int(math.Floor(x))
	t := x - math.Floor(x)
	switch s.mode {
	case "nearest":
		return int(x), [4]float64{1}
	case "linear":
		return first, [4]float64{1 - t, t}
	}
	m := interpolation{kind: "cubic", cubic: -0.75}
	return first - 1, [4]float64{m.kernel(t + 1), m.kernel(t), m.kernel(1 - t), m.kernel(2 - t)}
}

// pixel turns a coordinate between -1 and 1 into one counted in pixels, a whole one if the
// nearest is asked for.
func (s *sampler) pixel(p float64, size int) float64 {
	if s.mode != "nearest" {
		return unnormalised(p, size, s.align)
	}
	if s.single { // the last digits decide which pixel it is
		p = float64(unnormalised(float32(p), size, s.align))
	} else {
		p = unnormalised(p, size, s.align)
	}
	return math.RoundToEven(p)
}

func unnormalised[F kernel.Float](p F, size int, align bool) F {
	if align {
		return F((p+1)/2) * F(size-1)
	}
	return (F((p+1)*F(size)) - 1) / 2
}

// inside is pixel k, or what the padding puts in its place; false: a zero.
func (s *sampler) inside(k, size int, lo, hi float64) (int, bool) {
	if k >= 0 && k < size {
		return k, true
	}
	switch s.padding {
	case "border":
		return min(max(k, 0), size-1), true
	case "reflection":
		return min(max(int(reflectedAt(float64(k), lo, hi)), 0), size-1), true
	}
	return 0, false
}

// reflectedAt folds x into lo to hi, back and forth.
func reflectedAt(x, lo, hi float64) float64 {
	span := hi - lo
	if span <= 0 {
		return lo
	}
	r := math.Mod(math.Abs(x-lo), 2*span)
	if r > span {
		r = 2*span - r
	}
	return lo + r
}

func compileGridSample[T kernel.Float](n *graph.Node) Step[T] {
	s := n.Resolved.(*sampler)
	d, size := len(s.size), graph.Product(s.size)
	return func(x *Exec[T]) error {
		in, grid, out := x.In[0].F, x.In[1].F, x.Out[0].F
		channels, points := x.In[0].Shape[1], graph.Product(x.Out[0].Shape[2:])
		var c corners
		var point [3]float64
		for p := range len(grid) / d {
			for i := range d {
				point[i] = float64(grid[p*d+i])
			}
			s.locate(&c, point[:d])
			row, o := p/points, p%points
			for ch := row * channels; ch < (row+1)*channels; ch++ {
				image, sum := in[ch*size:(ch+1)*size], T(0)
				for k := range c.n {
					sum += T(T(c.w[k]) * image[c.at[k]])
				}
				out[ch*points+o] = sum
			}
		}
		return nil
	}
}

// gridSampleRule: a sample depends on its channel and on its point.
func gridSampleRule(n *graph.Node) Rule {
	in, grid := n.Inputs[0].RowShape(), n.Inputs[1].RowShape()
	d := len(in) - 2
	if d < 1 || n.Inputs[0].BatchAxis() != 0 {
		return opaque(n)
	}
	size, points := graph.Product(in[2:]), graph.Product(grid[1:len(grid)-1])
	return Rule{Cost: size + d, Each: func(_, e int, yield Link) {
		for k := range size {
			yield(0, e/points*size+k, 1)
		}
		for i := range d {
			yield(1, e%points*d+i, 1)
		}
	}}
}
