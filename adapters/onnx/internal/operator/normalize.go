package operator

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// normalizeOps divide by what other elements of the row measure.
func normalizeOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "LRN", Versions: []int{1, 13}, Min: 1, Max: 1, Outputs: 1, Check: checkLRN},
			Rule: lrnRule, Compile: compileLRN[T]},
		{Operator: graph.Operator{Name: "LpNormalization", Versions: []int{1, 22}, Min: 1, Max: 1, Outputs: 1, Check: checkLpNormalization},
			Rule: lpNormalizationRule, Compile: compileLpNormalization[T]},
		{Operator: graph.Operator{Name: "MeanVarianceNormalization", Versions: []int{9, 13}, Min: 1, Max: 1, Outputs: 1, Check: checkMVN},
			Rule: mvnRule, Compile: compileMVN[T]},
	}
}

// lrn normalises a channel by the squares of its neighbours, before to after of them.
type lrn struct {
	before, after     int
	alpha, beta, bias float64 // alpha: divided by their number
}

func checkLRN(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	in := c.Inputs[0].Shape
	if len(in) < 2 {
		return fmt.Errorf("needs a tensor [rows, channels, ...], has %s", graph.ShapeText(in))
	}
	if graph.IsRows(in[1]) {
		return fmt.Errorf("mixes rows: its channels are the batch axis of %s", graph.ShapeText(in))
	}
	size := c.AttrInt("size", 0)
	if size < 1 || size > 1<<20 {
		return fmt.Errorf("impossible size %d", size)
	}
	c.Resolved = &lrn{int(size-1) / 2, int(size) / 2, c.AttrFloat("alpha", 0.0001) / float64(size), c.AttrFloat("beta", 0.75), c.AttrFloat("bias", 1)}
	if err := c.MultiplyAdds(in, int(min(size, int64(in[1])))); err != nil {
		return err
	}
	return c.Set(0, c.Inputs[0].Type, in)
}

// neighbours are the channels from lo to hi-1 by which channel c is normalised.
func (l *lrn) neighbours(c, channels int) (lo, hi int) {
	return max(c-l.before, 0), min(c+l.after+1, channels)
}

func compileLRN[T kernel.Float](n *graph.Node) Step[T] {
	l := n.Resolved.(*lrn)
	return func(x *Exec[T]) error {
		in, out := x.In[0].F, x.Out[0].F
		channels, inner := x.In[0].Shape[1], graph.Product(x.In[0].Shape[2:])
		for o := range out {
			c := o / inner % channels
			lo, hi := l.neighbours(c, channels)
			s := 0.0
			for k := lo; k < hi; k++ {
				v := float64(in[o+(k-c)*inner])
				s += float64(v * v)
			}
			out[o] = T(float64(in[o]) / math.Pow(l.bias+l.alpha*s, l.beta))
		}
		return nil
	}
}

func lrnRule(n *graph.Node) Rule {
	l, ok := n.Resolved.(*lrn)
	if !ok {
		return opaque(n)
	}
	d := n.Outputs[0].RowShape()
	inner := graph.Product(d[2:])
	return Rule{Cost: min(l.before+l.after+1, d[1]), Each: func(_, e int, yield Link) {
		c := e / inner % d[1]
		lo, hi := l.neighbours(c, d[1])
		for k := lo; k < hi; k++ {
			yield(0, e+(k-c)*inner, 1)
		}
	}}
}

// lpNormalization divides by the norm along an axis.
type lpNormalization struct{ axis, p int }

func checkLpNormalization(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	in := c.Inputs[0].Shape
	at, err := graph.Axis(c.AttrInt("axis", -1), len(in))
	if err != nil {
		return err
	}
	if graph.IsRows(in[at]) {
		return fmt.Errorf("mixes rows: it normalises along the batch axis %d", at)
	}
	p := c.AttrInt("p", 2)
	if p != 1 && p != 2 {
		return fmt.Errorf("p %d is neither 1 nor 2, the norms that ONNX defines", p)
	}
	c.Resolved = lpNormalization{at, int(p)}
	return c.Set(0, c.Inputs[0].Type, in)
}

