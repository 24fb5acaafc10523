package operator

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/kernel"
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
	if in.Shape[at] == graph.Batch {
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
	u := n.Resolved.(topk)
	read := asDeclared[T](n.Inputs[0].Type)
	whole, _ := integerOf(n.Inputs[0].Type)
	return func(x *Exec[T]) error {
		in := x.In[0]
		size, inner := in.Shape[u.axis], graph.Product(in.Shape[u.axis+1:])
		if graph.Product(in.Shape) == 0 {
			return nil
		}
		order := make([]int, size)
		for o := range graph.Product(in.Shape[:u.axis]) {
			for i := range inner {
				if in.F != nil {
					top(x, u, order, in.F, x.Out[0].F, o*size*inner+i, o*u.k*inner+i, inner, read)
				} else {
					top(x, u, order, in.I, x.Out[0].I, o*size*inner+i, o*u.k*inner+i, inner, whole.key)
				}
			}
		}
		return nil
	}
}

// top orders the elements of src from from on, stride apart, as read sees them; equal
// ones stay as they are, and NaN counts as the largest number. It writes the first k,
// and their places, from to on.
func top[T kernel.Float, A number](x *Exec[T], u topk, order []int, src, dst []A, from, to, stride int, read func(A) A) {
	at := func(i int) A { return src[from+i*stride] }
	if read != nil {
		at = func(i int) A { return read(src[from+i*stride]) }
	}
	for i := range order {
		order[i] = i
	}
	if u.largest {
		slices.SortFunc(order, func(i, j int) int { return cmp.Or(compareNumbers(at(j), at(i)), i-j) })
	} else {
		slices.SortFunc(order, func(i, j int) int { return cmp.Or(compareNumbers(at(i), at(j)), i-j) })
	}
	for j, i := range order[:u.k] {
		if dst != nil {
			dst[to+j*stride] = src[from+i*stride]
		}
		if len(x.Out) > 1 && x.Out[1].I != nil {
			x.Out[1].I[to+j*stride] = int64(i)
		}
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
	size, inner := in[u.axis], graph.Product(in[u.axis+1:])
	return Rule{Cost: size, Each: func(_, e int, yield Link) {
		from := e/(u.k*inner)*size*inner + e%inner
		for k := range size {
			yield(0, from+k*inner, 1)
		}
	}}
}
