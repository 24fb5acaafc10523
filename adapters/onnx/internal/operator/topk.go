package operator

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// topOps find the largest or smallest elements along an axis.
func topOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "TopK", Versions: []int{1, 10, 11, 24}, Min: 1, Max: 2, Outputs: 2, Check: checkTopK},
			Rule: topRule, Compile: compileTopK[T], Jumps: true},
		{Operator: graph.Operator{Name: "Hardmax", Versions: []int{1, 11, 13}, Min: 1, Max: 1, Outputs: 1, Check: checkSoftmax},
			Rule: softmaxRule, Compile: compileHardmax[T], InPlace: true, Jumps: true},
	}
}

// topk is what is asked for: the first k along an axis, in descending order or not.
type topk struct {
	axis, k int
	largest bool
}

func checkTopK(c *graph.Check) error {
	in := c.Inputs[0]
	if in.Type == graph.Bool {
		return fmt.Errorf("input must be a number, is bool")
	}
	at, err := graph.Axis(c.AttrInt("axis", -1), len(in.Shape))
	if err != nil {
		return err
	}
	if graph.IsRows(in.Shape[at]) {
		return fmt.Errorf("mixes rows: it orders the rows, axis %d of %s", at, graph.ShapeText(in.Shape))
	}
	k, err := howMany(c)
	if err != nil {
		return err
	}
	if k < 0 || k > int64(in.Shape[at]) {
		return fmt.Errorf("asks for %d of %d elements along axis %d", k, in.Shape[at], at)
	}
	c.Resolved = topk{at, int(k), c.AttrInt("largest", 1) != 0}
	shape := slices.Clone(in.Shape)
	shape[at] = int(k)
	if err := c.Set(0, in.Type, shape); err != nil {
		return err
	}
	if err := c.Set(1, graph.Int64, shape); err != nil {
		return err
	}
	return c.MultiplyAdds(in.Shape, bits.Len(uint(in.Shape[at])))
}

// howMany is k: an attribute before opset 10, an input since.
func howMany(c *graph.Check) (int64, error) {
	if c.Version < 10 {
		return c.AttrInt("k", -1), nil
	}
	if !c.Has(1) {
		return 0, fmt.Errorf("input 1, the number of elements, is left out")
	}
	v, err := c.Ints(1)
	if err != nil {
		return 0, err
	}
	if len(v) != 1 {
		return 0, fmt.Errorf("input 1 must be one number, has shape %s", graph.ShapeText(c.Inputs[1].Shape))
	}
	return v[0], nil
}

func compileTopK[T kernel.Float](n *graph.Node) Step[T] {
	u, typ := n.Resolved.(topk), n.Inputs[0].Type
	read := asDeclared[T](typ)
	return func(x *Exec[T]) error {
		var at []int64
		if len(x.Out) > 1 {
			at = x.Out[1].I
		}
		if in := x.In[0]; in.F != nil {
			top(u, x.Out[0].F, at, in.F, in.Shape, read)
		} else {
			top(u, x.Out[0].I, at, in.I, in.Shape, typ.Order)
		}
		return nil
	}
}

// top writes the first k elements of each line of src, and their places; either may be
// nil. They are ordered as read sees them: equal ones stay as they are, and NaN counts as
// the largest number.
func top[A number](u topk, dst []A, at []int64, src []A, shape []int, read func(A) A) {
	size, inner := shape[u.axis], graph.Product(shape[u.axis+1:])
	keys, order := make([]A, size), make([]int, size)
	for o := range graph.Product(shape[:u.axis]) {
		for i := range inner {
			from, to := o*size*inner+i, o*u.k*inner+i
			for k := range keys {
				order[k] = k
				if keys[k] = src[from+k*inner]; read != nil {
					keys[k] = read(keys[k])
				}
			}
			first(u, keys, order)
			for j, k := range order[:u.k] {
				if dst != nil {
					dst[to+j*inner] = src[from+k*inner]
				}
				if at != nil {
					at[to+j*inner] = int64(k)
				}
			}
		}
	}
}

// first brings the first k of the keys' order to its beginning: few by looking for each
// of them, many by sorting.
func first[A number](u topk, keys []A, order []int) {
	before := func(i, j int) int {
		if u.largest {
			return cmp.Or(compareNumbers(keys[j], keys[i]), i-j)
		}
		return cmp.Or(compareNumbers(keys[i], keys[j]), i-j)
	}
	if u.k > 8 {
		slices.SortFunc(order, before)
		return
	}
	for j := range u.k {
		best := j
		for i := j + 1; i < len(order); i++ {
			if before(order[i], order[best]) < 0 {
				best = i
			}
		}
		order[j], order[best] = order[best], order[j]
	}
}

// compareNumbers is cmp.Compare with NaN above all others.
func compareNumbers[A number](x, y A) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case x == y:
		return 0
	}
	return int(toInt(x != x)) - int(toInt(y != y))
}

// compileHardmax: 1 at the first of the largest elements, 0 elsewhere.
func compileHardmax[T kernel.Float](n *graph.Node) Step[T] {
	a := n.Resolved.(softmaxAxes)
	read := asDeclared[T](n.Inputs[0].Type)
	if read == nil {
		read = func(v T) T { return v }
	}
	return func(x *Exec[T]) error {
		shape := x.In[0].Shape
		outer, size, inner := graph.Product(shape[:a.from]), graph.Product(shape[a.from:a.to]), graph.Product(shape[a.to:])
		if size == 0 {
			return nil
		}
		in, out := x.In[0].F, x.Out[0].F
		for o := range outer {
			for i := range inner {
				from, best := o*size*inner+i, 0
				for k := 1; k < size; k++ {
					if read(in[from+k*inner]) > read(in[from+best*inner]) {
						best = k
					}
				}
				for k := range size {
					out[from+k*inner] = T(toInt(k == best))
				}
			}
		}
		return nil
	}
}

// topRule: every element enters along the axis.
func topRule(n *graph.Node) Rule {
	u, ok := n.Resolved.(topk)
	if !ok {
		return opaque(n)
	}
	in := n.Inputs[0].RowShape()
	return lineRule(in[u.axis], u.k, graph.Product(in[u.axis+1:]))
}
