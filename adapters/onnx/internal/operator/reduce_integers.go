package operator

import (
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// wholeReduction is a reduction of whole numbers, which wrap around in their type; end
// may be nil.
type wholeReduction struct {
	start   int64
	combine func(s, v int64) int64
	end     func(s int64, n int) int64
}

// wholeReductionOf is how n reduces its input's type; ok is false if it is floating, or
// one that the operator does not take: of bool ReduceMax and ReduceMin take the logical
// sum and product, the others take none.
func wholeReductionOf(n *graph.Node) (r wholeReduction, ok bool) {
	t := n.Inputs[0].Type
	if !t.Integer() {
		switch {
		case t != graph.Bool:
		case n.Op == "ReduceMax":
			return wholeReduction{0, func(s, v int64) int64 { return s | v }, nil}, true
		case n.Op == "ReduceMin":
			return wholeReduction{1, func(s, v int64) int64 { return s & v }, nil}, true
		}
		return wholeReduction{}, false
	}
	least, _ := t.Limits()
	add := func(s, v int64) int64 { return t.Wrap(s + v) }
	switch n.Op {
	case "ReduceSum":
		return wholeReduction{0, add, nil}, true
	case "ReduceMean":
		return wholeReduction{0, add, func(s int64, n int) int64 { return meanOf(t, s, n) }}, true
	case "ReduceProd":
		return wholeReduction{1, func(s, v int64) int64 { return t.Wrap(s * v) }, nil}, true
	case "ReduceMax":
		return wholeReduction{least, joinIntegers("max", t), nil}, true
	case "ReduceMin":
		return wholeReduction{t.Wrap(^least), joinIntegers("min", t), nil}, true
	case "ReduceL1":
		return wholeReduction{0, func(s, v int64) int64 {
			if !t.Unsigned() && v < 0 {
				v = -v
			}
			return t.Wrap(s + v)
		}, nil}, true
	case "ReduceSumSquare":
		return wholeReduction{0, func(s, v int64) int64 { return t.Wrap(s + v*v) }, nil}, true
	case "ReduceL2":
		return wholeReduction{0, func(s, v int64) int64 { return t.Wrap(s + v*v) }, func(s int64, _ int) int64 {
			return graph.Int64.Truncated(math.Sqrt(t.Number(s)))
		}}, true
	}
	return wholeReduction{}, false
}

// meanOf cuts the quotient of a sum and n off; of nothing the mean is 0.
func meanOf(t graph.DType, s int64, n int) int64 {
	switch {
	case n == 0:
		return 0
	case t.Unsigned():
		return int64(uint64(s) / uint64(n))
	}
	return s / int64(n)
}

// reduceIntegers folds whole numbers over the axes of set.
func reduceIntegers[T kernel.Float](n *graph.Node, set []bool) Step[T] {
	r, _ := wholeReductionOf(n)
	end := r.end
	if end == nil {
		end = func(s int64, _ int) int64 { return s }
	}
	return func(x *Exec[T]) error {
		foldAxes(x.Out[0].I, x.In[0].I, x.In[0].Shape, set, r.start, r.combine, end)
		return nil
	}
}

// argIntegers is ArgMax or ArgMin, of the first or the last of equals, of whole numbers.
func argIntegers[T kernel.Float](n *graph.Node, at int, last bool) Step[T] {
	t, least := n.Inputs[0].Type, n.Op == "ArgMin"
	return func(x *Exec[T]) error {
		in := x.In[0]
		size, inner := in.Shape[at], graph.Product(in.Shape[at+1:])
		for o := range x.Out[0].I {
			from, best := o/inner*size*inner+o%inner, 0
			for j := 1; j < size; j++ {
				v, b := t.Order(in.I[from+j*inner]), t.Order(in.I[from+best*inner])
				if least {
					v, b = b, v
				}
				if v > b || last && v == b {
					best = j
				}
			}
			x.Out[0].I[o] = int64(best)
		}
		return nil
	}
}
