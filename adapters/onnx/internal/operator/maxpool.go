package operator

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// whole reports whether t holds integers.
func whole(t graph.DType) bool { return strings.Contains(t.String(), "int") }

func checkMaxPool(c *graph.Check) error {
	if t := c.Inputs[0].Type; !t.Floating() && !whole(t) {
		return fmt.Errorf("input 0 (%q) must hold numbers, is %s", c.Inputs[0].Name, t)
	}
	p, err := poolWindow(c, false, false)
	if err != nil {
		return err
	}
	c.Resolved = p
	p.columnMajor = c.AttrInt("storage_order", 0) != 0
	if len(c.Outputs) < 2 || c.Outputs[1] == nil {
		if c.Inputs[0].Type.Floating() {
			p.lines = newLines(p.sliding)
		}
		return nil
	}
	in := c.Inputs[0]
	p.hasIndices = true
	if at := in.BatchAxis(); at > 0 || at == 0 && !c.ReadOnlyBy(c.Outputs[1], "MaxUnpool") {
		return errors.New("mixes rows: its Indices count through the elements of all rows, so they are followed into MaxUnpool alone; export the model without them")
	}
	return c.Set(1, graph.Int64, c.Outputs[0].Shape)
}

func compileMaxPool[T kernel.Float](n *graph.Node) Step[T] {
	p := n.Resolved.(*pooling)
	if p.hasIndices {
		return compileMaxIndices[T](n, p)
	}
	return func(x *Exec[T]) error {
		switch {
		case x.Out[0].F == nil:
			maxima(x.Out[0].I, x.In[0].I, math.MinInt64, p.sliding)
		case p.lines == nil:
			maxima(x.Out[0].F, x.In[0].F, T(math.Inf(-1)), p.sliding)
		default:
			maximaByLines(x.Out[0].F, x.In[0].F, x.temp(p.Scratch()), p)
		}
		return nil
	}
}

// maxima takes the largest number under each window, NaN if one is.
func maxima[E kernel.Float | int64](out, in []E, least E, s *sliding) {
	size, places, step := graph.Product(s.image), graph.Product(s.places), s.stride[len(s.stride)-1]
	for i := range out {
		out[i] = least
	}
	for i := 0; i < len(out); i += places {
		dst, src := out[i:i+places], in[i/places*size:]
		s.each(func(_, o, x, n int) {
			for j := range dst[o : o+n] {
				dst[o+j] = max(dst[o+j], src[x])
				x += step
			}
		})
	}
}

// lines is what MaxPool keeps to go by lines: numbers along the last axis of an image.
type lines struct {
	over  *sliding // the windows without the last axis; nil: an image is one line
	bare  []int    // lines of places that the first tap of over does not cover
	n     int      // lines of places
	width int      // of a line with its padding, as far as windows go
}

// newLines is nil where lines are too short.
func newLines(s *sliding) *lines {
	const least = 16
	last := len(s.kernel) - 1
	l := &lines{n: graph.Product(s.places[:last])}
	l.width = max(s.before[last]+s.image[last], (s.places[last]-1)*s.stride[last]+1+(s.kernel[last]-1)*s.dilate[last])
	if l.width < least {
		return nil
	}
	if last == 0 {
		return l
	}
	l.over = newSliding(s.image[:last], s.places[:last], s.kernel[:last], s.stride[:last], s.dilate[:last], s.before[:last])
	covered := make([]bool, l.n)
	l.over.each(func(tap, o, _, n int) {
		for k := o; tap == 0 && k < o+n; k++ {
			covered[k] = true
		}
	})
	for k, is := range covered {
		if !is {
			l.bare = append(l.bare, k)
		}
	}
	return l
}

// Scratch holds the lines of places of an image twice, and one without numbers.
func (p *pooling) Scratch() int {
	if p.lines == nil {
		return 0
	}
	return (2*p.lines.n + 1) * p.lines.width
}

