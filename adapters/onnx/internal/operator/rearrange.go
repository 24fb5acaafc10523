package operator

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// rearrangeOps move elements, put tensors together or take them apart.
func rearrangeOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Transpose", Is: graph.Affine | graph.Indexing | graph.Arithmetic, Texts: true, Versions: []int{1, 13, 21, 23, 24, 25}, Min: 1, Max: 1, Outputs: 1, AnyLayout: true, Check: checkTranspose, Moves: movesFirst},
			Rule: transposeRule, Compile: compileTranspose[T]},
		{Operator: graph.Operator{Name: "Concat", Is: graph.Affine | graph.Indexing | graph.Sizing | graph.Arithmetic | graph.Adding, Texts: true, Versions: []int{4, 11, 13}, Min: 1, Max: -1, Outputs: 1, AnyLayout: true, Check: checkConcat, Sizes: concatSizes, Moves: movesAll},
			Rule: concatRule, Compile: compileConcat[T]},
		{Operator: graph.Operator{Name: "Split", Texts: true, Versions: []int{2, 11, 13, 18}, Min: 1, Max: 2, Outputs: -1, AnyLayout: true, SizeInputs: []int{1}, Check: checkSplit, Moves: movesFirst},
			Rule: splitRule, Compile: compileSplit[T]},
	}
}

func permutation(n *graph.Node) ([]int, error) {
	rank := len(n.Inputs[0].Shape)
	perm := make([]int, rank)
	a, ok := n.Attrs["perm"]
	if !ok {
		for i := range perm {
			perm[i] = rank - 1 - i
		}
		return perm, nil
	}
	set, err := graph.AxisSet(a.Ints, rank)
	if err != nil || len(a.Ints) != rank || slices.Contains(set, false) {
		return nil, fmt.Errorf("perm %v is not a permutation of %d axes", a.Ints, rank)
	}
	for i, p := range a.Ints {
		perm[i], _ = graph.Axis(p, rank)
	}
	return perm, nil
}

func checkTranspose(c *graph.Check) error {
	perm, err := permutation(c.Node)
	if err != nil {
		return err
	}
	c.Resolved = perm
	out := make([]int, len(perm))
	for i, p := range perm {
		out[i] = c.Inputs[0].Shape[p]
	}
	return c.Set(0, c.Inputs[0].Type, out)
}

func compileTranspose[T kernel.Float](n *graph.Node) Step[T] {
	perm := n.Resolved.([]int)
	return func(x *Exec[T]) error {
		var b1, b2 [graph.MaxRank]int
		dense, stride := denseStrides(b1[:0], x.In[0].Shape), b2[:len(perm)]
		for i, p := range perm {
			stride[i] = dense[p]
		}
		stridedTensor(x.Out[0], x.In[0], 0, stride)
		return nil
	}
}

func checkConcat(c *graph.Check) error {
	if err := c.SameType(); err != nil {
		return err
	}
	first := c.Inputs[0].Shape
	for _, v := range c.Inputs {
		if v != nil && v.BatchAxis() >= 0 {
			first = v.Shape
			break
		}
	}
	at, err := graph.Axis(c.AttrInt("axis", 1), len(first))
	if err != nil {
		return err
	}
	out, total := slices.Clone(first), 0
	for i, v := range c.Inputs {
		if v == nil {
			return fmt.Errorf("input %d is left out", i)
		}
		if len(v.Shape) != len(first) {
			return fmt.Errorf("inputs have shapes %s and %s", graph.ShapeText(first), graph.ShapeText(v.Shape))
		}
		for j, d := range v.Shape {
			if j == at {
				if out[j] = d; i > 0 {
					var err error
					if out[j], err = joinAxes(total, d); err != nil {
						return err
					}
				}
				total = out[j]
				if _, ok := graph.Elements(out); !ok {
					return fmt.Errorf("the output overflows")
				}
				continue
			}
			if d == first[j] || graph.IsRows(first[j]) && d == graph.PerRow(first[j]) && v.Const != nil && c.TracedWithOneRow() {
				continue // in a network traced with one row a constant is that of each row
			}
			return fmt.Errorf("inputs have shapes %s and %s, which differ outside axis %d", graph.ShapeText(first), graph.ShapeText(v.Shape), at)
		}
	}
	c.Resolved = at
	return c.Set(0, c.Inputs[0].Type, out)
}

// joinAxes is the size of two axes one after the other. Rows that all stand there, and
// then all again, are a batch axis that holds each twice.
func joinAxes(a, b int) (int, error) {
	if !graph.IsRows(a) && !graph.IsRows(b) {
		return a + b, nil
	}
	outerA, inner := graph.AroundRows(a)
	outerB, innerB := graph.AroundRows(b)
	if inner != innerB {
		return 0, fmt.Errorf("mixes rows: it concatenates sizes %s along the batch axis", graph.ShapeText([]int{a, b}))
	}
	return repeatedRows(1, outerA+outerB, inner)
}

