package operator

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// interpolation says how a resized axis takes its elements from the axis as it was.
type interpolation struct {
	kind, coordinate, nearest string
	cubic                     float64 // a in Keys' kernel
	excludeOutside, antialias bool
	fill                      float64
}

// axisResize is what a Resize does to an axis. length is out before it was rounded;
// start and end are the region of interest.
type axisResize struct {
	in, out       int
	length, scale float64
	start, end    float64
}

// source is the coordinate, counted in elements of the axis as it was, from which place o
// is taken, in the precision of F.
func source[F kernel.Float](m *interpolation, a *axisResize, o int) F {
	x, n, out, scale := F(o), F(a.in), F(a.out), F(a.scale)
	switch m.coordinate {
	case "asymmetric":
		return x / scale
	case "align_corners":
		if a.out == 1 {
			return 0
		}
		return F(x*(n-1)) / (out - 1)
	case "pytorch_half_pixel":
		if a.out == 1 {
			return 0
		}
	case "tf_half_pixel_for_nn":
		return (x + 0.5) / scale
	case "tf_crop_and_resize":
		start, end := F(a.start), F(a.end)
		if a.out == 1 {
			return F(0.5*(start+end)) * (n - 1)
		}
		return F(start*(n-1)) + F(F(x*(end-start))*(n-1))/(out-1)
	case "half_pixel_symmetric":
		// The centres of both lie on each other, even if out is less than length.
		return F(n/2*(1-out/F(a.length))) + ((x+0.5)/scale - 0.5)
	}
	return (x+0.5)/scale - 0.5
}

// settled refuses what the definition and runtimes understand differently: where corners
// are aligned, the definition's tests divide by the length with its fraction, ONNX Runtime
// and PyTorch by the whole number of elements.
func (m *interpolation) settled(axes []*axisResize) error {
	if m.coordinate != "align_corners" && m.coordinate != "tf_crop_and_resize" {
		return nil
	}
	for _, a := range axes {
		if !graph.IsRows(a.in) && math.Abs(a.length-float64(a.out)) > 1e-5*a.length {
			return fmt.Errorf("coordinate_transformation_mode %q with a scale that makes %g elements of %d: runtimes differ on what a fraction of an element means; export the model with sizes in place of scales", m.coordinate, a.length, a.in)
		}
	}
	return nil
}

// outside reports whether place o is beyond the tensor, which only crops can be.
func (m *interpolation) outside(a *axisResize, x float64) bool {
	return m.coordinate == "tf_crop_and_resize" && !(x >= 0 && x <= float64(a.in-1))
}

// unchanged reports whether every place takes its own element.
func (m *interpolation) unchanged(a *axisResize) bool {
	return graph.IsRows(a.in) || a.in == a.out && a.scale == 1 && a.start == 0 && a.end == 1
}

// nearestPicks chooses one element for every place. Which one a small change of the
// coordinate decides, so it is computed in float, as runtimes do.
func (m *interpolation) nearestPicks(axes []axisResize) *padPlan {
	at := make([][]int, len(axes))
	for i := range axes {
		a := &axes[i]
		if m.unchanged(a) {
			continue
		}
		at[i] = make([]int, a.out)
		for o := range at[i] {
			x := source[float32](m, a, o)
			if at[i][o] = -1; !m.outside(a, float64(x)) {
				at[i][o] = min(max(int(m.round(float64(x), a.scale)), 0), a.in-1)
			}
		}
	}
	return &padPlan{picks: newPicks(at), fill: m.fill, whole: int64(m.fill)}
}

func (m *interpolation) round(x, scale float64) float64 {
	switch m.nearest {
	case "floor":
		return math.Floor(x)
	case "ceil":
		return math.Ceil(x)
	case "round_prefer_ceil":
		return math.Floor(x + 0.5)
	case "simple": // before opset 11
		if scale < 1 {
			return math.Ceil(x)
		}
		return math.Trunc(x)
	}
	return math.Ceil(x - 0.5)
}

// weigh resolves linear and cubic modes.
func (m *interpolation) weigh(c *graph.Check, axes []axisResize) error {
	r := &resizing{fill: m.fill}
	shape := append([]int{}, c.Inputs[0].Shape...)
	for i := range axes {
		a := &axes[i]
		if m.unchanged(a) {
			continue
		}
		w := axisWeights{axis: i}
		most := 1
		for o := range a.out {
			w.weights = append(w.weights, m.weights(a, o))
			most = max(most, len(w.weights[o]))
		}
		n, ok := graph.Elements(shape)
		if !ok {
			return fmt.Errorf("the output overflows")
		}
		if len(r.axes) > 0 {
			r.largest = max(r.largest, n)
		}
		r.axes = append(r.axes, w)
		shape[i] = a.out
		if err := c.MultiplyAdds(shape, most); err != nil {
			return err
		}
	}
	c.Resolved = r
	return c.Fits(r.Scratch(), "what is between two axes", shape)
}

// weights are the elements that place o is made of, each once, and their weights.
func (m *interpolation) weights(a *axisResize, o int) []weighted {
	x := source[float64](m, a, o)
	if m.outside(a, x) {
		return nil
	}
	// What is far outside repeats the border, as all of it does.
	x = min(max(x, -float64(a.in)-4), 2*float64(a.in)+4)
	stretch, reach := 1.0, 1.0 // of the kernel
	if m.kind == "cubic" {
		reach = 2
	}
	if m.antialias {
		stretch = min(a.scale, 1)
	}
	first := int(math.Ceil(x)) - 1 // the element before x
	n := int(math.Floor(-reach/stretch)) + 1
	var out []weighted
	sum := 0.0
	for k := first + n; k < first+2-n; k++ {
		w := m.kernel((float64(k) - x) * stretch)
		inside := k >= 0 && k < a.in
		if w == 0 || !inside && m.excludeOutside {
			continue
		}
		sum += w
		at := min(max(k, 0), a.in-1)
		if last := len(out) - 1; last >= 0 && out[last].at == at {
			out[last].w += w
		} else {
			out = append(out, weighted{at, w})
		}
	}
	if len(out) == 0 || sum == 0 {
		return []weighted{{min(max(int(math.Floor(x+0.5)), 0), a.in-1), 1}}
	}
	for i := range out {
		out[i].w /= sum
	}
	return out
}