// maximaByLines is maxima in two steps: of the lines under a window, number by number, and then of the numbers along a
// line, both by vectors. An image with a NaN, which vectors may pass over, goes number by number.
func maximaByLines[T kernel.Float](out, in, room []T, p *pooling) {
	s, l, last := p.sliding, p.lines, len(p.kernel)-1
	size, places, w, before := graph.Product(s.image), graph.Product(s.places), s.image[last], s.before[last]
	all := l.n * l.width
	under, along, blank := room[:all], room[all:2*all], room[2*all:][:l.width]
	for i := range room {
		room[i] = T(math.Inf(-1)) // paddings stay so
	}
	for i := 0; i < len(out); i += places {
		dst, src := out[i:i+places], in[i/places*size:][:size]
		if sum := kernel.Dot(src, src); sum != sum {
			maxima(dst, src, T(math.Inf(-1)), s)
			continue
		}
		for _, k := range l.bare {
			copy(under[k*l.width:], blank)
		}
		if l.over == nil {
			copy(under[before:], src)
		} else {
			step := l.over.stride[last-1]
			l.over.each(func(tap, o, x, n int) {
				for j := range n {
					row, from := under[(o+j)*l.width+before:][:w], src[(x+j*step)*w:][:w]
					if tap == 0 {
						copy(row, from)
					} else {
						kernel.Max(row, row, from)
					}
				}
			})
		}
		line := under
		for tap := 1; tap < s.kernel[last]; tap++ {
			off := tap * s.dilate[last]
			kernel.Max(along[:all-off], line[:all-off], under[off:])
			line = along
		}
		for k := range l.n {
			to, from := dst[k*s.places[last]:][:s.places[last]], line[k*l.width:]
			for j := range to {
				to[j] = from[j*s.stride[last]] + 0 // of equal zeros either may be there: 0, not -0
			}
		}
	}
}

// compileMaxIndices finds where the largest numbers are, too: the first of equal ones,
// as the graph declares them. Indices of constants count through the whole tensor, those
// of rows within the row, where MaxUnpool takes them back.
func compileMaxIndices[T kernel.Float](n *graph.Node, p *pooling) Step[T] {
	read := asDeclared[T](n.Inputs[0].Type)
	if read == nil {
		read = func(v T) T { return v }
	}
	perRow := n.Inputs[0].Width()
	return func(x *Exec[T]) error {
		size, places := graph.Product(p.image), graph.Product(p.places)
		where := x.Out[1].I
		for i := 0; i < len(where); i += places {
			base := i / places * size
			for j := range places {
				where[i+j] = -1
			}
			p.each(func(_, o, at, n int) {
				for j := range n {
					e := int64(base + at + j*p.stride[len(p.stride)-1])
					if best := where[i+o+j]; best < 0 || larger(x.In[0], e, best, read) {
						where[i+o+j] = e
					}
				}
			})
			for j := range places {
				e := int(where[i+j])
				if x.Out[0].F != nil {
					x.Out[0].F[i+j] = x.In[0].F[e]
				} else {
					x.Out[0].I[i+j] = x.In[0].I[e]
				}
				where[i+j] = int64(base%perRow + p.index(e-base))
			}
		}
		return nil
	}
}

func larger[T kernel.Float](in Operand[T], e, best int64, read func(T) T) bool {
	if in.F == nil {
		return in.I[e] > in.I[best]
	}
	return read(in.F[e]) > read(in.F[best])
}

// index is the number of pixel x in the order that storage_order asks for.
func (p *pooling) index(x int) int {
	if !p.columnMajor {
		return x
	}
	var at [graph.MaxRank]int
	unravel(x, p.image, at[:len(p.image)])
	k := 0
	for i := len(p.image) - 1; i >= 0; i-- {
		k = k*p.image[i] + at[i]
	}
	return k
}

// unpooling puts numbers back where a MaxPool found them.
type unpooling struct {
	image       []int // that the indices count through
	out         []int // spatial sizes of the output, in whose corner the image lies
	columnMajor bool
}