func compileConcat[T kernel.Float](n *graph.Node) Step[T] {
	if l, ok := n.Resolved.(Lookups); ok {
		return compileLookups[T](n, l)
	}
	at, rows, behind := n.Resolved.(int), n.Outputs[0].BatchAxis(), 0
	if rows >= 0 {
		_, behind = graph.AroundRows(n.Outputs[0].Shape[rows])
	}
	return func(x *Exec[T]) error {
		out := x.Out[0]
		outer, width, from := graph.Product(out.Shape[:at]), graph.Product(out.Shape[at:]), 0
		for _, in := range x.In {
			w := graph.Product(in.Shape[at:])
			if rows >= 0 && rows != at && in.Shape[rows] != out.Shape[rows] {
				from += placeForEachRow(out, in, at, rows, behind, from)
				continue
			}
			for r := range outer {
				if out.F != nil {
					copy(out.F[r*width+from:], in.F[r*w:(r+1)*w])
				} else {
					copy(out.I[r*width+from:], in.I[r*w:(r+1)*w])
				}
			}
			from += w
		}
		return nil
	}
}

// placeForEachRow writes a tensor of one row into out for each row, which has behind
// entries behind the rows on their axis. It begins from elements into every stretch along
// axis at, and returns the elements of a stretch.
func placeForEachRow[T kernel.Float](out, in Operand[T], at, rows, behind, from int) int {
	var b1, b2 [graph.MaxRank]int
	inner := graph.Product(out.Shape[at+1:])
	to, stride := denseStrides(b1[:0], out.Shape), denseStrides(b2[:0], in.Shape)
	each := out.Shape[rows] / in.Shape[rows] * behind // entries of all rows, one time around
	size := slices.Clone(out.Shape)
	size[at] = in.Shape[at]
	c := make([]int, len(size))
	for e := range graph.Product(size) {
		unravel(e, size, c)
		o, i := from, 0
		for k, p := range c {
			if o += p * to[k]; k == rows {
				p = p/each*behind + p%behind
			}
			i += p * stride[k]
		}
		if out.F != nil {
			out.F[o] = in.F[i]
		} else {
			out.I[o] = in.I[i]
		}
	}
	return in.Shape[at] * inner
}

// splitPlan is a Split's axis and the sizes of its parts, on a batch axis for each row.
type splitPlan struct {
	axis  int
	sizes []int64
}

func checkSplit(c *graph.Check) error {
	in := c.Inputs[0]
	at, err := graph.Axis(c.AttrInt("axis", 0), len(in.Shape))
	if err != nil {
		return err
	}
	sizes, err := splitSizes(c, in.Shape[at])
	if err != nil {
		return err
	}
	if len(sizes) != len(c.Outputs) {
		return fmt.Errorf("splits into %d parts but has %d outputs", len(sizes), len(c.Outputs))
	}
	size := int64(graph.PerRow(in.Shape[at]))
	left := size
	for i, s := range sizes {
		if s < 0 || s > left {
			return fmt.Errorf("parts %v do not fit axis %d of size %d", sizes, at, size)
		}
		left -= s
		out := slices.Clone(in.Shape)
		if out[at], err = stretch(in.Shape[at], size-left-s, s); err != nil {
			return err
		}
		if err := c.Set(i, in.Type, out); err != nil {
			return err
		}
	}
	if left != 0 {
		return fmt.Errorf("parts %v do not fill axis %d of size %d", sizes, at, size)
	}
	c.Resolved = &splitPlan{at, sizes}
	return nil
}

// splitSizes are the sizes of a Split's parts of an axis of size d: given, or equal. Those
// of a batch axis are multiples of the number of rows.
func splitSizes(c *graph.Check, d int) ([]int64, error) {
	var sizes []graph.Size
	for _, k := range c.Attrs["split"].Ints {
		sizes = append(sizes, graph.Size{K: k})
	}
	if c.Has(1) {
		s, ok := c.SizesOf(c.Inputs[1])
		if !ok || len(s.Shape) != 1 {
			return nil, fmt.Errorf("input 1 (%q) must be a constant vector of integers", c.Inputs[1].Name)
		}
		sizes = s.D
	}
	if sizes == nil {
		return equalParts(d, len(c.Outputs))
	}
	out := []int64{}
	for _, s := range sizes {
		ofOneRow := c.TracedWithOneRow() && graph.IsRows(d)
		if s.Rows != graph.IsRows(d) && !ofOneRow {
			return nil, fmt.Errorf("mixes rows: it cuts an axis of size %s into parts of which one has size %s", graph.ShapeText([]int{d}), s)
		}
		out = append(out, s.K)
	}
	return out, nil
}

// equalParts cuts an axis of size d into n. The last part may be smaller, but for a batch
// axis: its size would depend on the number of rows.
func equalParts(d, n int) (sizes []int64, err error) {
	size := graph.PerRow(d)
	if graph.IsRows(d) && size%n != 0 {
		return nil, fmt.Errorf("mixes rows: it cuts through them on an axis of size %s", graph.ShapeText([]int{d}))
	}
	chunk := (size + n - 1) / n
	for left := size; len(sizes) < n; left -= chunk {
		sizes = append(sizes, int64(max(min(chunk, left), 0)))
	}
	return sizes, nil
}

