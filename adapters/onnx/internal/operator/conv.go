package operator

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// convOps: networks of one feature per group are written as grouped ones with a
// kernel of size 1.
func convOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Conv", Versions: []int{1, 11, 22}, Min: 2, Max: 3, Outputs: 1, AnyLayout: true, Check: checkConv},
			Rule: convRule, Compile: compileConv[T], Weighs: true, TakesRelu: func(*graph.Node) bool { return true }},
	}
}

// convPlan is a Conv with its attributes resolved.
type convPlan struct {
	group               int
	kernel              []int
	stride, dilate, pad []int // pad: before each axis
	points              int   // product of kernel
	pointwise           bool  // kernel, strides 1, no padding
}

func checkConv(c *graph.Check) error {
	if err := errors.Join(c.Floating(0), c.SameType()); err != nil {
		return err
	}
	in, w := c.Inputs[0].Shape, c.Inputs[1].Shape
	p, out, err := planConv(c, in, w)
	if err != nil {
		return err
	}
	if c.Has(2) {
		if err := channel(c, 2, w[0]); err != nil {
			return err
		}
	}
	c.Resolved = p
	if err := c.Set(0, c.Inputs[0].Type, out); err != nil {
		return err
	}
	return c.MultiplyAdds(out, w[1]*p.points)
}

// planConv reads the attributes of a convolution of in with weights w, and the shape of
// its result.
func planConv(c *graph.Check, in, w []int) (p *convPlan, out []int, err error) {
	if len(in) < 3 || len(w) != len(in) {
		return nil, nil, fmt.Errorf("needs [rows, channels, ...] and weights of as many axes, has %s and %s", graph.ShapeText(in), graph.ShapeText(w))
	}
	if graph.HasRows(in[1:]) || graph.HasRows(w) {
		return nil, nil, fmt.Errorf("mixes rows: the batch axis of %s is not the first", graph.ShapeText(in))
	}
	group := c.AttrInt("group", 1)
	if group < 1 || group > int64(in[1]) || int64(in[1])%group != 0 || int64(w[0])%group != 0 || int64(w[1]) != int64(in[1])/group {
		return nil, nil, fmt.Errorf("weights %v and %d groups do not fit input %s", w, group, graph.ShapeText(in))
	}
	d := len(in) - 2
	p = &convPlan{group: int(group), kernel: w[2:], points: graph.Product(w[2:])}
	if p.stride, err = spatial(c, "strides", d, 1); err != nil {
		return nil, nil, err
	}
	if p.dilate, err = spatial(c, "dilations", d, 1); err != nil {
		return nil, nil, err
	}
	out = []int{in[0], w[0]}
	var after []int
	if p.pad, after, err = padding(c, p, in[2:]); err != nil {
		return nil, nil, err
	}
	p.pointwise = p.points == 1
	for i := range d {
		if p.kernel[i] < 1 {
			return nil, nil, fmt.Errorf("empty kernel %v", p.kernel)
		}
		span := (p.kernel[i]-1)*p.dilate[i] + 1
		room := in[2+i] + p.pad[i] + after[i] - span
		if room < 0 {
			return nil, nil, fmt.Errorf("kernel %v does not fit input %s", p.kernel, graph.ShapeText(in))
		}
		out = append(out, room/p.stride[i]+1)
		p.pointwise = p.pointwise && p.stride[i] == 1 && p.pad[i] == 0 && after[i] == 0
	}
	laid := []int{w[1]}
	for i := range d {
		a := p.phasesOf(i, out[2+i])
		laid = append(laid, a.size*len(a.phases))
	}
	if n, ok := graph.Elements(laid); !ok || c.Fits(n, "the padded image", laid) != nil {
		return nil, nil, fmt.Errorf("the padded image %v needs more memory than is allowed (MaxMemory)", laid)
	}
	return p, out, nil
}

