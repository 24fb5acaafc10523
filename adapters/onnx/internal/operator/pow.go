package operator

import (
	"errors"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// powOp is the power x^y, of x's type; the exponent's may be another.
func powOp[T kernel.Float]() Entry[T] {
	return Entry[T]{
		Operator: graph.Operator{Name: "Pow", Is: graph.Broadcasting | graph.Undefined, Versions: []int{7, 12, 13, 15}, Min: 2, Max: 2, Outputs: 1, AnyLayout: true, Check: checkPow},
		Rule:     elementwiseRule, Compile: compilePow[T],
	}
}

func checkPow(c *graph.Check) error {
	number := func(t graph.DType) bool { return t.Floating() || t.Integer() }
	if !number(c.Inputs[0].Type) || !number(c.Inputs[1].Type) {
		return errors.New("base and exponent must be numbers")
	}
	shape, err := graph.Broadcast(c.Inputs[0].Shape, c.Inputs[1].Shape)
	if err != nil {
		return err
	}
	return c.Set(0, c.Inputs[0].Type, shape)
}

// compilePow: the usual constant exponents are products.
func compilePow[T kernel.Float](n *graph.Node) Step[T] {
	base, exponent := n.Inputs[0].Type, n.Inputs[1].Type
	if base.Integer() {
		return compileIntegerPow[T](base, exponent)
	}
	pow := lift(func(x, y T) T {
		switch y {
		case 1:
			return x
		case 2:
			return x * x
		case 3:
			return x * x * x
		}
		return T(math.Pow(float64(x), float64(y)))
	})
	return func(x *Exec[T]) error {
		out, a, b := x.Out[0], x.In[0], x.In[1]
		e := b.F
		if b.I != nil {
			e = x.temp(len(b.I))
			for i, v := range b.I {
				e[i] = T(exponent.Number(v))
			}
		}
		zip(out.F, out.Shape, a.F, a.Shape, e, b.Shape, pow)
		return nil
	}
}

// compileIntegerPow: a power of an integer has the integer's type. Where it is no whole
// number, or the exponent is none, it is cut off.
func compileIntegerPow[T kernel.Float](base, exponent graph.DType) Step[T] {
	if exponent.Integer() {
		pow := lift(func(x, y int64) int64 {
			if exponent != graph.Uint64 && y < 0 {
				return base.Truncated(math.Pow(base.Number(x), float64(y)))
			}
			return base.Wrap(wholePower(x, uint64(y)))
		})
		return func(x *Exec[T]) error {
			out, a, b := x.Out[0], x.In[0], x.In[1]
			zip(out.I, out.Shape, a.I, a.Shape, b.I, b.Shape, pow)
			return nil
		}
	}
	read := asDeclared[T](exponent)
	if read == nil {
		read = func(y T) T { return y }
	}
	return func(x *Exec[T]) error {
		out, a, b := x.Out[0], x.In[0], x.In[1]
		var w walk
		w.plan(out.Shape, a.Shape, b.Shape)
		w.each(func(o, i, j, _ int) {
			for range w.size[0] {
				out.I[o] = base.Truncated(math.Pow(base.Number(a.I[i]), float64(read(b.F[j]))))
				o, i, j = o+1, i+w.stride[0][0], j+w.stride[1][0]
			}
		})
		return nil
	}
}

// wholePower is x^n with the low 64 bits.
func wholePower(x int64, n uint64) int64 {
	p := int64(1)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			p *= x
		}
		x *= x
	}
	return p
}
