package operator

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// poolOps summarise what is under a sliding window, in each channel by itself.
func poolOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "AveragePool", Versions: []int{1, 7, 10, 11, 19, 22}, Min: 1, Max: 1, Outputs: 1, Check: checkAveragePool},
			Rule: averagePoolRule, Compile: compileAveragePool[T]},
		{Operator: graph.Operator{Name: "LpPool", Versions: []int{1, 2, 11, 18, 22}, Min: 1, Max: 1, Outputs: 1, Check: checkLpPool},
			Rule: poolRule, Compile: compileLpPool[T]},
		{Operator: graph.Operator{Name: "GlobalLpPool", Versions: []int{1, 2, 22}, Min: 1, Max: 1, Outputs: 1, Check: checkGlobalLpPool},
			Rule: poolRule, Compile: compileLpPool[T]},
		{Operator: graph.Operator{Name: "MaxPool", Versions: []int{1, 8, 10, 11, 12, 22}, Min: 1, Max: 1, Outputs: 2, Check: checkMaxPool},
			Rule: poolRule, Compile: compileMaxPool[T], Jumps: true},
		{Operator: graph.Operator{Name: "MaxUnpool", Versions: []int{9, 11, 22}, Min: 2, Max: 3, Outputs: 1, Check: checkMaxUnpool, SizeInputs: []int{2}},
			Rule: unpoolRule, Compile: compileMaxUnpool[T]},
	}
}

// pooling is a pool with its attributes resolved.
type pooling struct {
	*sliding
	count       [][]int // by axis and place: what an average is divided by is their product
	p           float64 // the norm of an LpPool
	columnMajor bool    // how MaxPool counts its Indices
	hasIndices  bool
	lines       *lines // of a MaxPool whose lines are worth vectors; nil: it goes number by number
}

// poolWindow reads the window of a pool and sets output 0. padded: an average counts the
// padding; canBeEmpty: a window may hold padding alone.
func poolWindow(c *graph.Check, padded, canBeEmpty bool) (*pooling, error) {
	d, err := imageAxes(c, 2)
	if err != nil {
		return nil, err
	}
	kernel, err := kernelShape(c, d)
	if err != nil {
		return nil, err
	}
	in := c.Inputs[0].Shape
	g, after, err := windowOf(c, kernel, in[2:])
	if err != nil {
		return nil, err
	}
	up, err := roundsUp(c, g, in[2:])
	if err != nil {
		return nil, err
	}
	places := make([]int, d)
	for i, n := range in[2:] {
		if places[i], err = poolPlaces(n+g.pad[i]+after[i], n+g.pad[i], g.span(i), g.stride[i], up); err != nil {
			return nil, fmt.Errorf("kernel %v does not fit input %s: %w", kernel, graph.ShapeText(in), err)
		}
	}
	out := append(append([]int{}, in[:2]...), places...)
	if err := setFitting(c, out); err != nil {
		return nil, err
	}
	p := &pooling{sliding: newSliding(in[2:], places, kernel, g.stride, g.dilate, g.pad)}
	for i, n := range in[2:] {
		inside := p.inside(i, 0, n)
		if o := slices.Index(inside, 0); o >= 0 && !canBeEmpty {
			return nil, fmt.Errorf("under the window at place %d of axis %d lies nothing but padding; export the model with smaller pads", o, 2+i)
		}
		if padded {
			inside = p.inside(i, -g.pad[i], n+after[i])
		}
		p.count = append(p.count, inside)
	}
	return p, c.MultiplyAdds(out, graph.Product(kernel))
}

// roundsUp reads ceil_mode, which means nothing where auto_pad decides.
func roundsUp(c *graph.Check, g *convPlan, image []int) (bool, error) {
	up, mode := c.AttrInt("ceil_mode", 0) != 0, c.Attrs["auto_pad"].String
	if mode == "" || mode == "NOTSET" {
		return up, nil
	}
	for i, n := range image {
		if mode != "VALID" && g.kernel[i] > 1 && g.dilate[i] > 1 || mode == "VALID" && up && (n-g.span(i))%g.stride[i] != 0 {
			return false, fmt.Errorf("auto_pad %s with dilations %v and ceil_mode %t: runtimes differ from the definition and from each other; export the model with pads", mode, g.dilate, up)
		}
	}
	return false, nil
}

// poolPlaces is the number of places of a window along an axis. A last window that up
// (ceil_mode) adds must begin before the padding behind the input does.
func poolPlaces(padded, begins, span, stride int, up bool) (int, error) {
	room := padded - span
	if up {
		room += stride - 1
	}
	if room < 0 {
		return 0, fmt.Errorf("it spans %d of %d", span, padded)
	}
	n := room/stride + 1
	if up && (n-1)*stride >= begins {
		n--
	}
	if n < 1 {
		return 0, fmt.Errorf("it has no place")
	}
	return n, nil
}

