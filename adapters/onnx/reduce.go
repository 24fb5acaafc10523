package onnx

import (
	"fmt"
	"math"
	"strings"

	"github.com/pho-go/pho/internal/kernel"
)

// reduceOps summarise a tensor over axes other than the batch axis.
func reduceOps[T kernel.Float](t table[T]) {
	id := func(s T, _ int) T { return s }
	add := func(s, v T) T { return s + v }
	reduce := func(name string, start float64, combine func(s, v T) T, end func(s T, n int) T) {
		t[name] = operator[T]{min: 1, max: 2, outputs: 1, infer: inferReduce,
			compile: func(n *Node) (step[T], error) {
				set := n.reduced
				return func(x *exec[T]) error {
					foldAxes(x.out[0].f, x.in[0], set, T(start), combine, end)
					return nil
				}, nil
			}}
	}
	reduce("ReduceSum", 0, add, id)
	reduce("ReduceMean", 0, add, func(s T, n int) T { return s / T(n) })
	reduce("ReduceMax", math.Inf(-1), func(s, v T) T { return max(s, v) }, id)
	reduce("ReduceMin", math.Inf(1), func(s, v T) T { return min(s, v) }, id)
	reduce("ReduceProd", 1, func(s, v T) T { return s * v }, id)
	reduce("ReduceL1", 0, func(s, v T) T { return s + T(math.Abs(float64(v))) }, id)
	reduce("ReduceSumSquare", 0, func(s, v T) T { return s + T(v*v) }, id)
	reduce("ReduceL2", 0, func(s, v T) T { return s + T(v*v) }, func(s T, _ int) T { return T(math.Sqrt(float64(s))) })
	reduce("ReduceLogSum", 0, add, func(s T, _ int) T { return T(math.Log(float64(s))) })
	t["ReduceLogSumExp"] = operator[T]{min: 1, max: 2, outputs: 1, infer: inferReduce, compile: compileLogSumExp[T]}
	t["GlobalAveragePool"] = t["ReduceMean"]
	t["GlobalMaxPool"] = t["ReduceMax"]
	t["ArgMax"] = argOp(func(v, best T) bool { return v > best })
	t["ArgMin"] = argOp(func(v, best T) bool { return v < best })
}

func inferReduce(c *nodeCheck) error {
	if err := c.floating(0); err != nil {
		return err
	}
	set, err := c.reducedAxes()
	if err != nil {
		return err
	}
	c.Node.reduced = set
	c.Node.temp = 2 * c.Inputs[0].Width()
	return c.set(0, c.Inputs[0].Type, reducedShape(c.Inputs[0].Shape, set, c.attrInt("keepdims", 1) != 0))
}

// compileLogSumExp is m + log sum exp(x - m), m the largest x.
func compileLogSumExp[T kernel.Float](n *Node) (step[T], error) {
	set := n.reduced
	keep := func(s T, _ int) T { return s }
	return func(x *exec[T]) error {
		in, out := x.in[0], x.out[0]
		buf := x.temp(len(in.f) + len(out.f))
		shifted, top := buf[:len(in.f)], buf[len(in.f):]
		foldAxes(top, in, set, T(math.Inf(-1)), func(s, v T) T { return max(s, v) }, keep)
		for i, v := range top {
			if math.IsInf(float64(v), 0) {
				top[i] = 0
			}
		}
		var shape [maxRank]int
		copy(shape[:], in.shape)
		for i, s := range set {
			if s {
				shape[i] = 1
			}
		}
		zip(shifted, in.shape, in.f, in.shape, top, shape[:len(set)], kernel.Sub[T])
		add := func(s, v T) T { return s + T(math.Exp(float64(v))) }
		foldAxes(out.f, tensor[T]{shape: in.shape, f: shifted}, set, 0, add, keep)
		for i, v := range top {
			out.f[i] = v + T(math.Log(float64(out.f[i])))
		}
		return nil
	}, nil
}

