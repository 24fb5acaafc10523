package operator

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// quantizeOps go from numbers to short integers and back:
//
//	y = saturate(round(x / scale) + zero point),   x = (y - zero point) scale
//
// A quantiser is a step function of each element. Its quotient is one of floats, as in
// runtimes, so that numbers fall on the same side of a step.
func quantizeOps[T kernel.Float]() []Entry[T] {
	versions := []int{10, 13, 19, 21, 23, 24, 25, 28}
	q := Entry[T]{
		Operator: graph.Operator{Name: "QuantizeLinear", Versions: versions, Min: 2, Max: 3, Outputs: 1, Check: checkQuantize},
		Rule:     scaledRule, Compile: compileQuantize[T], Jumps: true,
	}
	d := Entry[T]{
		Operator: graph.Operator{Name: "DequantizeLinear", Versions: versions, Min: 2, Max: 3, Outputs: 1, Check: checkDequantize},
		Rule:     dequantizeRule, Compile: compileDequantize[T],
	}
	return []Entry[T]{q, d, microsoft(q), microsoft(d)}
}

// microsoft is the operator as ONNX Runtime has it in a domain of its own: for types that
// ONNX took up later.
func microsoft[T kernel.Float](e Entry[T]) Entry[T] {
	e.Domain, e.Versions = "com.microsoft", []int{1}
	return e
}

// granularity says which scale and zero point belong to an element: those at its position
// along axis, or, if there is a block, at its place with the position along axis divided
// by it. axis < 0: one for all.
type granularity struct{ axis, block int }

// granularityOf checks scale and zero point, inputs 1 and 2, against input 0. A scale
// that depends on rows has one number for each row, or is blocked.
func granularityOf(c *graph.Check) (g granularity, err error) {
	x, scale := c.Inputs[0], c.Inputs[1]
	if !scale.Type.Floating() {
		return g, fmt.Errorf("the scale (%q) must be floating point, is %s", scale.Name, scale.Type)
	}
	if c.Has(2) && !slices.Equal(c.Inputs[2].Shape, scale.Shape) && (c.Inputs[2].Width() != 1 || scale.Width() != 1 || c.Inputs[2].BatchAxis() != scale.BatchAxis()) {
		return g, fmt.Errorf("zero points of shape %s and scales of shape %s must have one", graph.ShapeText(c.Inputs[2].Shape), graph.ShapeText(scale.Shape))
	}
	n, rank, rows := scale.Width(), len(x.Shape), scale.BatchAxis()
	switch {
	case c.AttrInt("block_size", 0) > 0:
		return blocked(c)
	case rows >= 0 && n == 1 && len(scale.Shape) == rank && rows == x.BatchAxis():
		return granularity{axis: rows}, nil
	case rows < 0 && n == 1 && len(scale.Shape) <= 1:
		return granularity{axis: -1}, nil
	case len(scale.Shape) != 1:
		return g, fmt.Errorf("scales of shape %s are not one, one for each position along an axis of %s, or blocks", graph.ShapeText(scale.Shape), graph.ShapeText(x.Shape))
	}
	axis, err := graph.Axis(c.AttrInt("axis", 1), rank)
	switch {
	case err != nil:
		return g, err
	case graph.IsRows(x.Shape[axis]) && rows < 0:
		return g, fmt.Errorf("mixes rows: it has scales for %d rows along the batch axis %d; quantise along another axis", n, axis)
	case x.Shape[axis] != scale.Shape[0]:
		return g, fmt.Errorf("%d scales for axis %d of shape %s", n, axis, graph.ShapeText(x.Shape))
	}
	return granularity{axis: axis}, nil
}

func blocked(c *graph.Check) (g granularity, err error) {
	x, scale := c.Inputs[0].Shape, c.Inputs[1].Shape
	axis, err := graph.Axis(c.AttrInt("axis", 1), len(x))
	if err != nil {
		return g, err
	}
	block := c.AttrInt("block_size", 0)
	if graph.IsRows(x[axis]) {
		return g, fmt.Errorf("mixes rows: blocks along the batch axis %d share a scale; quantise along another axis", axis)
	}
	want := slices.Clone(x)
	want[axis] = int((int64(x[axis]) + block - 1) / block)
	if block > math.MaxInt32 || !slices.Equal(want, scale) {
		return g, fmt.Errorf("blocks of %d along axis %d of %s do not fit scales of shape %s", block, axis, graph.ShapeText(x), graph.ShapeText(scale))
	}
	return granularity{axis, int(block)}, nil
}

