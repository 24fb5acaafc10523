package operator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/kernel"
)

// einsumOps are sums of products of one or two tensors by labelled axes.
func einsumOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Einsum", Versions: []int{12, 28}, Min: 1, Max: 2, Outputs: 1, AnyLayout: true, Check: checkEinsum},
			Rule: einsumRule, Compile: compileEinsum[T], Weighs: true},
	}
}

// parseEinsum splits the equation into labels per operand and output.
func parseEinsum(eq string, operands int) (in []string, out string, err error) {
	eq = strings.ReplaceAll(eq, " ", "")
	left, out, explicit := strings.Cut(eq, "->")
	in = strings.Split(left, ",")
	if len(in) != operands {
		return nil, "", fmt.Errorf("equation %q has %d operands, the node %d", eq, len(in), operands)
	}
	if !explicit {
		labels := strings.Split(strings.Join(in, ""), "")
		slices.Sort(labels)
		for _, l := range labels {
			if strings.Count(left, l) == 1 {
				out += l
			}
		}
	}
	for _, s := range append(slices.Clone(in), out) {
		for i, r := range s {
			if r < 'A' || r > 'z' || r > 'Z' && r < 'a' {
				return nil, "", fmt.Errorf("equation %q: only letters are supported as labels", eq)
			}
			if strings.ContainsRune(s[:i], r) {
				return nil, "", fmt.Errorf("equation %q repeats label %q in one operand, which is not supported", eq, r)
			}
		}
	}
	return in, out, nil
}

func checkEinsum(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	if err := c.SameType(); err != nil {
		return err
	}
	for i, v := range c.Inputs {
		if v == nil {
			return fmt.Errorf("input %d is left out", i)
		}
	}
	in, out, err := parseEinsum(c.Attrs["equation"].String, len(c.Inputs))
	if err != nil {
		return err
	}
	size := map[rune]int{}
	for i, s := range in {
		shape := c.Inputs[i].Shape
		if len(s) != len(shape) {
			return fmt.Errorf("labels %q for shape %s", s, graph.ShapeText(shape))
		}
		for j, r := range s {
			if have, ok := size[r]; ok && have != shape[j] {
				return fmt.Errorf("label %q has sizes %s", r, graph.ShapeText([]int{have, shape[j]}))
			}
			size[r] = shape[j]
		}
	}
	terms := 1
	for _, r := range slices.Sorted(slices.Values([]rune(strings.Join(in, "")))) {
		if strings.ContainsRune(out, r) {
			continue
		}
		if graph.IsRows(size[r]) {
			return fmt.Errorf("mixes rows: it sums over the batch axis (label %q)", r)
		}
		if t, ok := graph.Elements([]int{terms, size[r]}); ok {
			terms = t
		} else {
			return fmt.Errorf("the sum overflows")
		}
	}
	var shape []int
	for _, r := range out {
		if _, ok := size[r]; !ok {
			return fmt.Errorf("output label %q is in no operand", r)
		}
		shape = append(shape, size[r])
	}
	if shape == nil {
		shape = []int{}
	}
	if err := c.Set(0, c.Inputs[0].Type, shape); err != nil {
		return err
	}
	if len(in) == 1 {
		in = append(in, "")
	}
	e := newEinsum(in, out)
	var axes []int
	temp := 0
	for _, labels := range []string{e.stack + e.rows + e.k, e.stack + e.k + e.cols, e.stack + e.rows + e.cols} {
		axes = axes[:0]
		for _, r := range labels {
			axes = append(axes, size[r])
		}
		n, ok := graph.Elements(axes)
		if !ok {
			return fmt.Errorf("the sum overflows")
		}
		if err := c.Fits(n, "an intermediate result", axes); err != nil {
			return err
		}
		temp += n
	}
	e.work = temp
	c.Resolved = e
	return c.MultiplyAdds(shape, terms)
}

// compileEinsum brings both operands to [stack, m, k] and [stack, k, n],
// multiplies, and orders the result. Labels of one operand that the output lacks
// are part of k, repeated in the other.
func compileEinsum[T kernel.Float](n *graph.Node) Step[T] {
	e := n.Resolved.(*einsum)
	return func(x *Exec[T]) error {
		a := x.In[0]
		b := Operand[T]{F: []T{1}}
		if len(x.In) > 1 {
			b = x.In[1]
		}
		runEinsum(e, x, a, b)
		return nil
	}
}

// einsum is the order of labels in the product.
type einsum struct {
	in                   []string
	out                  string
	stack, rows, cols, k string
	work                 int // elements per row
}

func (e *einsum) Scratch() int { return e.work }

func newEinsum(in []string, out string) *einsum {
	e := &einsum{in: in, out: out}
	for _, r := range out {
		switch a, b := strings.ContainsRune(in[0], r), strings.ContainsRune(in[1], r); {
		case a && b:
			e.stack += string(r)
		case a:
			e.rows += string(r)
		default:
			e.cols += string(r)
		}
	}
	for _, s := range in {
		for _, r := range s {
			if !strings.ContainsRune(out, r) && !strings.ContainsRune(e.k, r) {
				e.k += string(r)
			}
		}
	}
	return e
}

