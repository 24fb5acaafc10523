package operator

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// reduceOps summarise a tensor over axes other than the batch axis.
func reduceOps[T kernel.Float]() []Entry[T] {
	id := func(s T, _ int) T { return s }
	average := func(s T, n int) T { return s / T(n) }
	ids, averages := func([]T, int) {}, func(sums []T, n int) { kernel.Div(sums, sums, []T{T(n)}) }
	largest, least := func(s, v T) T { return max(s, v) }, func(s, v T) T { return min(s, v) }
	global := func(e Entry[T]) Entry[T] {
		e.Versions, e.Max, e.Check, e.Operator.Is = []int{1}, 1, checkGlobal, 0
		return e
	}
	product := reduction("ReduceProd", []int{1, 11, 13, 18}, aloneRule, 1, func(s, v T) T { return s * v }, id)
	product.Sizes = productSizes
	return []Entry[T]{
		is(graph.Indexing|graph.Arithmetic, summing("ReduceSum", []int{1, 11, 13}, reduceSumRule, id, ids)),
		is(graph.Arithmetic, summing("ReduceMean", []int{1, 11, 13, 18}, reduceMeanRule, average, averages)),
		reduction("ReduceMax", []int{1, 11, 12, 13, 18, 20}, reduceRule, math.Inf(-1), largest, id),
		reduction("ReduceMin", []int{1, 11, 12, 13, 18, 20}, reduceRule, math.Inf(1), least, id),
		product,
		reduction("ReduceL1", []int{1, 11, 13, 18}, reduceRule, 0, func(s, v T) T { return s + T(math.Abs(float64(v))) }, id),
		reduction("ReduceSumSquare", []int{1, 11, 13, 18}, reduceRule, 0, func(s, v T) T { return s + T(v*v) }, id),
		reduction("ReduceL2", []int{1, 11, 13, 18}, reduceRule, 0, func(s, v T) T { return s + T(v*v) }, func(s T, _ int) T { return T(math.Sqrt(float64(s))) }),
		is(graph.Undefined, summing("ReduceLogSum", []int{1, 11, 13, 18, 28}, reduceRule, func(s T, _ int) T { return T(math.Log(float64(s))) }, nil)),
		{Operator: graph.Operator{Name: "ReduceLogSumExp", Is: graph.Reducing, Versions: []int{1, 11, 13, 18, 28}, Min: 1, Max: 2, Outputs: 1, AnyLayout: true, Check: checkReduce},
			Rule: reduceRule, Compile: compileLogSumExp[T]},
		global(summing("GlobalAveragePool", nil, globalMeanRule, average, averages)),
		global(reduction("GlobalMaxPool", nil, globalMaxRule, math.Inf(-1), largest, id)),
		arg("ArgMax", func(v, best T) bool { return v > best }),
		arg("ArgMin", func(v, best T) bool { return v < best }),
	}
}

// reduction folds with combine, from start on, and turns the result and the number of
// elements into the output with end.
func reduction[T kernel.Float](name string, versions []int, rule func(*graph.Node) Rule, start float64, combine func(s, v T) T, end func(s T, n int) T) Entry[T] {
	return Entry[T]{
		Operator: graph.Operator{Name: name, Is: graph.Reducing, Versions: versions, Min: 1, Max: 2, Outputs: 1, AnyLayout: true, Check: checkReduce},
		Rule:     rule,
		Compile: func(n *graph.Node) Step[T] {
			set := n.Resolved.(*reduced).axes
			if !n.Inputs[0].Type.Floating() {
				return reduceIntegers[T](n, set)
			}
			return func(x *Exec[T]) error {
				foldAxes(x.Out[0].F, x.In[0].F, x.In[0].Shape, set, T(start), combine, end)
				return nil
			}
		},
	}
}

// reduced are the axes that a reduction runs over.
type reduced struct {
	axes []bool
	work int
}

func (r *reduced) Scratch() int { return r.work }

// aloneRule: a product of one number each is that number.
func aloneRule(n *graph.Node) Rule {
	if n.Inputs[0].Width() == n.Outputs[0].Width() {
		return sameOrderRule(n)
	}
	return reduceRule(n)
}