// each calls f for every run of x from to to; its scale is at, or, if blocked, one for
// each element from at on.
func (g granularity) each(shape []int, f func(from, to, at int)) {
	if g.axis < 0 {
		f(0, graph.Product(shape), 0)
		return
	}
	outer, size, inner := graph.Product(shape[:g.axis]), shape[g.axis], graph.Product(shape[g.axis+1:])
	scales := 0
	if g.block > 0 {
		scales = (size + g.block - 1) / g.block
	}
	for o := range outer {
		for k := range size {
			at := k
			if g.block > 0 {
				at = (o*scales + k/g.block) * inner
			}
			from := (o*size + k) * inner
			f(from, from+inner, at)
		}
	}
}

// index is where the scale of element e of a row of that shape is.
func (g granularity) index(shape []int) func(e int) int {
	if g.axis < 0 {
		return func(int) int { return 0 }
	}
	size, inner := shape[g.axis], graph.Product(shape[g.axis+1:])
	if g.block == 0 {
		return func(e int) int { return e / inner % size }
	}
	scales := (size + g.block - 1) / g.block
	return func(e int) int { return (e/(inner*size)*scales+e/inner%size/g.block)*inner + e%inner }
}

// quantizer is a checked QuantizeLinear or DequantizeLinear.
type quantizer struct {
	granularity
	precision graph.DType // of the quotient
}

func checkQuantize(c *graph.Check) error {
	if t := c.Inputs[0].Type; !t.Floating() && t != graph.Int32 || t == graph.Float64 {
		return fmt.Errorf("input 0 (%q) must be float, float16, bfloat16 or int32, is %s", c.Inputs[0].Name, t)
	}
	to, err := declaredType(c, "output_dtype", graph.Uint8)
	if err != nil {
		return err
	}
	if c.Has(2) {
		if _, given := c.Attrs["output_dtype"]; given && c.AttrInt("output_dtype", 0) != 0 && to != c.Inputs[2].Type {
			return fmt.Errorf("output_dtype is %s, the zero point %s", to, c.Inputs[2].Type)
		}
		to = c.Inputs[2].Type
	}
	if !to.Integer() || !short(to) {
		return fmt.Errorf("quantises to %s; integers of 4 to 16 bits are supported", to)
	}
	precision, err := declaredType(c, "precision", graph.Float32)
	if err != nil {
		return err
	}
	g, err := granularityOf(c)
	if err != nil {
		return err
	}
	c.Resolved = &quantizer{g, precision}
	return c.Set(0, to, c.Inputs[0].Shape)
}

// short reports whether integers of t have 16 bits at most.
func short(t graph.DType) bool {
	lo, hi := t.Limits()
	return hi-lo < 1<<16
}

