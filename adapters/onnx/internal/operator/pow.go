package operator

import (
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/kernel"
)

// powIntegers raises whole numbers: to whole powers exactly, wrapping around in their
// type; to others as real numbers, the result cut off.
func powIntegers[T kernel.Float](n *graph.Node) Step[T] {
	base, _ := integerOf(n.Inputs[0].Type)
	exponent, _ := integerOf(n.Inputs[1].Type)
	typ := n.Inputs[1].Type
	whole := lift(func(x, y int64) int64 {
		if y < 0 && !exponent.unsigned {
			return base.wrap(castInt(math.Pow(base.real(x), float64(y)), graph.Int64))
		}
		return base.power(x, uint64(y))
	})
	return func(x *Exec[T]) error {
		out, a, b := x.Out[0], x.In[0], x.In[1]
		if b.I != nil {
			zip(out.I, out.Shape, a.I, a.Shape, b.I, b.Shape, whole)
			return nil
		}
		var w walk
		w.plan(out.Shape, a.Shape, b.Shape)
		w.each(func(o, i, j, _ int) {
			for k := range w.size[0] {
				v := math.Pow(base.real(a.I[i+k*w.stride[0][0]]), typ.Round(float64(b.F[j+k*w.stride[1][0]])))
				out.I[o+k] = base.wrap(castInt(v, graph.Int64))
			}
		})
		return nil
	}
}

// power is x^n by squaring.
func (i integer) power(x int64, n uint64) int64 {
	p := int64(1)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			p = i.wrap(p * x)
		}
		x = i.wrap(x * x)
	}
	return p
}