func checkMaxUnpool(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	d, err := imageAxes(c, 1)
	if err != nil {
		return err
	}
	in := c.Inputs[0].Shape
	if where := c.Inputs[1]; where.Type != graph.Int64 || graph.ShapeText(where.Shape) != graph.ShapeText(in) {
		return fmt.Errorf("input 1 (%q) must hold int64 indices of shape %s, is %s %s", where.Name, graph.ShapeText(in), where.Type, graph.ShapeText(where.Shape))
	}
	u := &unpooling{}
	if u.image, err = unpooledImage(c, d); err != nil {
		return err
	}
	u.out = u.image
	shape := append(append([]int{}, in[:2]...), u.image...)
	if c.Has(2) {
		if shape, err = targetShape(c, 2, nil); err != nil {
			return err
		}
		if len(shape) != len(in) || shape[0] != in[0] || shape[1] != in[1] {
			return fmt.Errorf("output_shape %s does not fit input %s", graph.ShapeText(shape), graph.ShapeText(in))
		}
		u.out = shape[2:]
	}
	if graph.IsRows(in[0]) {
		if err := u.ofPool(c); err != nil {
			return err
		}
	}
	for i, s := range u.image {
		if s > u.out[i] {
			return fmt.Errorf("indices count through an image of %v, which is larger than the output %s", u.image, graph.ShapeText(shape))
		}
	}
	c.Resolved = u
	return c.Set(0, c.Inputs[0].Type, shape)
}

// ofPool requires the indices to be those that a MaxPool of this graph counts within rows,
// through images as large as the output.
func (u *unpooling) ofPool(c *graph.Check) error {
	pool := c.Inputs[1].Producer
	if pool == nil || pool.Op != "MaxPool" || pool.Inputs[0].Shape[1] != c.Inputs[0].Shape[1] {
		return errors.New("mixes rows: indices that are not those of a MaxPool in the same network may lead from one row to another; export pool and unpool together")
	}
	p := pool.Resolved.(*pooling)
	if u.image, u.columnMajor = p.image, p.columnMajor; !slices.Equal(u.image, u.out) {
		return fmt.Errorf("mixes rows: its indices count through images of %v, and its output has %v; give it the output_shape of what was pooled", u.image, u.out)
	}
	return nil
}

// unpooledImage is the least image that the window of the attributes pools to the input.
func unpooledImage(c *graph.Check, d int) ([]int, error) {
	kernel, err := kernelShape(c, d)
	if err != nil {
		return nil, err
	}
	in := c.Inputs[0].Shape[2:]
	g, after, err := windowOf(c, kernel, in)
	if err != nil {
		return nil, err
	}
	image := make([]int, d)
	for i := range image {
		if in[i] < 1 || in[i] > math.MaxInt32 {
			return nil, fmt.Errorf("cannot unpool %s", graph.ShapeText(c.Inputs[0].Shape))
		}
		if image[i] = (in[i]-1)*g.stride[i] - g.pad[i] - after[i] + kernel[i]; image[i] < 1 {
			return nil, fmt.Errorf("the pads leave nothing of axis %d", 2+i)
		}
	}
	return image, nil
}

func compileMaxUnpool[T kernel.Float](n *graph.Node) Step[T] {
	u := n.Resolved.(*unpooling)
	from := n.Inputs[0].Width()
	to := n.Outputs[0].Width()
	size, stride := graph.Product(u.image), rowMajor(u.out)
	room := graph.Product(u.out)
	return func(x *Exec[T]) error {
		out := x.Out[0].F
		clear(out)
		limit := int64(to / room * size)
		var at [graph.MaxRank]int
		for i, e := range x.In[1].I {
			if e < 0 || e >= limit {
				return fmt.Errorf("index %d is outside the %d elements of the output", e, limit)
			}
			o := i/from*to + int(e)/size*room
			u.place(int(e)%size, at[:len(u.image)])
			for k, s := range stride {
				o += at[k] * s
			}
			out[o] = x.In[0].F[i]
		}
		return nil
	}
}

// place is where pixel e of the image is.
func (u *unpooling) place(e int, at []int) {
	if !u.columnMajor {
		unravel(e, u.image, at)
		return
	}
	for i, s := range u.image {
		at[i] = e % s
		e /= s
	}
}

// unpoolRule: a channel of the output depends on the channel's numbers and where they are.
func unpoolRule(n *graph.Node) Rule {
	in, out := n.Inputs[0].RowShape(), n.Outputs[0].RowShape()
	if len(in) < 3 || n.Inputs[0].BatchAxis() < 0 {
		return opaque(n)
	}
	size, room := graph.Product(in[2:]), graph.Product(out[2:])
	return Rule{Cost: 2 * size, Each: func(_, e int, yield Link) {
		for k := range size {
			yield(0, e/room*size+k, 1)
			yield(1, e/room*size+k, 1)
		}
	}}
}
