package operator

import (
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/kernel"
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
	k, ok := integerOf(n.Inputs[0].Type)
	if !ok {
		switch {
		case n.Inputs[0].Type != graph.Bool:
		case n.Op == "ReduceMax":
			return wholeReduction{0, func(s, v int64) int64 { return s | v }, nil}, true
		case n.Op == "ReduceMin":
			return wholeReduction{1, func(s, v int64) int64 { return s & v }, nil}, true
		}
		return wholeReduction{}, false
	}
	add := func(s, v int64) int64 { return k.wrap(s + v) }
	switch n.Op {
	case "ReduceSum":
		return wholeReduction{0, add, nil}, true
	case "ReduceMean":
		return wholeReduction{0, add, k.divide}, true
	case "ReduceProd":
		return wholeReduction{1, func(s, v int64) int64 { return k.wrap(s * v) }, nil}, true
	case "ReduceMax":
		return wholeReduction{k.least(), joinIntegers("max", n.Inputs[0].Type), nil}, true
	case "ReduceMin":
		return wholeReduction{k.most(), joinIntegers("min", n.Inputs[0].Type), nil}, true
	case "ReduceL1":
		return wholeReduction{0, func(s, v int64) int64 {
			if !k.unsigned && v < 0 {
				v = -v
			}
			return k.wrap(s + v)
		}, nil}, true
	case "ReduceSumSquare":
		return wholeReduction{0, func(s, v int64) int64 { return k.wrap(s + v*v) }, nil}, true
	case "ReduceL2":
		return wholeReduction{0, func(s, v int64) int64 { return k.wrap(s + v*v) }, func(s int64, _ int) int64 {
			return castInt(math.Sqrt(k.real(s)), graph.Int64)
		}}, true
	}
	return wholeReduction{}, false
}

// divide cuts the quotient off; of nothing the mean is 0.
func (i integer) divide(s int64, n int) int64 {
	switch {
	case n == 0:
		return 0
	case i.unsigned:
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
	k, _ := integerOf(n.Inputs[0].Type)
	least := n.Op == "ArgMin"
	return func(x *Exec[T]) error {
		in := x.In[0]
		size, inner := in.Shape[at], graph.Product(in.Shape[at+1:])
		for o := range x.Out[0].I {
			from, best := o/inner*size*inner+o%inner, 0
			for j := 1; j < size; j++ {
				v, b := k.key(in.I[from+j*inner]), k.key(in.I[from+best*inner])
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