func checkReduce(c *graph.Check) error {
	if _, whole := wholeReductionOf(c.Node); !whole {
		if err := c.Floating(0); err != nil {
			return err
		}
	}
	axes, err := reducedAxes(c)
	if err != nil {
		return err
	}
	in := c.Inputs[0].Shape
	set, err := graph.AxisSet(axes, len(in))
	if err != nil {
		return err
	}
	if len(axes) == 0 && c.AttrInt("noop_with_empty_axes", 0) == 0 {
		for i := range set {
			set[i] = true
		}
	}
	return setReduced(c, set)
}

// checkGlobal reduces over the axes behind rows and channels.
func checkGlobal(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	set := make([]bool, len(c.Inputs[0].Shape))
	for i := 2; i < len(set); i++ {
		set[i] = true
	}
	return setReduced(c, set)
}

func setReduced(c *graph.Check, set []bool) error {
	in := c.Inputs[0].Shape
	for i, s := range set {
		if s && graph.IsRows(in[i]) {
			return fmt.Errorf("mixes rows: it reduces over the batch axis %d of %s", i, graph.ShapeText(in))
		}
	}
	c.Resolved = &reduced{set, 2 * c.Inputs[0].Width()}
	return c.Set(0, c.Inputs[0].Type, reducedShape(in, set, c.AttrInt("keepdims", 1) != 0))
}

// compileLogSumExp is m + log sum exp(x - m), m the largest x.
func compileLogSumExp[T kernel.Float](n *graph.Node) Step[T] {
	set := n.Resolved.(*reduced).axes
	keep := func(s T, _ int) T { return s }
	return func(x *Exec[T]) error {
		in, out := x.In[0], x.Out[0]
		buf := x.temp(len(in.F) + len(out.F))
		shifted, top := buf[:len(in.F)], buf[len(in.F):]
		foldAxes(top, in.F, in.Shape, set, T(math.Inf(-1)), func(s, v T) T { return max(s, v) }, keep)
		for i, v := range top {
			if math.IsInf(float64(v), 0) {
				top[i] = 0
			}
		}
		var shape [graph.MaxRank]int
		copy(shape[:], in.Shape)
		for i, s := range set {
			if s {
				shape[i] = 1
			}
		}
		zip(shifted, in.Shape, in.F, in.Shape, top, shape[:len(set)], kernel.Sub[T])
		add := func(s, v T) T { return s + T(math.Exp(float64(v))) }
		foldAxes(out.F, shifted, in.Shape, set, 0, add, keep)
		for i, v := range top {
			out.F[i] = v + T(math.Log(float64(out.F[i])))
		}
		return nil
	}
}

// reducedAxes reads the axes: an attribute, or since opset 18 (ReduceSum: 13) an input.
func reducedAxes(c *graph.Check) ([]int64, error) {
	since := 18
	if c.Op == "ReduceSum" {
		since = 13
	}
	axes, _, err := c.Axes(1, since)
	return axes, err
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
func foldAxes[A number](dst, in []A, shape []int, set []bool, start A, combine func(s, v A) A, end func(s A, n int) A) {
	for i := range dst {
		dst[i] = start
	}
	// Strides into dst: 0 on reduced axes.
	var stride, at [graph.MaxRank]int
	s, count := 1, 1
	for i := len(set) - 1; i >= 0; i-- {
		if set[i] {
			count *= shape[i]
			continue
		}
		stride[i] = s
		s *= shape[i]
	}
	rank := len(set)
	if len(in) > 0 && rank > 0 {
		last := rank - 1
		n, o := shape[last], 0
		for from := 0; from < len(in); from += n {
			run := in[from : from+n]
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
				if at[i] < shape[i] {
					break
				}
				o -= stride[i] * shape[i]
				at[i] = 0
			}
		}
	} else if rank == 0 {
		dst[0] = combine(dst[0], in[0])
	}
	for i, v := range dst {
		dst[i] = end(v, count)
	}
}

// arg is ArgMax and ArgMin.
func arg[T kernel.Float](name string, better func(v, best T) bool) Entry[T] {
	return Entry[T]{
		Operator: graph.Operator{Name: name, Versions: []int{1, 11, 12, 13}, Min: 1, Max: 1, Outputs: 1, AnyLayout: true, Check: checkArg},
		Rule:     argRule,
		Compile: func(n *graph.Node) Step[T] {
			at := n.Resolved.(int)
			last := n.AttrInt("select_last_index", 0) != 0
			read := asDeclared[T](n.Inputs[0].Type)
			if read == nil {
				read = func(v T) T { return v }
			}
			if !n.Inputs[0].Type.Floating() {
				return argIntegers[T](n, at, last)
			}
			return func(x *Exec[T]) error {
				in := x.In[0]
				size, inner := in.Shape[at], graph.Product(in.Shape[at+1:])
				for o := range x.Out[0].I {
					from := o/inner*size*inner + o%inner
					best := 0
					for k := 1; k < size; k++ {
						v, b := read(in.F[from+k*inner]), read(in.F[from+best*inner])
						if better(v, b) || last && v == b {
							best = k
						}
					}
					x.Out[0].I[o] = int64(best)
				}
				return nil
			}
		},
		Jumps: true,
	}
}

