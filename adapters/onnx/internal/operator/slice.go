package operator

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// sliceOps pick stretches along axes.
func sliceOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Slice", Is: graph.Affine | graph.Indexing | graph.Sizing, Texts: true, Versions: []int{1, 10, 11, 13}, Min: 1, Max: 5, Outputs: 1, AnyLayout: true, Check: checkSlice, SizeInputs: []int{1, 2}, Sizes: sliceSizes, Moves: movesFirst},
			Rule: sliceRule, Compile: compileSlice[T]},
	}
}

// slicePlan is a Slice with everything resolved: start and step per axis, on a batch axis
// in elements of one row.
type slicePlan struct{ start, step, size []int }

// sliceLists reads starts, ends, axes and steps, from attributes before opset 10.
func sliceLists(n *graph.Node, sizesOf func(*graph.Value) (graph.Sizes, bool)) (lists [4][]graph.Size, err error) {
	if n.Version < 10 {
		for i, name := range []string{"starts", "ends", "axes"} {
			for _, k := range n.Attrs[name].Ints {
				lists[i] = append(lists[i], graph.Size{K: k})
			}
		}
		return lists, nil
	}
	if len(n.Inputs) < 3 || n.Inputs[1] == nil || n.Inputs[2] == nil {
		return lists, fmt.Errorf("has no starts or ends")
	}
	for i, v := range n.Inputs[1:] {
		if v == nil {
			continue
		}
		s, ok := sizesOf(v)
		if !ok || len(s.Shape) != 1 {
			return lists, fmt.Errorf("input %d (%q) must be a constant vector", i+1, v.Name)
		}
		lists[i] = s.D
	}
	return lists, nil
}

// planSlice resolves starts, ends, axes and steps. In a network traced with one row they
// count, on a batch axis, in entries of one row.
func planSlice(n *graph.Node, sizesOf func(*graph.Value) (graph.Sizes, bool), tracedWithOneRow bool) (*slicePlan, error) {
	in := n.Inputs[0].Shape
	lists, err := sliceLists(n, sizesOf)
	if err != nil {
		return nil, err
	}
	starts, ends, steps := lists[0], lists[1], lists[3]
	var axes []int64
	for _, a := range lists[2] {
		axes = append(axes, a.K)
	}
	if lists[2] == nil {
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
			step = steps[i].K
		}
		if step == 0 {
			return nil, fmt.Errorf("step 0 on axis %d", k)
		}
		if graph.IsRows(in[k]) {
			from, to := starts[i], ends[i]
			if tracedWithOneRow { // numbers are those of one row
				from.Rows, to.Rows = true, true
			}
			if p.start[k], p.size[k], err = sliceRows(in[k], from, to, step); err != nil {
				return nil, err
			}
			continue
		}
		if starts[i].Rows || ends[i].Rows {
			return nil, fmt.Errorf("mixes rows: where it cuts axis %d depends on the number of rows", k)
		}
		p.start[k], p.size[k] = sliceAxis(starts[i].K, ends[i].K, step, in[k])
		p.step[k] = int(max(min(step, math.MaxInt32), math.MinInt32))
	}
	return p, nil
}

// sliceRows cuts a batch axis, which holds each row several times, between the times: at
// multiples of the number of rows, or where it begins and ends.
func sliceRows(d int, from, to graph.Size, step int64) (start, size int, err error) {
	if to.Rows || to.K >= math.MaxInt32 {
		if from.K == 0 || from.Rows {
			all := int64(graph.PerRow(d))
			if !to.Rows {
				to.K = all
			}
			start, n := sliceAxis(from.K, to.K, 1, int(all))
			if size, err = stretch(d, int64(start), int64(n)); err == nil && step == 1 {
				return start, size, nil
			}
		}
	}
	return 0, 0, fmt.Errorf("mixes rows: it slices the batch axis (%s to %s, step %d)", from, to, step)
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
	p, err := planSlice(c.Node, c.SizesOf, c.TracedWithOneRow())
	if err != nil {
		return err
	}
	c.Resolved = p
	return c.Set(0, c.Inputs[0].Type, p.size)
}

func compileSlice[T kernel.Float](n *graph.Node) Step[T] {
	p, rows := n.Resolved.(*slicePlan), n.Inputs[0].BatchAxis()
	return func(x *Exec[T]) error {
		var buf [graph.MaxRank]int
		stride := denseStrides(buf[:0], x.In[0].Shape)
		start := 0
		for i := range stride {
			from := p.start[i]
			if i == rows {
				from *= x.Rows
			}
			start += from * stride[i]
			stride[i] *= p.step[i]
		}
		stridedTensor(x.Out[0], x.In[0], start, stride)
		return nil
	}
}

// FirstColumn is the first of the columns side by side that a Slice keeps of a matrix of rows, of
// which it keeps all; ok is false if it is another Slice.
func FirstColumn(n *graph.Node) (column int, ok bool) {
	p, ok := n.Resolved.(*slicePlan)
	in, out := n.Inputs[0], n.Outputs[0]
	if !ok || len(in.Shape) != 2 || in.Shape[0] != graph.Batch || out.Shape[0] != graph.Batch || p.start[0] != 0 || p.step[1] != 1 {
		return 0, false
	}
	return p.start[1], true
}

// sliceRule: output coordinate c reads start + step*c on every axis.
func sliceRule(n *graph.Node) Rule {
	in, out := n.Inputs[0].RowShape(), n.Outputs[0].RowShape()
	p, ok := n.Resolved.(*slicePlan)
	if !ok { // a node that nobody has checked
		p, _ = planSlice(n, graph.SizesOfConstant, false)
	}
	if p == nil || len(in) != len(out) {
		return opaque(n)
	}
	stride, c := rowMajor(in), make([]int, len(out))
	return Rule{Linear: true, Cost: 1, Each: func(_, e int, yield Link) {
		unravel(e, out, c)
		j := 0
		for i, k := range c {
			j += (p.start[i] + p.step[i]*k) * stride[i]
		}
		yield(0, j, 1)
	}}
}