func compileLpNormalization[T kernel.Float](n *graph.Node) Step[T] {
	l := n.Resolved.(lpNormalization)
	return func(x *Exec[T]) error {
		in, out := x.In[0].F, x.Out[0].F
		size, inner := x.In[0].Shape[l.axis], graph.Product(x.In[0].Shape[l.axis+1:])
		for o := 0; size > 0 && o < len(in); o += size * inner {
			for i := range inner {
				normalizeLine(out[o+i:], in[o+i:], size, inner, l.p)
			}
		}
		return nil
	}
}

// normalizeLine divides n numbers, a stride apart, by their norm; those of norm 0 stay 0.
func normalizeLine[T kernel.Float](dst, src []T, n, stride, p int) {
	s := 0.0
	for i := range n {
		v := float64(src[i*stride])
		if p == 1 {
			s += math.Abs(v)
		} else {
			s += float64(v * v)
		}
	}
	if p == 2 {
		s = math.Sqrt(s)
	}
	for i := range n {
		if dst[i*stride] = 0; s != 0 {
			dst[i*stride] = T(float64(src[i*stride]) / s)
		}
	}
}

func lpNormalizationRule(n *graph.Node) Rule {
	l, ok := n.Resolved.(lpNormalization)
	if !ok {
		return opaque(n)
	}
	d := n.Outputs[0].RowShape()
	return lineRule(d[l.axis], d[l.axis], graph.Product(d[l.axis+1:]))
}

// mvn takes the mean away over axes and divides by the standard deviation.
type mvn struct {
	set  []bool // the axes
	work int
}

// Scratch holds the means, then the deviations.
func (m *mvn) Scratch() int { return m.work }

func checkMVN(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	axes := []int64{0, 2, 3}
	if a, ok := c.Attrs["axes"]; ok {
		axes = a.Ints
	}
	in := c.Inputs[0].Shape
	set, err := graph.AxisSet(axes, len(in))
	if err != nil {
		return err
	}
	for i, s := range set {
		if s && graph.IsRows(in[i]) {
			return fmt.Errorf("mixes rows: it normalises over the batch axis %d; give it axes without that one", i)
		}
	}
	c.Resolved = &mvn{set, c.Inputs[0].Width()}
	return c.Set(0, c.Inputs[0].Type, in)
}

func compileMVN[T kernel.Float](n *graph.Node) Step[T] {
	m := n.Resolved.(*mvn)
	const eps = 1e-9 // of the definition
	return func(x *Exec[T]) error {
		in, out := x.In[0], x.Out[0].F
		var buf [graph.MaxRank]int
		shape := buf[:copy(buf[:], in.Shape)]
		for i, s := range m.set {
			if s {
				shape[i] = 1
			}
		}
		mean := x.temp(graph.Product(shape))
		foldAxes(mean, in.F, in.Shape, m.set, 0, func(s, v T) T { return s + v }, func(s T, n int) T { return s / T(n) })
		zip(out, in.Shape, in.F, in.Shape, mean, shape, kernel.Sub[T])
		foldAxes(mean, out, in.Shape, m.set, 0, func(s, v T) T { return s + T(v*v) },
			func(s T, n int) T { return T(math.Sqrt(float64(s)/float64(n)) + eps) })
		zip(out, in.Shape, out, in.Shape, mean, shape, kernel.Div[T])
		return nil
	}
}

// mvnRule: an element depends on all that it is normalised with.
func mvnRule(n *graph.Node) Rule {
	m, ok := n.Resolved.(*mvn)
	if !ok {
		return opaque(n)
	}
	d := n.Outputs[0].RowShape()
	var sum, sumStride []int
	stride := rowMajor(d)
	for i, s := range m.set {
		if s {
			sum, sumStride = append(sum, d[i]), append(sumStride, stride[i])
		}
	}
	c, at, total := make([]int, len(d)), make([]int, len(sum)), graph.Product(sum)
	return Rule{Cost: total, Each: func(_, e int, yield Link) {
		unravel(e, d, c)
		for i, s := range m.set {
			if s {
				e -= c[i] * stride[i]
			}
		}
		for k := range total {
			unravel(k, sum, at)
			j := e
			for i, a := range at {
				j += a * sumStride[i]
			}
			yield(0, j, 1)
		}
	}}
}
