package operator

import (
	"errors"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// modOp is the remainder of a division: with fmod the quotient is cut off, as by fmod in
// C, and the remainder has the sign of the dividend; without, it is rounded down, as by %
// in Python, and the remainder has the sign of the divisor.
func modOp[T kernel.Float]() Entry[T] {
	return Entry[T]{
		Operator: graph.Operator{Name: "Mod", Is: graph.Broadcasting | graph.Indexing | graph.Undefined, Versions: []int{10, 13, 28}, Min: 2, Max: 2, Outputs: 1, AnyLayout: true, Check: checkMod},
		Rule:     elementwiseRule, Compile: compileMod[T], InPlace: true, Jumps: true,
	}
}

// checkMod: before opset 28 floating numbers have fmod alone, and runtimes refuse others.
func checkMod(c *graph.Check) error {
	if c.Inputs[0].Type.Floating() && c.Version < 28 && c.AttrInt("fmod", 0) == 0 {
		return errors.New("before opset 28 fmod=0 is for integers: export it again with fmod=1, or with opset 28")
	}
	return checkArithmetic(c, true)
}

func compileMod[T kernel.Float](n *graph.Node) Step[T] {
	cut := n.AttrInt("fmod", 0) != 0
	remainder, whole := floorMod, func(x, y int64) int64 {
		r := x % y
		if r != 0 && (r < 0) != (y < 0) {
			r += y
		}
		return r
	}
	if cut {
		remainder, whole = math.Mod, func(x, y int64) int64 { return x % y }
	}
	typ := n.Outputs[0].Type
	if typ == graph.Uint64 {
		whole = func(x, y int64) int64 { return int64(uint64(x) % uint64(y)) }
	}
	read := asDeclared[T](typ)
	if read == nil {
		read = func(x T) T { return x }
	}
	f := lift(func(x, y T) T { return T(remainder(float64(read(x)), float64(read(y)))) })
	return func(x *Exec[T]) error {
		out, a, b := x.Out[0], x.In[0], x.In[1]
		if !typ.Floating() {
			return divide(out, a, b, whole)
		}
		zip(out.F, out.Shape, a.F, a.Shape, b.F, b.Shape, f)
		return nil
	}
}

// floorMod is x - floor(x/y) y, exactly: with the sign of y also where it is 0, y itself
// if y is infinite and of the other sign than x, and NaN where math.Mod is.
func floorMod(x, y float64) float64 {
	r := math.Mod(x, y)
	switch {
	case r == 0:
		return math.Copysign(0, y)
	case (r < 0) != (y < 0):
		return r + y
	}
	return r
}
