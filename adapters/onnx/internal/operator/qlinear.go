package operator

import (
	"errors"
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// qlinearOps are ONNX Runtime's functions of bytes, from its quantisation in operator
// form: what the bytes mean goes through the function and becomes bytes again.
func qlinearOps[T kernel.Float]() []Entry[T] {
	sum := func(a, b, scaleA, scaleB, scaleY float32) float64 {
		return (float64(a)*float64(scaleA) + float64(b)*float64(scaleB)) / float64(scaleY)
	}
	product := func(a, b, scaleA, scaleB, scaleY float32) float64 { return float64(a * b * (scaleA * scaleB / scaleY)) }
	return []Entry[T]{
		qlinearBinary[T]("QLinearAdd", sum), qlinearBinary[T]("QLinearMul", product),
		qlinearUnary[T]("QLinearSigmoid", func(*graph.Node) func(x float32) float32 {
			return func(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }
		}),
		qlinearUnary[T]("QLinearLeakyRelu", func(n *graph.Node) func(x float32) float32 {
			a := float32(n.AttrFloat("alpha", 0.01))
			return func(x float32) float32 {
				if x < 0 {
					return a * x
				}
				return x
			}
		}),
		{Operator: graph.Operator{Domain: "com.microsoft", Name: "QLinearConcat", Versions: []int{1}, Min: 5, Max: -1, Outputs: 1, Check: checkQLinearConcat},
			Rule: qlinearConcatRule, Compile: compileQLinearConcat[T]},
	}
}

// meaning is what bytes of a type mean: (v - zero) scale.
type meaning struct {
	scale float32
	zero  int64
	typ   graph.DType
}

// meaningOf reads the constants at inputs scale and zero, of which zero may be left out,
// for bytes of type t.
func meaningOf(c *graph.Check, t graph.DType, scale, zero int) (m meaning, err error) {
	if !isByte(t) {
		return m, fmt.Errorf("works on int8 and uint8, not on %s", t)
	}
	s := c.Inputs[scale]
	if s == nil || s.Const == nil || s.Width() != 1 || s.Type != graph.Float32 {
		return m, fmt.Errorf("input %d must be one constant scale", scale)
	}
	m = meaning{scale: float32(s.Const.F[0]), typ: t}
	if !c.Has(zero) {
		return m, nil
	}
	z := c.Inputs[zero]
	if z.Const == nil || z.Width() != 1 || z.Type != t {
		return m, fmt.Errorf("input %d (%q) must be one constant zero point of type %s", zero, z.Name, t)
	}
	m.zero = z.Const.I[0]
	return m, nil
}

func (m meaning) of(v int64) float32 { return float32(v-m.zero) * m.scale }

// qlinear is a checked function of bytes: what its one or two inputs and its output mean.
type qlinear struct{ a, b, y meaning }

// checkQLinear reads what the inputs and the output mean: each tensor is followed by scale
// and zero point.
func checkQLinear(c *graph.Check, tensors int) (*qlinear, error) {
	t := c.Inputs[0].Type
	a, err := meaningOf(c, t, 1, 2)
	if err != nil {
		return nil, err
	}
	q, at := &qlinear{a: a}, 3
	if tensors == 2 {
		if c.Inputs[3].Type != t {
			return nil, fmt.Errorf("inputs 0 and 3 have types %s and %s", t, c.Inputs[3].Type)
		}
		if q.b, err = meaningOf(c, t, 4, 5); err != nil {
			return nil, err
		}
		at = 6
	}
	q.y, err = meaningOf(c, t, at, at+1)
	return q, err
}

func qlinearBinary[T kernel.Float](name string, f func(a, b, scaleA, scaleB, scaleY float32) float64) Entry[T] {
	return Entry[T]{
		Operator: graph.Operator{Domain: "com.microsoft", Name: name, Versions: []int{1}, Min: 7, Max: 8, Outputs: 1, Check: func(c *graph.Check) error {
			q, err := checkQLinear(c, 2)
			if err != nil {
				return err
			}
			shape, err := graph.Broadcast(c.Inputs[0].Shape, c.Inputs[3].Shape)
			if err != nil {
				return err
			}
			c.Resolved = q
			return c.Set(0, q.y.typ, shape)
		}},
		Rule: qlinearRule,
		Compile: func(n *graph.Node) Step[T] {
			q := n.Resolved.(*qlinear)
			lo, hi := q.y.typ.Limits()
			// The zero point is added before the sum is rounded, which decides ties.
			run := lift(func(a, b int64) int64 {
				v := f(float32(a-q.a.zero), float32(b-q.b.zero), q.a.scale, q.b.scale, q.y.scale) + float64(q.y.zero)
				if math.IsNaN(v) {
					return q.y.zero
				}
				return int64(math.RoundToEven(min(max(v, float64(lo)), float64(hi))))
			})
			return func(x *Exec[T]) error {
				out, a, b := x.Out[0], x.In[0], x.In[3]
				zip(out.I, out.Shape, a.I, a.Shape, b.I, b.Shape, run)
				return nil
			}
		},
	}
}

func qlinearUnary[T kernel.Float](name string, of func(*graph.Node) func(x float32) float32) Entry[T] {
	return Entry[T]{
		Operator: graph.Operator{Domain: "com.microsoft", Name: name, Versions: []int{1}, Min: 4, Max: 5, Outputs: 1, Check: func(c *graph.Check) error {
			q, err := checkQLinear(c, 1)
			if err != nil {
				return err
			}
			c.Resolved = q
			return c.Set(0, q.y.typ, c.Inputs[0].Shape)
		}},
		Rule: qlinearRule,
		Compile: func(n *graph.Node) Step[T] {
			q := n.Resolved.(*qlinear)
			table := byteTable(q.a, q.y, of(n))
			return func(x *Exec[T]) error {
				table.look(x.Out[0].I, x.In[0].I)
				return nil
			}
		},
	}
}

// bytesTable holds what becomes of each byte, the least first.
type bytesTable struct {
	least  int64
	values [256]int64
}

// byteTable is f of what bytes mean as bytes that mean it.
func byteTable(in, out meaning, f func(x float32) float32) *bytesTable {
	var r rounder
	r.to(out.typ)
	t := &bytesTable{}
	t.least, _ = in.typ.Limits()
	for i := range t.values {
		t.values[i] = r.integer(f(in.of(t.least+int64(i)))/out.scale, out.zero)
	}
	return t
}

func (t *bytesTable) look(dst, src []int64) {
	for i, v := range src {
		dst[i] = t.values[(v-t.least)&255]
	}
}

// qlinearRule: element by element; scales and zero points are constants.
func qlinearRule(n *graph.Node) Rule {
	tensors := []int{0}
	if n.Op == "QLinearAdd" || n.Op == "QLinearMul" {
		tensors = append(tensors, 3)
	}
	as := &graph.Node{Op: n.Op, Outputs: n.Outputs}
	for _, i := range tensors {
		as.Inputs = append(as.Inputs, n.Inputs[i])
	}
	r := elementwiseRule(as)
	if r.Each == nil {
		return r
	}
	return Rule{Cost: r.Cost, Each: func(k, e int, yield Link) {
		r.Each(k, e, func(in, ie int, w float64) { yield(tensors[in], ie, w) })
	}}
}

// qlinearJoined is a checked QLinearConcat: its axis and, for each tensor, what becomes of
// its bytes.
type qlinearJoined struct {
	axis   int
	tables []*bytesTable
}

// checkQLinearConcat: scale and zero point of the output, then each tensor with its own.
func checkQLinearConcat(c *graph.Check) error {
	if len(c.Inputs)%3 != 2 {
		return errors.New("its inputs are not the output's scale and zero point and three for each tensor")
	}
	first := c.Inputs[2]
	if first == nil {
		return errors.New("input 2 is left out")
	}
	axis, err := graph.Axis(c.AttrInt("axis", 1), len(first.Shape))
	if err != nil {
		return err
	}
	y, err := meaningOf(c, first.Type, 0, 1)
	if err != nil {
		return err
	}
	out := append([]int{}, first.Shape...)
	if graph.IsRows(out[axis]) {
		return fmt.Errorf("mixes rows: it concatenates along the batch axis %d", axis)
	}
	out[axis] = 0
	j := &qlinearJoined{axis: axis}
	for i := 2; i < len(c.Inputs); i += 3 {
		v := c.Inputs[i]
		if v == nil || v.Type != first.Type || len(v.Shape) != len(out) {
			return fmt.Errorf("input %d does not fit input 2, %s %s", i, first.Type, graph.ShapeText(first.Shape))
		}
		for a, d := range v.Shape {
			if a != axis && d != out[a] || graph.IsRows(d) && a == axis {
				return fmt.Errorf("input %d of shape %s does not fit one of shape %s but along axis %d", i, graph.ShapeText(v.Shape), graph.ShapeText(first.Shape), axis)
			}
		}
		m, err := meaningOf(c, v.Type, i+1, i+2)
		if err != nil {
			return err
		}
		j.tables = append(j.tables, byteTable(m, y, func(x float32) float32 { return x }))
		out[axis] += v.Shape[axis]
	}
	c.Resolved = j
	return c.Set(0, first.Type, out)
}

func compileQLinearConcat[T kernel.Float](n *graph.Node) Step[T] {
	j := n.Resolved.(*qlinearJoined)
	return func(x *Exec[T]) error {
		out := x.Out[0]
		outer, width := graph.Product(out.Shape[:j.axis]), graph.Product(out.Shape[j.axis:])
		at := 0
		for i, table := range j.tables {
			in := x.In[2+3*i]
			w := graph.Product(in.Shape[j.axis:])
			for o := range outer {
				table.look(out.I[o*width+at:][:w], in.I[o*w:][:w])
			}
			at += w
		}
		return nil
	}
}

func qlinearConcatRule(n *graph.Node) Rule {
	j, ok := n.Resolved.(*qlinearJoined)
	if !ok {
		return opaque(n)
	}
	width := graph.Product(n.Outputs[0].RowShape()[j.axis:])
	var widths []int
	for i := range j.tables {
		widths = append(widths, graph.Product(n.Inputs[2+3*i].RowShape()[j.axis:]))
	}
	return Rule{Cost: 1, Each: func(_, e int, yield Link) {
		o, at := e/width, e%width
		for i, w := range widths {
			if at < w {
				yield(2+3*i, o*w+at, 1)
				return
			}
			at -= w
		}
	}}
}