func checkArg(c *graph.Check) error {
	if !c.Inputs[0].Type.Integer() {
		if err := c.Floating(0); err != nil {
			return err
		}
	}
	in := c.Inputs[0].Shape
	at, err := graph.Axis(c.AttrInt("axis", 0), len(in))
	if err != nil {
		return err
	}
	if graph.IsRows(in[at]) {
		return fmt.Errorf("mixes rows: it compares along the batch axis %d", at)
	}
	if in[at] == 0 {
		return fmt.Errorf("axis %d is empty", at)
	}
	set := make([]bool, len(in))
	set[at] = true
	c.Resolved = at
	return c.Set(0, graph.Int64, reducedShape(in, set, c.AttrInt("keepdims", 1) != 0))
}

func argRule(n *graph.Node) Rule { return reduceAxesRule(n, []int{int(n.AttrInt("axis", 0))}, nil) }

// reduceRule is that of reductions that are not linear.
func reduceRule(n *graph.Node) Rule { return reduceBy(n, nil) }

func reduceSumRule(n *graph.Node) Rule { return reduceBy(n, one) }

func reduceMeanRule(n *graph.Node) Rule { return reduceBy(n, fraction) }

func globalMeanRule(n *graph.Node) Rule { return reduceAxesRule(n, spatialAxes(n), fraction) }

func globalMaxRule(n *graph.Node) Rule { return reduceAxesRule(n, spatialAxes(n), nil) }

// one and fraction are the weights of each of n elements in a sum and in a mean.
func one(int) float64 { return 1 }

func fraction(n int) float64 { return 1 / float64(n) }

// reduceBy runs over the axes of the attribute or the second input.
func reduceBy(n *graph.Node, weight func(n int) float64) Rule {
	axes, found, known := intsInput(n, "axes", 1)
	if !known {
		return opaque(n)
	}
	if (!found || len(axes) == 0) && n.AttrInt("noop_with_empty_axes", 0) == 0 {
		for i := range n.Inputs[0].Shape {
			axes = append(axes, i)
		}
	}
	return reduceAxesRule(n, axes, weight)
}

func spatialAxes(n *graph.Node) []int {
	var axes []int
	for i := 2; i < len(n.Inputs[0].Shape); i++ {
		axes = append(axes, i)
	}
	return axes
}

// reduceAxesRule: an output element takes every input element that agrees with it
// on the axes that are kept, with the weight that is given the number of those; without
// a weight it is not linear.
func reduceAxesRule(n *graph.Node, axes []int, weight func(n int) float64) Rule {
	in := n.Inputs[0].RowShape()
	strides := rowMajor(in)
	reduced := make([]bool, len(in))
	for _, a := range axes {
		a, ok := normalAxis(a, len(in))
		if !ok {
			return opaque(n)
		}
		reduced[a] = true
	}
	var keep, keepStride, sum, sumStride []int
	for i, d := range in {
		if reduced[i] {
			sum, sumStride = append(sum, d), append(sumStride, strides[i])
		} else {
			keep, keepStride = append(keep, d), append(keepStride, strides[i])
		}
	}
	if graph.Product(keep) != n.Outputs[0].Width() {
		return opaque(n)
	}
	offset := func(e int, d, stride, c []int) int {
		unravel(e, d, c)
		j := 0
		for i, k := range c {
			j += k * stride[i]
		}
		return j
	}
	ck, cs := make([]int, len(keep)), make([]int, len(sum))
	total := graph.Product(sum)
	linear, w := weight != nil && n.Outputs[0].Type.Floating(), 1.0
	if linear {
		w = weight(total)
	}
	return Rule{Linear: linear, Cost: total, Each: func(_, e int, yield Link) {
		base := offset(e, keep, keepStride, ck)
		for s := range total {
			yield(0, base+offset(s, sum, sumStride, cs), w)
		}
	}}
}