// stretch is the size of part of an axis: n entries behind the first from, on a batch
// axis in multiples of the number of rows. All rows are there equally often.
func stretch(d int, from, n int64) (int, error) {
	if !graph.IsRows(d) {
		return int(n), nil
	}
	_, inner := graph.AroundRows(d)
	if n == 0 || from%int64(inner) != 0 || n%int64(inner) != 0 {
		return 0, fmt.Errorf("mixes rows: it cuts through them on an axis of size %s", graph.ShapeText([]int{d}))
	}
	part, _ := graph.RowsAxis(int(n)/inner, inner)
	return part, nil
}

func compileSplit[T kernel.Float](n *graph.Node) Step[T] {
	p := n.Resolved.(*splitPlan)
	at, rows := p.axis, graph.IsRows(n.Inputs[0].Shape[p.axis])
	return func(x *Exec[T]) error {
		in := x.In[0]
		outer, inner, width := graph.Product(in.Shape[:at]), graph.Product(in.Shape[at+1:]), graph.Product(in.Shape[at:])
		if rows {
			inner *= x.Rows
		}
		from := 0
		for i, s := range p.sizes {
			w := int(s) * inner
			if n.Outputs[i] != nil {
				for r := range outer {
					if in.F != nil {
						copy(x.Out[i].F[r*w:(r+1)*w], in.F[r*width+from:])
					} else {
						copy(x.Out[i].I[r*w:(r+1)*w], in.I[r*width+from:])
					}
				}
			}
			from += w
		}
		return nil
	}
}

// concatRule joins its inputs along axis.
func concatRule(n *graph.Node) Rule {
	return concatAxisRule(n, int(n.AttrInt("axis", 1)))
}

func concatAxisRule(n *graph.Node, axis int) Rule {
	out := n.Outputs[0].RowShape()
	axis, ok := normalAxis(axis, len(out))
	if !ok {
		return opaque(n)
	}
	inner := graph.Product(out[axis+1:])
	var owner, offset []int // of each position along axis
	size := make([]int, len(n.Inputs))
	for i, v := range n.Inputs {
		if v == nil || len(v.Shape) != len(out) {
			return opaque(n)
		}
		size[i] = v.RowShape()[axis]
		for k := range size[i] {
			owner, offset = append(owner, i), append(offset, k)
		}
	}
	if len(owner) != out[axis] {
		return opaque(n)
	}
	return Rule{Linear: true, Cost: 1, Each: func(_, e int, yield Link) {
		outer, k, in := e/(inner*out[axis]), e/inner%out[axis], e%inner
		i := owner[k]
		yield(i, (outer*size[i]+offset[k])*inner+in, 1)
	}}
}

// splitRule cuts the input along axis into its outputs.
func splitRule(n *graph.Node) Rule {
	in := n.Inputs[0].RowShape()
	axis, ok := normalAxis(int(n.AttrInt("axis", 0)), len(in))
	if !ok {
		return opaque(n)
	}
	inner := graph.Product(in[axis+1:])
	start, size := make([]int, len(n.Outputs)), make([]int, len(n.Outputs))
	total := 0
	for i, v := range n.Outputs {
		if v == nil || len(v.Shape) != len(in) {
			return opaque(n)
		}
		start[i], size[i] = total, v.RowShape()[axis]
		total += size[i]
	}
	if total != in[axis] {
		return opaque(n)
	}
	return Rule{Linear: true, Cost: 1, Each: func(o, e int, yield Link) {
		outer, k, j := e/(inner*size[o]), e/inner%size[o], e%inner
		yield(0, (outer*in[axis]+start[o]+k)*inner+j, 1)
	}}
}

// transposeRule: output axis i is input axis perm[i].
func transposeRule(n *graph.Node) Rule {
	in, out := n.Inputs[0].RowShape(), n.Outputs[0].RowShape()
	if len(in) != len(out) {
		return opaque(n)
	}
	perm, given, _ := intsInput(n, "perm", len(n.Inputs))
	if !given {
		for i := len(in) - 1; i >= 0; i-- {
			perm = append(perm, i)
		}
	}
	if len(perm) != len(in) {
		return opaque(n)
	}
	strides, stride, c := rowMajor(in), make([]int, len(in)), make([]int, len(in))
	for i, p := range perm {
		if p < 0 || p >= len(in) || in[p] != out[i] {
			return opaque(n)
		}
		stride[i] = strides[p]
	}
	return Rule{Linear: true, Cost: 1, Each: func(_, e int, yield Link) {
		unravel(e, out, c)
		j := 0
		for i, k := range c {
			j += k * stride[i]
		}
		yield(0, j, 1)
	}}
}
