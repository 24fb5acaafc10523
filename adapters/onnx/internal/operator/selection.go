package operator

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// selectionOps keep some of the elements: which, and so how many, depends on numbers that
// must be known at load. Rows of different lengths are no tensor.
func selectionOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Compress", Versions: []int{9, 11, 28}, Min: 2, Max: 2, Outputs: 1, Check: checkCompress, Moves: movesFirst},
			Rule: compressRule, Compile: compileCompress[T]},
		{Operator: graph.Operator{Name: "NonZero", Versions: []int{9, 13}, Min: 1, Max: 1, Outputs: 1, Check: checkNonZero},
			Rule: opaque, Compile: compileNonZero[T]},
		{Operator: graph.Operator{Name: "Unique", Versions: []int{11, 28}, Min: 1, Max: 1, Outputs: 4, Check: checkUnique},
			Rule: opaque, Compile: compileUnique[T]},
	}
}

// known requires input i to be a constant: what it holds decides how many elements the
// output has.
func known(c *graph.Check, i int) error {
	if v := c.Inputs[i]; v.Const == nil {
		return fmt.Errorf("the number of its outputs depends on the data (%q), so that rows would get different numbers of them; export the model with a constant there, or with a choice of fixed size (Where, TopK)", v.Name)
	}
	return nil
}

// compressed are the positions that are kept along an axis.
type compressed struct {
	axis int
	keep []int
}

func checkCompress(c *graph.Check) error {
	in, condition := c.Inputs[0], c.Inputs[1]
	if err := known(c, 1); err != nil {
		return err
	}
	if condition.Type != graph.Bool || len(condition.Shape) != 1 {
		return fmt.Errorf("input 1 (%q) must be a vector of bool, is %s %v", condition.Name, condition.Type, condition.Shape)
	}
	z := &compressed{}
	for i, on := range condition.Const.I {
		if on != 0 {
			z.keep = append(z.keep, i)
		}
	}
	a, given := c.Attrs["axis"]
	if !given { // of the flat tensor
		if in.BatchAxis() >= 0 {
			return fmt.Errorf("mixes rows: without an axis it takes all rows as one vector; export it with one")
		}
		z.axis = -1
		return z.set(c, in.Width(), []int{len(z.keep)})
	}
	at, err := graph.Axis(a.Int, len(in.Shape))
	if err != nil {
		return err
	}
	if graph.IsRows(in.Shape[at]) {
		return fmt.Errorf("mixes rows: it keeps some of the rows, axis %d of %s", at, graph.ShapeText(in.Shape))
	}
	z.axis = at
	shape := slices.Clone(in.Shape)
	shape[at] = len(z.keep)
	return z.set(c, in.Shape[at], shape)
}

func (z *compressed) set(c *graph.Check, size int, shape []int) error {
	if n := len(z.keep); n > 0 && z.keep[n-1] >= size {
		return fmt.Errorf("keeps element %d of %d", z.keep[n-1], size)
	}
	c.Resolved = z
	return c.Set(0, c.Inputs[0].Type, shape)
}

// lengths are the sizes around the axis that is compressed.
func (z *compressed) lengths(in []int) (outer, size, inner int) {
	if z.axis < 0 {
		return 1, graph.Product(in), 1
	}
	return graph.Product(in[:z.axis]), in[z.axis], graph.Product(in[z.axis+1:])
}

func compileCompress[T kernel.Float](n *graph.Node) Step[T] {
	z := n.Resolved.(*compressed)
	return func(x *Exec[T]) error {
		keep(z, x.Out[0].F, x.In[0].F, x.In[0].Shape)
		keep(z, x.Out[0].I, x.In[0].I, x.In[0].Shape)
		return nil
	}
}

// keep copies what is kept of src, of that shape; a nil dst takes nothing.
func keep[A number](z *compressed, dst, src []A, shape []int) {
	if dst == nil {
		return
	}
	outer, size, inner := z.lengths(shape)
	for o := range outer {
		for j, k := range z.keep {
			to, from := (o*len(z.keep)+j)*inner, (o*size+k)*inner
			copy(dst[to:to+inner], src[from:])
		}
	}
}

func compressRule(n *graph.Node) Rule {
	z, ok := n.Resolved.(*compressed)
	if !ok {
		return opaque(n)
	}
	_, size, inner := z.lengths(n.Inputs[0].RowShape())
	return Rule{Linear: true, Cost: 1, Each: func(_, e int, yield Link) {
		outer, j := e/(inner*len(z.keep)), e/inner%len(z.keep)
		yield(0, (outer*size+z.keep[j])*inner+e%inner, 1)
	}}
}

