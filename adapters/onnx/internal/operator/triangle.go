package operator

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// triangleOps tell the elements of a matrix apart by the diagonal that they are on.
func triangleOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Trilu", Versions: []int{14}, Min: 1, Max: 2, Outputs: 1, Check: checkTrilu},
			Rule: triluRule, Compile: compileTrilu[T], InPlace: true},
		{Operator: graph.Operator{Name: "EyeLike", Versions: []int{9, 22}, Min: 1, Max: 1, Outputs: 1, Check: checkEyeLike},
			Rule: opaque, Compile: compileEyeLike[T]},
	}
}

// triangle is the part of a matrix that is kept: on and above diagonal k, or on and
// below it.
type triangle struct {
	k     int64
	upper bool
}

func (t triangle) keeps(row, column int) bool {
	if t.upper {
		return int64(column-row) >= t.k
	}
	return int64(column-row) <= t.k
}

func checkTrilu(c *graph.Check) error {
	in := c.Inputs[0].Shape
	if len(in) < 2 {
		return fmt.Errorf("needs a matrix, has shape %s", graph.ShapeText(in))
	}
	for i := len(in) - 2; i < len(in); i++ {
		if graph.IsRows(in[i]) {
			return fmt.Errorf("mixes rows: what it keeps of a row would depend on the row's number, axis %d of %s", i, graph.ShapeText(in))
		}
	}
	t := triangle{upper: c.AttrInt("upper", 1) != 0}
	if c.Has(1) {
		k, err := c.Ints(1)
		if err != nil {
			return err
		}
		if len(k) != 1 {
			return fmt.Errorf("input 1, the diagonal, must be one number, has %d", len(k))
		}
		t.k = k[0]
	}
	c.Resolved = t
	return c.Set(0, c.Inputs[0].Type, in)
}

func compileTrilu[T kernel.Float](n *graph.Node) Step[T] {
	t := n.Resolved.(triangle)
	return func(x *Exec[T]) error {
		in, out := x.In[0], x.Out[0]
		leave(t, out.F, in.F, in.Shape)
		leave(t, out.I, in.I, in.Shape)
		return nil
	}
}

func leave[A number](t triangle, dst, src []A, shape []int) {
	rows, columns := shape[len(shape)-2], shape[len(shape)-1]
	for i, v := range src {
		if dst[i] = 0; t.keeps(i/columns%rows, i%columns) {
			dst[i] = v
		}
	}
}

func triluRule(n *graph.Node) Rule {
	t, ok := n.Resolved.(triangle)
	if !ok {
		return opaque(n)
	}
	d := n.Inputs[0].RowShape()
	rows, columns := d[len(d)-2], d[len(d)-1]
	return Rule{Linear: true, Cost: 1, Each: func(_, e int, yield Link) {
		if t.keeps(e/columns%rows, e%columns) {
			yield(0, e, 1)
		}
	}}
}

// checkEyeLike: only the shape of the input matters, and its rows are rows of the result.
func checkEyeLike(c *graph.Check) error {
	in := c.Inputs[0]
	if len(in.Shape) != 2 {
		return fmt.Errorf("needs a matrix, has shape %s", graph.ShapeText(in.Shape))
	}
	if in.BatchAxis() >= 0 {
		return fmt.Errorf("mixes rows: a row of the identity matrix would depend on the row's number; export the model with a matrix of fixed shape")
	}
	t := in.Type
	if a, ok := c.Attrs["dtype"]; ok {
		var err error
		if t, err = graph.TypeOf(int32(a.Int)); err != nil {
			return err
		}
	}
	return c.Set(0, t, in.Shape)
}

func compileEyeLike[T kernel.Float](n *graph.Node) Step[T] {
	k := n.AttrInt("k", 0)
	return func(x *Exec[T]) error {
		out := x.Out[0]
		columns := out.Shape[1]
		for i := range out.F {
			out.F[i] = T(toInt(int64(i%columns-i/columns) == k))
		}
		for i := range out.I {
			out.I[i] = toInt(int64(i%columns-i/columns) == k)
		}
		return nil
	}
}
