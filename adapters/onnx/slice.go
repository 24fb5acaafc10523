package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/internal/kernel"
)

// slicePlan is a Slice with everything resolved: start and step per axis.
type slicePlan struct{ start, step, size []int }

// plan reads starts, ends, axes and steps, from attributes before opset 10.
func planSlice(n *Node, ints func(i int) ([]int64, error)) (*slicePlan, error) {
	in := n.Inputs[0].Shape
	var lists [4][]int64 // starts, ends, axes, steps
	if n.Version < 10 {
		lists[0], lists[1], lists[2] = n.Attrs["starts"].Ints, n.Attrs["ends"].Ints, n.Attrs["axes"].Ints
	} else {
		if len(n.Inputs) < 3 || n.Inputs[1] == nil || n.Inputs[2] == nil {
			return nil, fmt.Errorf("has no starts or ends")
		}
		for i := range lists {
			if i+1 < len(n.Inputs) && n.Inputs[i+1] != nil {
				l, err := ints(i + 1)
				if err != nil {
					return nil, err
				}
				lists[i] = l
			}
		}
	}
	starts, ends, axes, steps := lists[0], lists[1], lists[2], lists[3]
	if axes == nil {
		for i := range starts {
			axes = append(axes, int64(i))
		}
	}
	if len(ends) != len(starts) || len(axes) != len(starts) || steps != nil && len(steps) != len(starts) {
		return nil, fmt.Errorf("starts, ends, axes and steps have %d, %d, %d and %d entries", len(starts), len(ends), len(axes), len(steps))
	}
	if _, err := axisSet(axes, len(in)); err != nil {
		return nil, err
	}
	p := &slicePlan{make([]int, len(in)), make([]int, len(in)), slices.Clone(in)}
	for i := range p.step {
		p.step[i] = 1
	}
	for i, a := range axes {
		k, _ := axis(a, len(in))
		step := int64(1)
		if steps != nil {
			step = steps[i]
		}
		if step == 0 {
			return nil, fmt.Errorf("step 0 on axis %d", k)
		}
		if in[k] == Batch {
			if starts[i] != 0 || ends[i] < math.MaxInt32 || step != 1 {
				return nil, fmt.Errorf("mixes rows: it slices the batch axis %d (%d to %d, step %d)", k, starts[i], ends[i], step)
			}
			continue
		}
		p.start[k], p.size[k] = sliceAxis(starts[i], ends[i], step, in[k])
		p.step[k] = int(max(min(step, math.MaxInt32), math.MinInt32))
	}
	return p, nil
}

// sliceAxis follows NumPy: start and count of from:to:step on a length of n.
func sliceAxis(from, to, step int64, n int) (start, count int) {
	size := int64(n)
	at := func(i, lo, hi int64) int64 {
		if i < 0 {
			i = max(i, -size-1) + size
		}
		return min(max(i, lo), hi)
	}
	if step > 0 {
		a, b := at(from, 0, size), at(to, 0, size)
		if b <= a {
			return 0, 0
		}
		return int(a), int((b-a-1)/step + 1)
	}
	a, b := at(from, -1, size-1), at(to, -1, size-1)
	if a <= b {
		return 0, 0
	}
	if step == math.MinInt64 {
		return int(a), 1
	}
	return int(a), int((a-b-1)/(-step) + 1)
}

func inferSlice(c *nodeCheck) error {
	var toLast []int // entries of ends that are the number of rows
	p, err := planSlice(c.Node, func(i int) ([]int64, error) {
		s, ok := c.dimsOf(c.Inputs[i])
		if !ok || len(s.shape) != 1 {
			return nil, fmt.Errorf("input %d (%q) must be a constant vector", i, c.Inputs[i].Name)
		}
		var out []int64
		for _, d := range s.d {
			if d.rows {
				if i != 2 || d.k != 1 {
					return nil, fmt.Errorf("mixes rows: its %s depend on the number of rows", []string{"", "starts", "ends"}[i])
				}
				toLast = append(toLast, len(out))
				d.k = math.MaxInt64
			}
			out = append(out, d.k)
		}
		return out, nil
	})
	if err != nil {
		return err
	}
	for _, i := range toLast {
		k := int64(i)
		if c.has(3) {
			k = c.Inputs[3].Const.I[i]
		}
		if at, _ := axis(k, len(p.size)); p.size[at] != Batch {
			return fmt.Errorf("mixes rows: its end on axis %d is the number of rows", at)
		}
	}
	c.Node.slice = p
	return c.set(0, c.Inputs[0].Type, p.size)
}

func compileSlice[T kernel.Float](n *Node) (step[T], error) {
	p := n.slice
	return func(x *exec[T]) error {
		var buf [maxRank]int
		stride := denseStrides(buf[:0], x.in[0].shape)
		start := 0
		for i := range stride {
			start += p.start[i] * stride[i]
			stride[i] *= p.step[i]
		}
		stridedTensor(x.out[0], x.in[0], start, stride)
		return nil
	}, nil
}

func inferGather(c *nodeCheck) error {
	in, index := c.Inputs[0], c.Inputs[1]
	if index.Type.Floating() || index.Type == Bool {
		return fmt.Errorf("indices must be integers, are %s", index.Type)
	}
	at, err := axis(c.attrInt("axis", 0), len(in.Shape))
	if err != nil {
		return err
	}
	if in.Shape[at] == Batch {
		return fmt.Errorf("mixes rows: it picks from the batch axis %d", at)
	}
	if index.Const != nil {
		for _, i := range index.Const.I {
			if i < int64(-in.Shape[at]) || i >= int64(in.Shape[at]) {
				return fmt.Errorf("index %d is outside axis %d of size %d", i, at, in.Shape[at])
			}
		}
	}
	return c.set(0, in.Type, slices.Concat(in.Shape[:at], index.Shape, in.Shape[at+1:]))
}

func compileGather[T kernel.Float](n *Node) (step[T], error) {
	at, err := axis(n.attrInt("axis", 0), len(n.Inputs[0].Shape))
	return func(x *exec[T]) error {
		in, index, out := x.in[0], x.in[1].i, x.out[0]
		outer, size, inner := product(in.shape[:at]), in.shape[at], product(in.shape[at+1:])
		for o := range outer {
			for j, k := range index {
				if k < 0 {
					k += int64(size)
				}
				if k < 0 || k >= int64(size) {
					return fmt.Errorf("index %d is outside axis %d of size %d", index[j], at, size)
				}
				to, from := (o*len(index)+j)*inner, (o*size+int(k))*inner
				if out.f != nil {
					copy(out.f[to:to+inner], in.f[from:])
				} else {
					copy(out.i[to:to+inner], in.i[from:])
				}
			}
		}
		return nil
	}, err
}
