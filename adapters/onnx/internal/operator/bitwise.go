package operator

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// bitwiseOps work on the bits of whole numbers, of any type that has them.
func bitwiseOps[T kernel.Float]() []Entry[T] {
	two := func(name string, versions []int, f func(n *graph.Node) func(x, y int64) int64) Entry[T] {
		return Entry[T]{
			Operator: graph.Operator{Name: name, Versions: versions, Min: 2, Max: 2, Outputs: 1, Check: checkBits},
			Rule:     elementwiseRule,
			Compile: func(n *graph.Node) Step[T] {
				g := lift(f(n))
				return func(x *Exec[T]) error {
					out, a, b := x.Out[0], x.In[0], x.In[1]
					zip(out.I, out.Shape, a.I, a.Shape, b.I, b.Shape, g)
					return nil
				}
			},
			InPlace: true,
		}
	}
	plain := func(f func(x, y int64) int64) func(*graph.Node) func(x, y int64) int64 {
		return func(*graph.Node) func(x, y int64) int64 { return f }
	}
	return []Entry[T]{
		two("BitwiseAnd", []int{18}, plain(func(x, y int64) int64 { return x & y })),
		two("BitwiseOr", []int{18}, plain(func(x, y int64) int64 { return x | y })),
		two("BitwiseXor", []int{18}, plain(func(x, y int64) int64 { return x ^ y })),
		two("BitShift", []int{11, 28}, shift),
		{Operator: graph.Operator{Name: "BitwiseNot", Versions: []int{18}, Min: 1, Max: 1, Outputs: 1, Check: checkBits},
			Rule: elementwiseRule, Compile: compileBitwiseNot[T], InPlace: true},
		{Operator: graph.Operator{Name: "BitCast", Versions: []int{26}, Min: 1, Max: 1, Outputs: 1, Check: checkBitCast},
			Rule: elementwiseRule, Compile: compileBitCast[T], Jumps: true},
	}
}

// checkBits: one or two tensors of one integer type.
func checkBits(c *graph.Check) error {
	if err := c.SameType(); err != nil {
		return err
	}
	if !c.Inputs[0].Type.Integer() {
		return fmt.Errorf("inputs must be integers, are %s", c.Inputs[0].Type)
	}
	if c.Op == "BitShift" {
		if d := c.Attrs["direction"].String; d != "LEFT" && d != "RIGHT" {
			return fmt.Errorf("direction %q is neither LEFT nor RIGHT", d)
		}
	}
	shape := c.Inputs[0].Shape
	if len(c.Inputs) > 1 {
		var err error
		if shape, err = graph.Broadcast(shape, c.Inputs[1].Shape); err != nil {
			return err
		}
	}
	return c.Set(0, c.Inputs[0].Type, shape)
}

// shift moves bits; by the type's width or more, or by a negative number, all of them
// out. Signed numbers keep their sign on the way to the right.
func shift(n *graph.Node) func(x, y int64) int64 {
	left, typ := n.Attrs["direction"].String == "LEFT", n.Inputs[0].Type
	return func(x, y int64) int64 {
		by := min(uint64(y), 64) // a negative number is far out
		if by >= uint64(typ.Bits()) {
			by = 64
		}
		switch {
		case left:
			return typ.Wrap(x << by)
		case typ.Unsigned():
			return int64(uint64(x) >> by)
		}
		return x >> by
	}
}

func compileBitwiseNot[T kernel.Float](n *graph.Node) Step[T] {
	typ := n.Inputs[0].Type
	return func(x *Exec[T]) error {
		for i, v := range x.In[0].I {
			x.Out[0].I[i] = typ.Wrap(^v)
		}
		return nil
	}
}

// width is the bits that a number of the type has in memory, 0 if this is not known:
// of what is neither an integer, float, double nor bool.
func width(t graph.DType) int {
	if t.Integer() || t == graph.Float32 || t == graph.Float64 || t == graph.Bool {
		return t.Bits()
	}
	return 0
}

func checkBitCast(c *graph.Check) error {
	from := c.Inputs[0].Type
	to, err := graph.TypeOf(int32(c.AttrInt("to", 0)))
	if err != nil {
		return err
	}
	if width(from) == 0 || width(from) != width(to) {
		return fmt.Errorf("the bits of %s are none of %s: the types must be of one size, float, double, bool or integers", from, to)
	}
	return c.Set(0, to, c.Inputs[0].Shape)
}

// compileBitCast reads numbers as the graph declares them: what the engine knows of them
// beyond has no bits there.
func compileBitCast[T kernel.Float](n *graph.Node) Step[T] {
	from, to := n.Inputs[0].Type, n.Outputs[0].Type
	bits, number := bitsOf[T](from), numberOf[T](to)
	return func(x *Exec[T]) error {
		in, out := x.In[0], x.Out[0]
		for i := range graph.Product(in.Shape) {
			var b int64
			if in.F != nil {
				b = bits(in.F[i])
			} else {
				b = in.I[i]
			}
			if out.F != nil {
				out.F[i] = number(b)
			} else {
				out.I[i] = wholeOf(b, to)
			}
		}
		return nil
	}
}

func bitsOf[T kernel.Float](t graph.DType) func(T) int64 {
	if t == graph.Float32 {
		return func(v T) int64 { return int64(int32(math.Float32bits(float32(v)))) }
	}
	return func(v T) int64 { return int64(math.Float64bits(float64(v))) }
}

func numberOf[T kernel.Float](t graph.DType) func(int64) T {
	if t == graph.Float32 {
		return func(b int64) T { return T(math.Float32frombits(uint32(b))) }
	}
	return func(b int64) T { return T(math.Float64frombits(uint64(b))) }
}

// wholeOf is the number of an integer type, or bool, with those lowest bits.
func wholeOf(b int64, t graph.DType) int64 {
	if t == graph.Bool {
		return toInt(b&0xff != 0)
	}
	return t.Wrap(b)
}
