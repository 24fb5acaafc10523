package operator

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/kernel"
)

// rearrangeOps move elements, put tensors together or take them apart.
func rearrangeOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Transpose", Texts: true, Versions: []int{1, 13, 21, 23, 24, 25}, Min: 1, Max: 1, Outputs: 1, Check: checkTranspose, Moves: movesFirst},
			Rule: transposeRule, Compile: compileTranspose[T]},
		{Operator: graph.Operator{Name: "Concat", Texts: true, Versions: []int{4, 11, 13}, Min: 1, Max: -1, Outputs: 1, Check: checkConcat, Sizes: concatSizes, Moves: movesAll},
			Rule: concatRule, Compile: compileConcat[T]},
		{Operator: graph.Operator{Name: "Split", Texts: true, Versions: []int{2, 11, 13, 18}, Min: 1, Max: 2, Outputs: -1, Check: checkSplit, Moves: movesFirst},
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
	at, err := graph.Axis(c.AttrInt("axis", 1), len(first))
	if err != nil {
		return err
	}
	out := slices.Clone(first)
	for i, v := range c.Inputs {
		if v == nil {
			return fmt.Errorf("input %d is left out", i)
		}
		if len(v.Shape) != len(first) {
			return fmt.Errorf("inputs have shapes %s and %s", graph.ShapeText(first), graph.ShapeText(v.Shape))
		}
		for j, d := range v.Shape {
			if j == at {
				if d == graph.Batch || first[j] == graph.Batch {
					return fmt.Errorf("mixes rows: it concatenates along the batch axis %d", at)
				}
				if i > 0 {
					out[j] += d
				}
				if _, ok := graph.Elements(out); !ok {
					return fmt.Errorf("the output overflows")
				}
				continue
			}
			if d == first[j] {
				continue
			}
			return fmt.Errorf("inputs have shapes %s and %s, which differ outside axis %d", graph.ShapeText(first), graph.ShapeText(v.Shape), at)
		}
	}
	c.Resolved = at
	return c.Set(0, c.Inputs[0].Type, out)
}

func compileConcat[T kernel.Float](n *graph.Node) Step[T] {
	at := n.Resolved.(int)
	return func(x *Exec[T]) error {
		out := x.Out[0]
		outer, width, from := graph.Product(out.Shape[:at]), graph.Product(out.Shape[at:]), 0
		for _, in := range x.In {
			w := graph.Product(in.Shape[at:])
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

// splitPlan is a Split's axis and the sizes of its parts.
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
	if in.Shape[at] == graph.Batch {
		return fmt.Errorf("mixes rows: it splits the batch axis %d", at)
	}
	sizes := c.Attrs["split"].Ints
	if c.Has(1) {
		if sizes, err = c.Ints(1); err != nil {
			return err
		}
	}
	if sizes == nil {
		n := len(c.Outputs)
		chunk := (in.Shape[at] + n - 1) / n
		for left := in.Shape[at]; len(sizes) < n; left -= chunk {
			sizes = append(sizes, int64(max(min(chunk, left), 0)))
		}
	}
	if len(sizes) != len(c.Outputs) {
		return fmt.Errorf("splits into %d parts but has %d outputs", len(sizes), len(c.Outputs))
	}
	left := int64(in.Shape[at])
	for i, s := range sizes {
		if s < 0 || s > left {
			return fmt.Errorf("parts %v do not fit axis %d of size %d", sizes, at, in.Shape[at])
		}
		left -= s
		out := slices.Clone(in.Shape)
		out[at] = int(s)
		if err := c.Set(i, in.Type, out); err != nil {
			return err
		}
	}
	if left != 0 {
		return fmt.Errorf("parts %v do not fill axis %d of size %d", sizes, at, in.Shape[at])
	}
	c.Resolved = &splitPlan{at, sizes}
	return nil
}

func compileSplit[T kernel.Float](n *graph.Node) Step[T] {
	p := n.Resolved.(*splitPlan)
	at := p.axis
	return func(x *Exec[T]) error {
		in := x.In[0]
		outer, inner, width := graph.Product(in.Shape[:at]), graph.Product(in.Shape[at+1:]), graph.Product(in.Shape[at:])
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
