package operator

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/kernel"
)

// sliceOps pick stretches along axes.
func sliceOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Slice", Texts: true, Versions: []int{1, 10, 11, 13}, Min: 1, Max: 5, Outputs: 1, Check: checkSlice, SizeInputs: []int{1, 2}, Sizes: sliceSizes, Moves: movesFirst},
			Rule: sliceRule, Compile: compileSlice[T]},
	}
}

// slicePlan is a Slice with everything resolved: start and step per axis.
type slicePlan struct{ start, step, size []int }

// planSlice reads starts, ends, axes and steps, from attributes before opset 10.
func planSlice(n *graph.Node, ints func(i int) ([]int64, error)) (*slicePlan, error) {
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
	if _, err := graph.AxisSet(axes, len(in)); err != nil {
		return nil, err
	}
	p := &slicePlan{make([]int, len(in)), make([]int, len(in)), slices.Clone(in)}
	for i := range p.step {
		p.step[i] = 1
	}
	for i, a := range axes {
		k, _ := graph.Axis(a, len(in))
		step := int64(1)
		if steps != nil {
			step = steps[i]
		}
		if step == 0 {
			return nil, fmt.Errorf("step 0 on axis %d", k)
		}
		if in[k] == graph.Batch {
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

func checkSlice(c *graph.Check) error {
	var toLast []int // entries of ends that are the number of rows
	p, err := planSlice(c.Node, func(i int) ([]int64, error) {
		s, ok := c.SizesOf(c.Inputs[i])
		if !ok || len(s.Shape) != 1 {
			return nil, fmt.Errorf("input %d (%q) must be a constant vector", i, c.Inputs[i].Name)
		}
		var out []int64
		for _, d := range s.D {
			if d.Rows {
				if i != 2 || d.K != 1 {
					return nil, fmt.Errorf("mixes rows: its %s depend on the number of rows", []string{"", "starts", "ends"}[i])
				}
				toLast = append(toLast, len(out))
				d.K = math.MaxInt64
			}
			out = append(out, d.K)
		}
		return out, nil
	})
	if err != nil {
		return err
	}
	for _, i := range toLast {
		k := int64(i)
		if c.Has(3) {
			k = c.Inputs[3].Const.I[i]
		}
		if at, _ := graph.Axis(k, len(p.size)); p.size[at] != graph.Batch {
			return fmt.Errorf("mixes rows: its end on axis %d is the number of rows", at)
		}
	}
	c.Resolved = p
	return c.Set(0, c.Inputs[0].Type, p.size)
}

func compileSlice[T kernel.Float](n *graph.Node) Step[T] {
	p := n.Resolved.(*slicePlan)
	return func(x *Exec[T]) error {
		var buf [graph.MaxRank]int
		stride := denseStrides(buf[:0], x.In[0].Shape)
		start := 0
		for i := range stride {
			start += p.start[i] * stride[i]
			stride[i] *= p.step[i]
		}
		stridedTensor(x.Out[0], x.In[0], start, stride)
		return nil
	}
}

// sliceRule: output coordinate c reads start + step*c on the sliced axes.
func sliceRule(n *graph.Node) Rule {
	in, out := n.Inputs[0].RowShape(), n.Outputs[0].RowShape()
	starts, found, known := intsInput(n, "starts", 1)
	if !found || !known || len(in) != len(out) {
		return opaque(n)
	}
	axes, given, known := intsInput(n, "axes", 3)
	if !known {
		return opaque(n)
	}
	if !given {
		for i := range starts {
			axes = append(axes, i)
		}
	}
	steps, _, known := intsInput(n, "steps", 4)
	if !known || len(axes) != len(starts) || len(steps) != 0 && len(steps) != len(starts) {
		return opaque(n)
	}
	first, step := make([]int, len(in)), make([]int, len(in))
	for i := range step {
		step[i] = 1
	}
	for i, a := range axes {
		a, ok := normalAxis(a, len(in))
		if !ok {
			return opaque(n)
		}
		if n.Inputs[0].Shape[a] == graph.Batch {
			continue // all rows
		}
		if len(steps) > 0 {
			step[a] = steps[i]
		}
		s := starts[i]
		if s < 0 {
			s += in[a]
		}
		last := in[a]
		if step[a] < 0 {
			last--
		}
		first[a] = max(0, min(s, last))
	}
	stride, c := rowMajor(in), make([]int, len(out))
	return Rule{Linear: true, Cost: 1, Each: func(_, e int, yield Link) {
		unravel(e, out, c)
		j := 0
		for i, k := range c {
			j += (first[i] + step[i]*k) * stride[i]
		}
		yield(0, j, 1)
	}}
}