func runEinsum[T kernel.Float](e *einsum, x *Exec[T], a, b Operand[T]) {
	size := func(labels string) int {
		n := 1
		for i := range len(labels) {
			n *= e.size(labels[i], a.Shape, b.Shape)
		}
		return n
	}
	stack, rows, cols, k := size(e.stack), size(e.rows), size(e.cols), size(e.k)
	buf := x.temp(stack * (rows*k + k*cols + rows*cols))
	pa, rest := buf[:stack*rows*k], buf[stack*rows*k:]
	pb, pc := rest[:stack*k*cols], rest[stack*k*cols:]
	arrange(e, pa, a.F, e.in[0], e.stack+e.rows+e.k, a.Shape, b.Shape)
	arrange(e, pb, b.F, e.in[1], e.stack+e.k+e.cols, a.Shape, b.Shape)
	for s := range stack {
		kernel.Gemm(pc[s*rows*cols:(s+1)*rows*cols], pa[s*rows*k:], pb[s*k*cols:], rows, cols, k)
	}
	arrange(e, x.Out[0].F, pc, e.stack+e.rows+e.cols, e.out, a.Shape, b.Shape)
}

func (e *einsum) size(label byte, a, b []int) int {
	if i := strings.IndexByte(e.in[0], label); i >= 0 {
		return a[i]
	}
	return b[strings.IndexByte(e.in[1], label)]
}

// stridesFor gives the sizes of axes to, and their strides in a dense tensor
// with axes from; labels that from lacks have stride 0.
func (e *einsum) stridesFor(from, to string, a, b []int, size, stride []int) {
	for i := range len(to) {
		size[i] = e.size(to[i], a, b)
		stride[i] = 0
		s := 1
		for j := len(from) - 1; j >= 0; j-- {
			if from[j] == to[i] {
				stride[i] = s
				break
			}
			s *= e.size(from[j], a, b)
		}
	}
}

// arrange copies src, with axes from, to dst with axes to.
func arrange[T kernel.Float](e *einsum, dst, src []T, from, to string, a, b []int) {
	var size, stride [52]int
	e.stridesFor(from, to, a, b, size[:], stride[:])
	strided(dst, src, 0, size[:len(to)], stride[:len(to)])
}

// einsumRule sums products over the labels that the output lacks. Ellipses are
// opaque.
func einsumRule(n *graph.Node) Rule {
	eq, isSet := n.Attrs["equation"]
	text := strings.ReplaceAll(eq.String, " ", "")
	left, right, arrow := strings.Cut(text, "->")
	terms := strings.Split(left, ",")
	if !isSet || !arrow || strings.Contains(text, ".") || len(terms) != len(n.Inputs) {
		return opaque(n)
	}
	size := map[byte]int{}
	var summed []byte
	free := -1 // the one operand that is not constant, -2 if several
	for i, v := range n.Inputs {
		if v == nil || len(terms[i]) != len(v.Shape) {
			return opaque(n)
		}
		if v.Const == nil {
			if free == -1 {
				free = i
			} else {
				free = -2
			}
		}
		for j, d := range v.RowShape() {
			l := terms[i][j]
			if old, ok := size[l]; ok && old != d {
				return opaque(n)
			}
			if _, ok := size[l]; !ok && !strings.ContainsRune(right, rune(l)) {
				summed = append(summed, l)
			}
			size[l] = d
		}
	}
	out := n.Outputs[0].RowShape()
	if len(right) != len(out) {
		return opaque(n)
	}
	for i := range out {
		if size[right[i]] != out[i] {
			return opaque(n)
		}
	}
	inner := make([]int, len(summed))
	for i, l := range summed {
		inner[i] = size[l]
	}
	strides := make([][]int, len(n.Inputs))
	for i, v := range n.Inputs {
		strides[i] = rowMajor(v.RowShape())
	}
	var at [256]int
	co, ci := make([]int, len(out)), make([]int, len(inner))
	index := func(i int) int {
		k := 0
		for j := range terms[i] {
			k += at[terms[i][j]] * strides[i][j]
		}
		return k
	}
	total := graph.Product(inner)
	return Rule{Linear: free >= 0 && n.Outputs[0].Type.Floating(), Cost: total * len(n.Inputs), Each: func(_, e int, yield Link) {
		unravel(e, out, co)
		for i, c := range co {
			at[right[i]] = c
		}
		for s := range total {
			unravel(s, inner, ci)
			for i, c := range ci {
				at[summed[i]] = c
			}
			if free < 0 {
				for i := range n.Inputs {
					yield(i, index(i), 1)
				}
				continue
			}
			w := 1.0
			for i, v := range n.Inputs {
				if i != free {
					w *= v.Const.At(index(i))
				}
			}
			yield(free, index(free), w)
		}
	}}
}