// inside counts, for every place along axis i, the taps on pixels lo to hi-1.
func (p *pooling) inside(i, lo, hi int) []int {
	n := make([]int, p.places[i])
	for o := range n {
		first := o*p.stride[i] - p.before[i]
		from, to := 0, p.kernel[i]
		if first < lo {
			from = (lo - first + p.dilate[i] - 1) / p.dilate[i]
		}
		if first < hi {
			to = min(to, (hi-1-first)/p.dilate[i]+1)
		} else {
			to = 0
		}
		n[o] = max(to-from, 0)
	}
	return n
}

// counts is the product of the counts of all axes for every place.
func (p *pooling) counts() []int {
	all := make([]int, graph.Product(p.places))
	at := make([]int, len(p.places))
	for e := range all {
		unravel(e, p.places, at)
		all[e] = 1
		for i, o := range at {
			all[e] *= p.count[i][o]
		}
	}
	return all
}

func checkAveragePool(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	padded := c.AttrInt("count_include_pad", 0) != 0
	p, err := poolWindow(c, padded, padded)
	c.Resolved = p
	return err
}

func compileAveragePool[T kernel.Float](n *graph.Node) Step[T] {
	p := n.Resolved.(*pooling)
	var count []T
	for _, k := range p.counts() {
		count = append(count, T(k))
	}
	size, step := graph.Product(p.image), p.stride[len(p.stride)-1]
	return func(x *Exec[T]) error {
		in, out := x.In[0].F, x.Out[0].F
		clear(out)
		for i := 0; i < len(out); i += len(count) {
			dst, src := out[i:i+len(count)], in[i/len(count)*size:]
			p.each(func(_, o, x, n int) { addEvery(dst[o:o+n], src[x:], step) })
			for j, k := range count {
				dst[j] /= k
			}
		}
		return nil
	}
}

// addEvery adds every step-th number of src to dst.
func addEvery[T kernel.Float](dst, src []T, step int) {
	if step == 1 {
		for i, v := range src[:len(dst)] {
			dst[i] += v
		}
		return
	}
	at := 0
	for i := range dst {
		dst[i] += src[at]
		at += step
	}
}

// averagePoolRule: the mean of the pixels under the window.
func averagePoolRule(n *graph.Node) Rule {
	p, ok := n.Resolved.(*pooling)
	if !ok {
		return opaque(n)
	}
	size, places := graph.Product(p.image), graph.Product(p.places)
	at := make([]int, len(p.places))
	return Rule{Linear: true, Cost: graph.Product(p.kernel), Each: func(_, e int, yield Link) {
		unravel(e%places, p.places, at)
		count := 1
		for i, o := range at {
			count *= p.count[i][o]
		}
		base := e / places * size
		p.pixels(at, func(_, x int) { yield(0, base+x, 1/float64(count)) })
	}}
}

// poolRule is that of the pools that are not linear.
func poolRule(n *graph.Node) Rule {
	r := averagePoolRule(n)
	r.Linear = false
	return r
}

func checkLpPool(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	p, err := poolWindow(c, false, true)
	if err != nil {
		return err
	}
	c.Resolved = p
	p.p, err = norm(c)
	return err
}

// checkGlobalLpPool: the window is the image.
func checkGlobalLpPool(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	d, err := imageAxes(c, 2)
	if err != nil {
		return err
	}
	in := c.Inputs[0].Shape
	if err := countable(c, in[2:]); err != nil {
		return err
	}
	ones := make([]int, d)
	for i := range ones {
		ones[i] = 1
	}
	p := &pooling{sliding: newSliding(in[2:], ones, in[2:], ones, ones, make([]int, d))}
	for i := range d {
		p.count = append(p.count, []int{in[2+i]})
	}
	c.Resolved = p
	if p.p, err = norm(c); err != nil {
		return err
	}
	return c.Set(0, c.Inputs[0].Type, append(append([]int{}, in[:2]...), ones...))
}

// norm reads p, which the first version holds as a floating number.
func norm(c *graph.Check) (float64, error) {
	p := float64(c.AttrInt("p", 2))
	if c.Version < 2 {
		p = c.AttrFloat("p", 2)
	}
	if !(p >= 1) {
		return 0, fmt.Errorf("p %g is not the power of a norm: it must be at least 1", p)
	}
	return p, nil
}

func compileLpPool[T kernel.Float](n *graph.Node) Step[T] {
	p := n.Resolved.(*pooling)
	size, places, step := graph.Product(p.image), graph.Product(p.places), p.stride[len(p.stride)-1]
	return func(x *Exec[T]) error {
		in, out := x.In[0].F, x.Out[0].F
		clear(out)
		for i := 0; i < len(out); i += places {
			dst, src := out[i:i+places], in[i/places*size:]
			p.each(func(_, o, x, n int) { addPowers(dst[o:o+n], src[x:], step, p.p) })
		}
		for i, v := range out {
			out[i] = T(math.Pow(float64(v), 1/p.p))
		}
		return nil
	}
}

// addPowers adds |v|^p of every step-th number v of src to dst.
func addPowers[T kernel.Float](dst, src []T, step int, p float64) {
	at := 0
	for i := range dst {
		v := src[at]
		at += step
		switch p {
		case 1:
			dst[i] += T(math.Abs(float64(v)))
		case 2:
			dst[i] += T(v * v)
		default:
			dst[i] += T(math.Pow(math.Abs(float64(v)), p))
		}
	}
}
