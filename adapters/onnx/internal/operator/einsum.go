package operator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// einsumOps are sums of products of tensors by labelled axes.
func einsumOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Einsum", Versions: []int{12, 28}, Min: 1, Max: -1, Outputs: 1, AnyLayout: true, Check: checkEinsum},
			Rule: einsumRule, Compile: compileEinsum[T], Weighs: true},
	}
}

// einsum is an equation and how it is computed: the operands one after another are
// multiplied with the product so far, summed over what nobody needs any more.
type einsum struct {
	equation
	plain []string       // labels of each operand's axes once diagonals are taken and axes of size 1 that others have longer dropped
	pairs []*pairProduct // pairs[i] takes operand i+1
	work  int            // elements per row
}

func (e *einsum) Scratch() int { return e.work }

func checkEinsum(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	if err := c.SameType(); err != nil {
		return err
	}
	e := &einsum{}
	var shapes [][]int
	var ranks []int
	for i, v := range c.Inputs {
		if v == nil {
			return fmt.Errorf("input %d is left out", i)
		}
		shapes, ranks = append(shapes, v.Shape), append(ranks, len(v.Shape))
	}
	var err error
	if e.equation, err = parseEquation(c.Attrs["equation"].String, ranks); err != nil {
		return err
	}
	size, err := e.sizes(shapes)
	if err != nil {
		return err
	}
	for l, d := range size {
		if graph.IsRows(d) && strings.IndexByte(e.out, l) < 0 {
			return fmt.Errorf("mixes rows: it sums over the batch axis (label %s)", labelText(l))
		}
	}
	if err := c.Set(0, c.Inputs[0].Type, shapeOf(e.out, size)); err != nil {
		return err
	}
	e.plan(shapes, size)
	c.Resolved = e
	return e.account(c, size)
}

func shapeOf(labels string, size map[byte]int) []int {
	shape := make([]int, len(labels))
	for i := range shape {
		shape[i] = size[labels[i]]
	}
	return shape
}

// plan finds the labels that are left of each operand, and of each product.
func (e *einsum) plan(shapes [][]int, size map[byte]int) {
	for i, s := range e.in {
		var own []byte
		for j := range len(s) {
			if !slices.Contains(own, s[j]) && shapes[i][j] == size[s[j]] {
				own = append(own, s[j])
			}
		}
		e.plain = append(e.plain, string(own))
	}
	if len(e.plain) == 1 {
		e.pairs = []*pairProduct{newPair([]string{e.plain[0], ""}, e.out)}
		return
	}
	product := e.plain[0]
	for i, s := range e.plain[1:] {
		out := e.out
		if later := strings.Join(e.plain[i+2:], ""); later != "" {
			out = needed(product+s, e.out+later)
		}
		e.pairs = append(e.pairs, newPair([]string{product, s}, out))
		product = out
	}
}

// needed are the labels of s that by has, once each.
func needed(s, by string) string {
	var out []byte
	for i := range len(s) {
		if strings.IndexByte(by, s[i]) >= 0 && !slices.Contains(out, s[i]) {
			out = append(out, s[i])
		}
	}
	return string(out)
}

// account bounds what is multiplied, and the memory for that: reordered operands, their
// products, and the operands that are not used as they are.
func (e *einsum) account(c *graph.Check, size map[byte]int) error {
	take := func(labels string) (int, error) {
		shape := shapeOf(labels, size)
		if len(shape) > maxLabels {
			return 0, fmt.Errorf("a product has %d labels; at most %d are supported", len(shape), maxLabels)
		}
		n, ok := graph.Elements(shape)
		if !ok {
			return 0, fmt.Errorf("the sum overflows")
		}
		return n, c.Fits(n, "an intermediate result", shape)
	}
	most := 0
	for i, p := range e.pairs {
		temp := 0
		for _, labels := range []string{p.stack + p.rows + p.k, p.stack + p.k + p.cols, p.stack + p.rows + p.cols} {
			n, err := take(labels)
			if err != nil {
				return err
			}
			temp += n
		}
		most = max(most, temp)
		terms, err := take(p.k)
		if err != nil {
			return err
		}
		if err := c.MultiplyAdds(shapeOf(p.out, size), terms); err != nil {
			return err
		}
		if i < len(e.pairs)-1 {
			n, err := take(p.out)
			if err != nil {
				return err
			}
			e.work += n
		}
	}
	for i, s := range e.plain {
		if s != e.in[i] {
			n, err := take(s)
			if err != nil {
				return err
			}
			e.work += n
		}
	}
	e.work += most
	return nil
}