// spatial reads a list with one entry per spatial axis, each at least least, which it is
// without the list.
func spatial(c *graph.Check, name string, d, least int) ([]int, error) {
	out := slices.Repeat([]int{least}, d)
	a, ok := c.Attrs[name]
	if ok && len(a.Ints) != d {
		return nil, fmt.Errorf("%s %v for %d spatial axes", name, a.Ints, d)
	}
	for i, v := range a.Ints {
		if v < int64(least) || v > 1<<20 {
			return nil, fmt.Errorf("%s %v must be between %d and %d", name, a.Ints, least, 1<<20)
		}
		out[i] = int(v)
	}
	return out, nil
}

// padding is the zeros before and after each spatial axis.
func padding(c *graph.Check, p *convPlan, size []int) (before, after []int, err error) {
	d := len(size)
	before, after = make([]int, d), make([]int, d)
	switch mode := c.Attrs["auto_pad"].String; mode {
	case "", "NOTSET":
		pads, ok := c.Attrs["pads"]
		if ok && len(pads.Ints) != 2*d {
			return nil, nil, fmt.Errorf("pads %v for %d spatial axes", pads.Ints, d)
		}
		for i, v := range pads.Ints {
			if v < 0 || v > 1<<20 {
				return nil, nil, fmt.Errorf("pads %v must be between 0 and %d", pads.Ints, 1<<20)
			}
			if i < d {
				before[i] = int(v)
			} else {
				after[i-d] = int(v)
			}
		}
	case "VALID":
	case "SAME_UPPER", "SAME_LOWER":
		for i := range d {
			span := (p.kernel[i]-1)*p.dilate[i] + 1
			n := (size[i] + p.stride[i] - 1) / p.stride[i]
			total := max((n-1)*p.stride[i]+span-size[i], 0)
			before[i], after[i] = total/2, total-total/2
			if mode == "SAME_LOWER" {
				before[i], after[i] = after[i], before[i]
			}
		}
	default:
		return nil, nil, fmt.Errorf("auto_pad %q is not supported", mode)
	}
	return before, after, nil
}

// isPointwise: one position and a kernel of size 1.
func isPointwise(n *graph.Node) bool {
	return n.Inputs[1].Const != nil && n.Resolved.(*convPlan).pointwise && graph.Product(n.Inputs[0].Shape[2:]) == 1
}

func compileConv[T kernel.Float](n *graph.Node) Step[T] {
	p := n.Resolved.(*convPlan)
	if isPointwise(n) {
		return compilePointwise[T](n, p)
	}
	w := n.Inputs[1]
	c := newConvLines(p, w.Shape, n.Inputs[0].Shape[2:], n.Outputs[0].Shape[2:])
	var packed *kernel.Filters[T]
	if biased := len(n.Inputs) > 2 && n.Inputs[2] != nil; w.Const != nil && (!biased || n.Inputs[2].Const != nil) {
		var bias []T
		if biased {
			bias = Floats[T](n.Inputs[2])
		}
		packed = packConv(c, Floats[T](w), bias)
	}
	return func(x *Exec[T]) error {
		f := packed
		if f == nil {
			var bias []T
			if len(x.In) > 2 {
				bias = x.In[2].F
			}
			f = packConv(c, x.In[1].F, bias)
		}
		convolve(c, f, x.Out[0].F, x.In[0].F, x.temp(c.work(x.In[0].Shape[0])), x.Relu)
		return nil
	}
}

