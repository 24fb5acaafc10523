package onnx

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pho-go/pho/internal/kernel"
)

// convOps are convolutions; networks of one feature per group are written as
// grouped ones with a kernel of size 1.
func convOps[T kernel.Float](t table[T]) {
	t["Conv"] = operator[T]{min: 2, max: 3, outputs: 1, infer: inferConv, compile: compileConv[T]}
}

// convPlan is a Conv with its attributes resolved.
type convPlan struct {
	group               int
	kernel              []int
	stride, dilate, pad []int // pad: before each axis
	points              int   // product of kernel
	pointwise           bool  // kernel, strides 1, no padding
}

func inferConv(c *nodeCheck) error {
	if err := errors.Join(c.floating(0), c.same()); err != nil {
		return err
	}
	in, w := c.Inputs[0].Shape, c.Inputs[1].Shape
	if len(in) < 3 || len(w) != len(in) {
		return fmt.Errorf("needs [rows, channels, ...] and weights of as many axes, has %s and %s", showShape(in), showShape(w))
	}
	if slices.Contains(in[1:], Batch) || slices.Contains(w, Batch) {
		return fmt.Errorf("mixes rows: the batch axis of %s is not the first", showShape(in))
	}
	group := c.attrInt("group", 1)
	if group < 1 || group > int64(in[1]) || int64(in[1])%group != 0 || int64(w[0])%group != 0 || int64(w[1]) != int64(in[1])/group {
		return fmt.Errorf("weights %v and %d groups do not fit input %s", w, group, showShape(in))
	}
	if c.has(2) {
		if err := c.channel(2, w[0]); err != nil {
			return err
		}
	}
	d := len(in) - 2
	p := &convPlan{group: int(group), kernel: w[2:], points: product(w[2:])}
	var err error
	if p.stride, err = c.spatial("strides", d, 1); err != nil {
		return err
	}
	if p.dilate, err = c.spatial("dilations", d, 1); err != nil {
		return err
	}
	out := []int{in[0], w[0]}
	var after []int
	if p.pad, after, err = c.padding(p, in[2:]); err != nil {
		return err
	}
	p.pointwise = p.points == 1
	for i := range d {
		if p.kernel[i] < 1 {
			return fmt.Errorf("empty kernel %v", p.kernel)
		}
		span := (p.kernel[i]-1)*p.dilate[i] + 1
		room := in[2+i] + p.pad[i] + after[i] - span
		if room < 0 {
			return fmt.Errorf("kernel %v does not fit input %s", p.kernel, showShape(in))
		}
		out = append(out, room/p.stride[i]+1)
		p.pointwise = p.pointwise && p.stride[i] == 1 && p.pad[i] == 0 && after[i] == 0
	}
	c.Node.conv = p
	if err := c.set(0, c.Inputs[0].Type, out); err != nil {
		return err
	}
	return c.multiplyAdds(out, w[1]*p.points)
}

// spatial reads a list with one positive entry per spatial axis.
func (c *nodeCheck) spatial(name string, d int, def int) ([]int, error) {
	out := make([]int, d)
	a, ok := c.Attrs[name]
	if ok && len(a.Ints) != d {
		return nil, fmt.Errorf("%s %v for %d spatial axes", name, a.Ints, d)
	}
	for i := range out {
		if out[i] = def; ok {
			if a.Ints[i] < 1 || a.Ints[i] > 1<<20 {
				return nil, fmt.Errorf("%s %v must be between 1 and %d", name, a.Ints, 1<<20)
			}
			out[i] = int(a.Ints[i])
		}
	}
	return out, nil
}

// padding is the zeros before and after each spatial axis.
func (c *nodeCheck) padding(p *convPlan, size []int) (before, after []int, err error) {
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

func compileConv[T kernel.Float](n *Node) (step[T], error) {
	p := n.conv
	in := n.Inputs[0].Shape
	if n.Inputs[1].Const != nil && p.pointwise && product(in[2:]) == 1 {
		return compilePointwise[T](n, p)
	}
	return func(x *exec[T]) error {
		var bias []T
		if len(x.in) > 2 {
			bias = x.in[2].f
		}
		convolve(p, x.out[0], x.in[0], x.in[1], bias)
		return nil
	}, nil
}

// compilePointwise: one position and a kernel of size 1 is a product per group.
func compilePointwise[T kernel.Float](n *Node, p *convPlan) (step[T], error) {
	wv := n.Inputs[1]
	w := constF[T](wv)
	k, m := wv.Shape[1], wv.Shape[0]/p.group
	var packed []*kernel.Weights[T]
	for g := range p.group {
		packed = append(packed, kernel.Pack(k, m, w[g*m*k:], true))
	}
	return func(x *exec[T]) error {
		lda, ldc := k*p.group, m*p.group
		var bias []T
		if len(x.in) > 2 {
			bias = x.in[2].f
		}
		for g, w := range packed {
			var b []T
			if bias != nil {
				b = bias[g*m : (g+1)*m]
			}
			w.Mul(x.out[0].f[g*m:], ldc, x.in[0].f[g*k:], lda, x.rows, b)
		}
		return nil
	}, nil
}

// convolve sums, for every output element, over kernel positions and then
// channels, in order.
func convolve[T kernel.Float](p *convPlan, out, in, w tensor[T], bias []T) {
	d := len(p.kernel)
	cin, cout := w.shape[1], out.shape[1]
	channels := in.shape[1]
	size, outSize := product(in.shape[2:]), product(out.shape[2:])
	perGroup := cout / p.group
	var at, kat [maxRank]int
	for o := range out.f {
		m := o / outSize % cout
		row := o / (outSize * cout)
		rest := o % outSize
		for i := d - 1; i >= 0; i-- {
			at[i] = rest%out.shape[2+i]*p.stride[i] - p.pad[i]
			rest /= out.shape[2+i]
		}
		var s T
		if bias != nil {
			s = bias[m]
		}
		base := (row*channels + m/perGroup*cin) * size
		for kp := range p.points {
			rest, from, inside := kp, 0, true
			for i := d - 1; i >= 0; i-- {
				kat[i] = rest % p.kernel[i]
				rest /= p.kernel[i]
			}
			for i := range d {
				pos := at[i] + kat[i]*p.dilate[i]
				inside = inside && pos >= 0 && pos < in.shape[2+i]
				from = from*in.shape[2+i] + pos
			}
			if !inside {
				continue
			}
			for c := range cin {
				s += T(in.f[base+c*size+from] * w.f[(m*cin+c)*p.points+kp])
			}
		}
		out.f[o] = s
	}
}