func compileEinsum[T kernel.Float](n *graph.Node) Step[T] {
	e := n.Resolved.(*einsum)
	if e.simple() {
		return func(x *Exec[T]) error {
			next := Operand[T]{F: []T{1}}
			if len(x.In) > 1 {
				next = x.In[1]
			}
			p := e.pairs[0]
			runPair(p, x.Out[0].F, x.temp(p.memory(x.In[0].Shape, next.Shape)), x.In[0], next)
			return nil
		}
	}
	return func(x *Exec[T]) error {
		buf := x.temp(e.work * x.Rows)
		take := func(n int) []T {
			part := buf[:n]
			buf = buf[n:]
			return part
		}
		product := plainOperand(e, 0, x.In[0], take)
		for i, p := range e.pairs {
			next := Operand[T]{F: []T{1}}
			if len(e.plain) > 1 {
				next = plainOperand(e, i+1, x.In[i+1], take)
			}
			out := x.Out[0]
			if i < len(e.pairs)-1 {
				out.Shape = make([]int, len(p.out))
				for j := range out.Shape {
					out.Shape[j] = p.size(p.out[j], product.Shape, next.Shape)
				}
				out.F = take(graph.Product(out.Shape))
			}
			runPair(p, out.F, buf, product, next)
			product = out
		}
		return nil
	}
}

// simple: one or two operands, used as they are.
func (e *einsum) simple() bool { return len(e.pairs) == 1 && slices.Equal(e.plain, e.in) }

// plainOperand is operand i with one axis for each of its labels.
func plainOperand[T kernel.Float](e *einsum, i int, a Operand[T], take func(n int) []T) Operand[T] {
	own := e.plain[i]
	if own == e.in[i] {
		return a
	}
	strides := rowMajor(a.Shape)
	out := Operand[T]{Shape: make([]int, len(own))}
	step := make([]int, len(own))
	for j, d := range a.Shape {
		if k := strings.IndexByte(own, e.in[i][j]); k >= 0 {
			out.Shape[k] = max(d, out.Shape[k])
			step[k] += strides[j]
		}
	}
	out.F = take(graph.Product(out.Shape))
	strided(out.F, a.F, 0, out.Shape, step)
	return out
}

// einsumRule sums products over the labels that the output lacks; it is linear if one
// operand depends on the data.
func einsumRule(n *graph.Node) Rule {
	q, ok := n.Resolved.(*einsum)
	if !ok {
		return opaque(n)
	}
	terms, right := q.in, q.out
	size := map[byte]int{}
	strides := make([][]int, len(n.Inputs))
	free := -1 // the one operand that is not constant, -2 if several
	for i, v := range n.Inputs {
		if v.Const == nil {
			if free == -1 {
				free = i
			} else {
				free = -2
			}
		}
		strides[i] = rowMajor(v.RowShape())
		for j, d := range v.RowShape() {
			size[terms[i][j]] = max(size[terms[i][j]], d)
			if d == 1 {
				strides[i][j] = 0 // it may be repeated
			}
		}
	}
	var summed []byte
	for _, s := range terms {
		for i := range len(s) {
			if strings.IndexByte(right, s[i]) < 0 && !slices.Contains(summed, s[i]) {
				summed = append(summed, s[i])
			}
		}
	}
	out, inner := shapeOf(right, size), shapeOf(string(summed), size)
	var at [256]int
	co, ci := make([]int, len(out)), make([]int, len(inner))
	index := func(i int) int {
		k := 0
		for j := range len(terms[i]) {
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