// compilePointwise: one position and a kernel of size 1 is a product per group.
func compilePointwise[T kernel.Float](n *graph.Node, p *convPlan) Step[T] {
	wv := n.Inputs[1]
	w := Floats[T](wv)
	k, m := wv.Shape[1], wv.Shape[0]/p.group
	var packed []*kernel.Weights[T]
	for g := range p.group {
		packed = append(packed, kernel.Pack(k, m, w[g*m*k:], true).SkipZeros())
	}
	return func(x *Exec[T]) error {
		lda, ldc := k*p.group, m*p.group
		var bias []T
		if len(x.In) > 2 {
			bias = x.In[2].F
		}
		for g, w := range packed {
			var b []T
			if bias != nil {
				b = bias[g*m : (g+1)*m]
			}
			if x.Relu {
				w.MulRelu(x.Out[0].F[g*m:], ldc, x.In[0].F[g*k:], lda, x.In[0].Shape[0], b)
			} else {
				w.Mul(x.Out[0].F[g*m:], ldc, x.In[0].F[g*k:], lda, x.In[0].Shape[0], b)
			}
		}
		return nil
	}
}

// convRule with constant weights is linear: input n x C x spatial, weights
// M x C/group x kernel.
func convRule(n *graph.Node) Rule {
	if len(n.Inputs) < 2 || n.Inputs[0] == nil || n.Inputs[1] == nil || n.Inputs[1].Const == nil || !n.Outputs[0].Type.Floating() {
		return opaque(n)
	}
	in, w, out := n.Inputs[0].RowShape(), n.Inputs[1].RowShape(), n.Outputs[0].RowShape()
	spatial := len(in) - 2
	group := int(n.AttrInt("group", 1))
	if spatial < 0 || len(w) != len(in) || len(out) != len(in) || group < 1 || in[1] != group*w[1] || w[0]%group != 0 || out[1] != w[0] {
		return opaque(n)
	}
	stride, dilation, pad, ok := convWindow(n, in[2:], w[2:], out[2:])
	if !ok {
		return opaque(n)
	}
	weights := n.Inputs[1].Const
	kernel, c, k := graph.Product(w[2:]), make([]int, len(out)), make([]int, spatial)
	strides := rowMajor(in)
	return Rule{Linear: true, Cost: w[1]*kernel + 1, Each: func(_, e int, yield Link) {
		unravel(e, out, c)
		m := c[1]
		base := c[0]*strides[0] + m/(w[0]/group)*w[1]*strides[1]
	taps:
		for t := range kernel {
			unravel(t, w[2:], k)
			at := base
			for i := range spatial {
				x := c[2+i]*stride[i] - pad[i] + k[i]*dilation[i]
				if x < 0 || x >= in[2+i] {
					continue taps
				}
				at += x * strides[2+i]
			}
			for ch := range w[1] {
				yield(0, at+ch*strides[1], weights.At((m*w[1]+ch)*kernel+t))
			}
		}
		if len(n.Inputs) > 2 && n.Inputs[2] != nil {
			yield(2, m, 1)
		}
	}}
}

// convWindow reads strides, dilations and the pads before each spatial axis.
func convWindow(n *graph.Node, in, kernel, out []int) (stride, dilation, pad []int, ok bool) {
	read := func(name string, def int) []int {
		v, given, _ := intsInput(n, name, len(n.Inputs))
		for !given && len(v) < len(in) {
			v = append(v, def)
		}
		return v
	}
	stride, dilation = read("strides", 1), read("dilations", 1)
	if len(stride) != len(in) || len(dilation) != len(in) {
		return nil, nil, nil, false
	}
	switch mode := n.Attrs["auto_pad"].String; mode {
	case "", "NOTSET":
		if p, given, _ := intsInput(n, "pads", len(n.Inputs)); given {
			return stride, dilation, p, len(p) == 2*len(in)
		}
		return stride, dilation, make([]int, len(in)), true
	case "VALID":
		return stride, dilation, make([]int, len(in)), true
	case "SAME_UPPER", "SAME_LOWER":
		for i := range in {
			total := max(0, (out[i]-1)*stride[i]+(kernel[i]-1)*dilation[i]+1-in[i])
			if mode == "SAME_LOWER" {
				total++
			}
			pad = append(pad, total/2)
		}
		return stride, dilation, pad, true
	}
	return nil, nil, nil, false
}