// kernel is the weight of an element at distance d: a triangle, or Keys' cubic.
func (m *interpolation) kernel(d float64) float64 {
	d = math.Abs(d)
	a := m.cubic
	switch {
	case m.kind == "linear":
		return max(1-d, 0)
	case d <= 1:
		return ((a+2)*d-(a+3))*d*d + 1
	case d < 2:
		return ((a*d-5*a)*d+8*a)*d - 4*a
	}
	return 0
}

func compileResize[T kernel.Float](n *graph.Node) Step[T] {
	r, ok := n.Resolved.(*resizing)
	if !ok {
		return compilePad[T](n)
	}
	var passes []*pass[T]
	for _, a := range r.axes {
		passes = append(passes, newPass[T](a))
	}
	return func(x *Exec[T]) error {
		in, out := x.In[0], x.Out[0]
		if len(passes) == 0 {
			copy(out.F, in.F)
			return nil
		}
		var shape [graph.MaxRank]int
		rank := copy(shape[:], in.Shape)
		buf := x.temp(r.Scratch() * x.Rows)
		src := in.F
		for i, p := range passes {
			outer, inner := graph.Product(shape[:p.axis]), graph.Product(shape[p.axis+1:rank])
			dst := out.F
			if i < len(passes)-1 {
				dst = buf[i%2*len(buf)/2:][:outer*len(p.first)*inner]
			}
			p.run(dst, src, outer, shape[p.axis], inner)
			shape[p.axis] = len(p.first)
			src = dst
		}
		r.fillOutside(out.Shape, func(o int) { out.F[o] = T(r.fill) })
		return nil
	}
}

// pass resizes one axis: place o is the sum of the elements at[k] times w[k], k from
// first[o] on, count[o] of them.
type pass[T kernel.Float] struct {
	axis         int
	first, count []int
	at           []int
	w            []T
}

func newPass[T kernel.Float](a axisWeights) *pass[T] {
	p := &pass[T]{axis: a.axis}
	for _, place := range a.weights {
		p.first, p.count = append(p.first, len(p.at)), append(p.count, len(place))
		for _, e := range place {
			p.at, p.w = append(p.at, e.at), append(p.w, T(e.w))
		}
	}
	return p
}

// run resizes the middle of three axes, outer x size x inner.
func (p *pass[T]) run(dst, src []T, outer, size, inner int) {
	if inner == 1 {
		p.lines(dst, src, outer, size)
		return
	}
	places := len(p.first)
	for o := range outer * places {
		d := dst[o*inner : (o+1)*inner]
		clear(d)
		from := src[o/places*size*inner:]
		for k := p.first[o%places]; k < p.first[o%places]+p.count[o%places]; k++ {
			w := p.w[k]
			for i, v := range from[p.at[k]*inner:][:inner] {
				d[i] += T(w * v)
			}
		}
	}
}

// lines is run along the last axis.
func (p *pass[T]) lines(dst, src []T, outer, size int) {
	places := len(p.first)
	for o := range outer {
		line, d := src[o*size:(o+1)*size], dst[o*places:(o+1)*places]
		for i, first := range p.first {
			s := T(0)
			for k := first; k < first+p.count[i]; k++ {
				s += T(p.w[k] * line[p.at[k]])
			}
			d[i] = s
		}
	}
}

// fillOutside calls set for the elements of which an axis has no weights.
func (r *resizing) fillOutside(shape []int, set func(o int)) {
	for _, a := range r.axes {
		outer, inner := graph.Product(shape[:a.axis]), graph.Product(shape[a.axis+1:])
		for k, w := range a.weights {
			if len(w) > 0 {
				continue
			}
			for o := range outer {
				for i := range inner {
					set((o*len(a.weights)+k)*inner + i)
				}
			}
		}
	}
}

// resizeRule: the weights of all axes, multiplied.
func resizeRule(n *graph.Node) Rule {
	r, ok := n.Resolved.(*resizing)
	if !ok {
		return padRule(n)
	}
	in, out := n.Inputs[0].RowShape(), n.Outputs[0].RowShape()
	stride, c := rowMajor(in), make([]int, len(out))
	cost := 1
	for _, a := range r.axes {
		most := 1
		for _, w := range a.weights {
			most = max(most, len(w))
		}
		cost *= most
	}
	return Rule{Linear: true, Cost: cost, Each: func(_, e int, yield Link) {
		unravel(e, out, c)
		base := 0
		for i, k := range c {
			base += k * stride[i]
		}
		for _, a := range r.axes {
			if len(a.weights[c[a.axis]]) == 0 {
				yield(Itself, 0, r.fill)
				return
			}
			base -= c[a.axis] * stride[a.axis]
		}
		r.links(c, stride, 0, base, 1, yield)
	}}
}

// links multiplies out the axes from i on.
func (r *resizing) links(c, stride []int, i, base int, w float64, yield Link) {
	if i == len(r.axes) {
		yield(0, base, w)
		return
	}
	a := r.axes[i]
	for _, e := range a.weights[c[a.axis]] {
		r.links(c, stride, i+1, base+e.at*stride[a.axis], w*e.w, yield)
	}
}