// reducedAxes marks the axes a reduction runs over: an attribute, or since opset 18
// (ReduceSum: 13) an input.
func (c *nodeCheck) reducedAxes() ([]bool, error) {
	since := 18
	if c.Op == "ReduceSum" {
		since = 13
	}
	axes, _, err := c.axes(1, since)
	if err != nil {
		return nil, err
	}
	in := c.Inputs[0].Shape
	set, err := axisSet(axes, len(in))
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(c.Op, "Global") {
		for i := 2; i < len(in); i++ {
			set[i] = true
		}
	} else if len(axes) == 0 && c.attrInt("noop_with_empty_axes", 0) == 0 {
		for i := range set {
			set[i] = true
		}
	}
	for i, s := range set {
		if s && in[i] == Batch {
			return nil, fmt.Errorf("mixes rows: it reduces over the batch axis %d of %s", i, showShape(in))
		}
	}
	return set, nil
}

func reducedShape(in []int, set []bool, keep bool) []int {
	out := []int{}
	for i, d := range in {
		switch {
		case !set[i]:
			out = append(out, d)
		case keep:
			out = append(out, 1)
		}
	}
	return out
}

// foldAxes folds every element of in, in row-major order, into the element of
// dst that it belongs to.
func foldAxes[T kernel.Float](dst []T, in tensor[T], set []bool, start T, combine func(s, v T) T, end func(s T, n int) T) {
	for i := range dst {
		dst[i] = start
	}
	// Strides into dst: 0 on reduced axes.
	var stride, at [maxRank]int
	s, count := 1, 1
	for i := len(set) - 1; i >= 0; i-- {
		if set[i] {
			count *= in.shape[i]
			continue
		}
		stride[i] = s
		s *= in.shape[i]
	}
	rank := len(set)
	if len(in.f) > 0 && rank > 0 {
		last := rank - 1
		n, o := in.shape[last], 0
		for from := 0; from < len(in.f); from += n {
			run := in.f[from : from+n]
			if stride[last] == 0 {
				v := dst[o]
				for _, x := range run {
					v = combine(v, x)
				}
				dst[o] = v
			} else {
				d := dst[o : o+n]
				for i, x := range run {
					d[i] = combine(d[i], x)
				}
			}
			for i := last - 1; i >= 0; i-- {
				at[i]++
				o += stride[i]
				if at[i] < in.shape[i] {
					break
				}
				o -= stride[i] * in.shape[i]
				at[i] = 0
			}
		}
	} else if rank == 0 {
		dst[0] = combine(dst[0], in.f[0])
	}
	for i, v := range dst {
		dst[i] = end(v, count)
	}
}

// argOp is ArgMax and ArgMin.
func argOp[T kernel.Float](better func(v, best T) bool) operator[T] {
	return operator[T]{min: 1, max: 1, outputs: 1,
		infer: func(c *nodeCheck) error {
			if err := c.floating(0); err != nil {
				return err
			}
			in := c.Inputs[0].Shape
			at, err := axis(c.attrInt("axis", 0), len(in))
			if err != nil {
				return err
			}
			if in[at] == Batch {
				return fmt.Errorf("mixes rows: it compares along the batch axis %d", at)
			}
			if in[at] == 0 {
				return fmt.Errorf("axis %d is empty", at)
			}
			set := make([]bool, len(in))
			set[at] = true
			return c.set(0, Int64, reducedShape(in, set, c.attrInt("keepdims", 1) != 0))
		},
		compile: func(n *Node) (step[T], error) {
			at, err := axis(n.attrInt("axis", 0), len(n.Inputs[0].Shape))
			last := n.attrInt("select_last_index", 0) != 0
			read := operand[T](n.Inputs[0].Type)
			if read == nil {
				read = func(v T) T { return v }
			}
			return func(x *exec[T]) error {
				in := x.in[0]
				size, inner := in.shape[at], product(in.shape[at+1:])
				for o := range x.out[0].i {
					from := o/inner*size*inner + o%inner
					best := 0
					for k := 1; k < size; k++ {
						v, b := read(in.f[from+k*inner]), read(in.f[from+best*inner])
						if better(v, b) || last && v == b {
							best = k
						}
					}
					x.out[0].i[o] = int64(best)
				}
				return nil
			}, err
		}}
}