// declaredType is the type that an attribute names, def if it names none.
func declaredType(c *graph.Check, name string, def graph.DType) (graph.DType, error) {
	code := c.AttrInt(name, 0)
	if code == 0 {
		return def, nil
	}
	t, err := graph.TypeOf(int32(code))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

func checkDequantize(c *graph.Check) error {
	t := c.Inputs[0].Type
	if !t.Integer() || !short(t) && t != graph.Int32 {
		return fmt.Errorf("input 0 (%q) must be integers of 4 to 16 bits or int32, is %s", c.Inputs[0].Name, t)
	}
	if c.Has(2) && c.Inputs[2].Type != t {
		return fmt.Errorf("input 0 is %s, the zero point %s", t, c.Inputs[2].Type)
	}
	to, err := declaredType(c, "output_dtype", c.Inputs[1].Type)
	if err != nil {
		return err
	}
	if !to.Floating() {
		return errors.New("output_dtype must be a floating type")
	}
	g, err := granularityOf(c)
	if err != nil {
		return err
	}
	c.Resolved = &quantizer{g, graph.Float32}
	return c.Set(0, to, c.Inputs[0].Shape)
}

func compileQuantize[T kernel.Float](n *graph.Node) Step[T] {
	q := n.Resolved.(*quantizer)
	r := rounder{from: n.Inputs[0].Type, precision: q.precision}
	r.to(n.Outputs[0].Type)
	return func(x *Exec[T]) error {
		in, out, scale := x.In[0], x.Out[0].I, x.In[1].F
		var zero []int64
		if len(x.In) > 2 {
			zero = x.In[2].I
		}
		q.each(in.Shape, func(from, to, at int) {
			if q.block == 0 {
				quantizeRun(&r, out, in, from, to, float32(scale[at]), zeroAt(zero, at))
				return
			}
			for i := from; i < to; i++ {
				quantizeRun(&r, out, in, i, i+1, float32(scale[at+i-from]), zeroAt(zero, at+i-from))
			}
		})
		return nil
	}
}

func zeroAt(zero []int64, at int) int64 {
	if zero == nil {
		return 0
	}
	return zero[at]
}

// rounder makes short integers of quotients.
type rounder struct {
	from, precision graph.DType // of the dividend as it is read, and of the quotient
	lo, hi          float64
}

// to sets the type of the integers.
func (r *rounder) to(t graph.DType) {
	lo, hi := t.Limits()
	r.lo, r.hi = float64(lo), float64(hi)
}

// integer is round(x) + zero, saturated; 0 for NaN.
func (r *rounder) integer(x float32, zero int64) int64 {
	v := math.RoundToEven(float64(x)) + float64(zero)
	switch {
	case v >= r.hi:
		return int64(r.hi)
	case v > r.lo:
		return int64(v)
	case v <= r.lo:
		return int64(r.lo)
	}
	return min(max(zero, int64(r.lo)), int64(r.hi))
}

// quantizeRun quantises elements from to to with one scale.
func quantizeRun[T kernel.Float](r *rounder, out []int64, in Operand[T], from, to int, scale float32, zero int64) {
	switch {
	case in.I != nil:
		for i, v := range in.I[from:to] {
			out[from+i] = r.integer(float32(v)/scale, zero)
		}
	case r.from == graph.Float32 && r.precision == graph.Float32:
		for i, v := range in.F[from:to] {
			out[from+i] = r.integer(float32(v)/scale, zero)
		}
	default:
		for i, v := range in.F[from:to] {
			out[from+i] = r.integer(float32(r.precision.Round(float64(float32(r.from.Round(float64(v)))/scale))), zero)
		}
	}
}

func compileDequantize[T kernel.Float](n *graph.Node) Step[T] {
	q := n.Resolved.(*quantizer)
	return func(x *Exec[T]) error {
		in, out, scale := x.In[0].I, x.Out[0].F, x.In[1].F
		var zero []int64
		if len(x.In) > 2 {
			zero = x.In[2].I
		}
		q.each(x.In[0].Shape, func(from, to, at int) {
			if q.block == 0 {
				s, z := scale[at], zeroAt(zero, at)
				for i, v := range in[from:to] {
					out[from+i] = T(v-z) * s
				}
				return
			}
			for i, v := range in[from:to] {
				out[from+i] = T(v-zeroAt(zero, at+i)) * scale[at+i]
			}
		})
		return nil
	}
}

// scaledRule: an element depends on its own, its scale and its zero point.
func scaledRule(n *graph.Node) Rule {
	q, ok := n.Resolved.(*quantizer)
	if !ok {
		return opaque(n)
	}
	at := q.index(n.Inputs[0].RowShape())
	return Rule{Cost: 3, Each: func(_, e int, yield Link) {
		yield(0, e, 1)
		for i := 1; i < len(n.Inputs); i++ {
			if n.Inputs[i] != nil {
				yield(i, at(e), 1)
			}
		}
	}}
}

// dequantizeRule is linear if scale and zero point are constants.
func dequantizeRule(n *graph.Node) Rule {
	r := scaledRule(n)
	q, ok := n.Resolved.(*quantizer)
	if !ok {
		return r
	}
	for _, v := range n.Inputs[1:] {
		if v != nil && v.Const == nil {
			return r
		}
	}
	at, scale := q.index(n.Inputs[0].RowShape()), n.Inputs[1].Const
	var zero *graph.Tensor
	if len(n.Inputs) > 2 && n.Inputs[2] != nil {
		zero = n.Inputs[2].Const
	}
	return Rule{Linear: true, Cost: 2, Each: func(_, e int, yield Link) {
		w := scale.At(at(e))
		yield(0, e, w)
		if zero != nil && zero.At(at(e)) != 0 {
			yield(Itself, 0, -w*zero.At(at(e)))
		}
	}}
}