// checkNonZero: the output has a column of coordinates for each element.
func checkNonZero(c *graph.Check) error {
	if err := known(c, 0); err != nil {
		return err
	}
	t := c.Inputs[0].Const
	n := 0
	for i := range len(t.F) + len(t.I) {
		if t.At(i) != 0 {
			n++
		}
	}
	return c.Set(0, graph.Int64, []int{len(t.Shape), n})
}

func compileNonZero[T kernel.Float](n *graph.Node) Step[T] {
	t := n.Inputs[0].Const
	return func(x *Exec[T]) error {
		out := x.Out[0]
		found, at := 0, make([]int, len(t.Shape))
		for i := range len(t.F) + len(t.I) {
			if t.At(i) == 0 {
				continue
			}
			unravel(i, t.Shape, at)
			for axis, k := range at {
				out.I[axis*out.Shape[1]+found] = int64(k)
			}
			found++
		}
		return nil
	}
}

// distinct are the different slices of a tensor along an axis: where each stands first,
// which one each slice is, and how many are equal.
type distinct struct {
	axis                   int // -1: of the flat tensor
	first, inverse, counts []int64
}

func checkUnique(c *graph.Check) error {
	if err := known(c, 0); err != nil {
		return err
	}
	t := c.Inputs[0].Const
	u := &distinct{axis: -1}
	n, inner := len(t.F)+len(t.I), 1
	shape := []int{0}
	if a, given := c.Attrs["axis"]; given {
		at, err := graph.Axis(a.Int, len(t.Shape))
		if err != nil {
			return err
		}
		u.axis = at
		n, inner = t.Shape[at], graph.Product(t.Shape[at+1:])
		shape = slices.Clone(t.Shape)
	}
	all := int64(len(t.F) + len(t.I))
	if err := c.Spend((all + int64(n)) * int64(bits.Len(uint(n))+1)); err != nil {
		return err
	}
	u.find(n, u.comparison(t, n, inner), c.AttrInt("sorted", 1) != 0)
	shape[max(u.axis, 0)] = len(u.first)
	c.Resolved = u
	if err := c.Set(0, c.Inputs[0].Type, shape); err != nil {
		return err
	}
	for i, v := range [][]int64{u.first, u.inverse, u.counts} {
		if err := c.Set(1+i, graph.Int64, []int{len(v)}); err != nil {
			return err
		}
	}
	return nil
}

// comparison orders the n slices of t, of runs of inner elements, lexicographically.
func (u *distinct) comparison(t *graph.Tensor, n, inner int) func(i, j int) int {
	outer := 1
	if u.axis >= 0 {
		outer = graph.Product(t.Shape[:u.axis])
	}
	return func(i, j int) int {
		for o := range outer {
			for k := range inner {
				a, b := (o*n+i)*inner+k, (o*n+j)*inner+k
				order := 0
				if t.F != nil {
					order = compareNumbers(t.F[a], t.F[b])
				} else {
					order = cmp.Compare(t.Type.Order(t.I[a]), t.Type.Order(t.I[b]))
				}
				if order != 0 {
					return order
				}
			}
		}
		return 0
	}
}

// find sorts the slices, and if that is not asked for, brings the groups back into the
// order in which they begin.
func (u *distinct) find(n int, compare func(i, j int) int, sorted bool) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(compare(i, j), i-j) })
	u.inverse = make([]int64, n)
	for k, i := range order {
		if k == 0 || compare(order[k-1], i) != 0 {
			u.first, u.counts = append(u.first, int64(i)), append(u.counts, 0)
		}
		u.inverse[i] = int64(len(u.first) - 1)
		u.counts[len(u.counts)-1]++
	}
	if sorted {
		return
	}
	groups := make([]int, len(u.first))
	for g := range groups {
		groups[g] = g
	}
	slices.SortFunc(groups, func(a, b int) int { return cmp.Compare(u.first[a], u.first[b]) })
	first, counts, place := slices.Clone(u.first), slices.Clone(u.counts), make([]int64, len(groups))
	for k, g := range groups {
		u.first[k], u.counts[k], place[g] = first[g], counts[g], int64(k)
	}
	for i, g := range u.inverse {
		u.inverse[i] = place[g]
	}
}

func compileUnique[T kernel.Float](n *graph.Node) Step[T] {
	u := n.Resolved.(*distinct)
	z := &compressed{axis: u.axis}
	for _, k := range u.first {
		z.keep = append(z.keep, int(k))
	}
	return func(x *Exec[T]) error {
		keep(z, x.Out[0].F, x.In[0].F, x.In[0].Shape)
		keep(z, x.Out[0].I, x.In[0].I, x.In[0].Shape)
		for i, v := range [][]int64{u.first, u.inverse, u.counts} {
			if 1+i < len(x.Out) {
				copy(x.Out[1+i].I, v)
			}
		}
		return nil
	}
}
