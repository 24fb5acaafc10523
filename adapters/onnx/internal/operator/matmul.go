package operator

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// matmulOps are the matrix products.
func matmulOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "MatMul", Is: graph.Arithmetic | graph.Adding | graph.Multiplying, Versions: []int{1, 9, 13}, Min: 2, Max: 2, Outputs: 1, AnyLayout: true, Check: checkMatMul},
			Rule: matMulRule, Compile: compileMatMul[T], Weighs: true, TakesRelu: withBias, TakesSource: productTakesSource},
		{Operator: graph.Operator{Name: "Gemm", Is: graph.Arithmetic | graph.Adding | graph.Multiplying, Versions: []int{7, 9, 11, 13}, Min: 2, Max: 3, Outputs: 1, AnyLayout: true, Check: checkGemm},
			Rule: gemmRule, Compile: compileGemm[T], Weighs: true, TakesRelu: oneProduct, TakesSource: productTakesSource},
	}
}

// matrixShapes gives vectors their second axis and reports what to drop.
func matrixShapes(a, b []int) (ma, mb []int, dropRow, dropCol bool) {
	if len(a) == 1 {
		a, dropRow = []int{1, a[0]}, true
	}
	if len(b) == 1 {
		b, dropCol = []int{b[0], 1}, true
	}
	return a, b, dropRow, dropCol
}

func checkMatMul(c *graph.Check) error {
	if err := c.SameType(); err != nil {
		return err
	}
	if t := c.Inputs[0].Type; t != graph.Int32 && t != graph.Int64 && t != graph.Uint32 && t != graph.Uint64 {
		if err := c.Floating(0); err != nil {
			return err
		}
	}
	out, k, err := productShape(c.Inputs[0].Shape, c.Inputs[1].Shape)
	if err != nil {
		return err
	}
	if err := c.Set(0, c.Inputs[0].Type, out); err != nil {
		return err
	}
	return c.MultiplyAdds(out, k)
}

// productShape is the shape of the product of stacks of matrices, and how many products
// each element sums.
func productShape(as, bs []int) (out []int, k int, err error) {
	if len(as) == 0 || len(bs) == 0 {
		return nil, 0, errors.New("a scalar is not a matrix")
	}
	a, b, dropRow, dropCol := matrixShapes(as, bs)
	m, k, n := a[len(a)-2], a[len(a)-1], b[len(b)-1]
	if err := contraction(k, b[len(b)-2], a, b); err != nil {
		return nil, 0, err
	}
	stack, err := graph.Broadcast(a[:len(a)-2], b[:len(b)-2])
	if err != nil {
		return nil, 0, err
	}
	out = append([]int{}, stack...)
	if !dropRow {
		out = append(out, m)
	}
	if !dropCol {
		out = append(out, n)
	}
	return out, k, nil
}

// contraction checks the axis a product sums over.
func contraction(k, kb int, a, b []int) error {
	if graph.IsRows(k) || graph.IsRows(kb) {
		return fmt.Errorf("mixes rows: it sums over the batch axis (shapes %s and %s)", graph.ShapeText(a), graph.ShapeText(b))
	}
	if k != kb {
		return fmt.Errorf("inner sizes differ: shapes %s and %s", graph.ShapeText(a), graph.ShapeText(b))
	}
	return nil
}

// withBias reports whether a MatMul has a third input, which no file has: a number for each
// column that the engine has found to be added behind it. Its second one is a matrix of
// constants then.
func withBias(n *graph.Node) bool { return len(n.Inputs) > 2 }

// compileLayer is a MatMul with a bias.
func compileLayer[T kernel.Float](n *graph.Node) Step[T] {
	k, cols := n.Inputs[1].Shape[0], n.Inputs[1].Shape[1]
	packed, bias := kernel.Pack(k, cols, Floats[T](n.Inputs[1]), false).SkipZeros(), Floats[T](n.Inputs[2])
	return func(x *Exec[T]) error {
		as := x.In[0].Shape
		x.product(packed, x.In[0].F, graph.Product(as[:len(as)-1]), bias)
		return nil
	}
}

func compileMatMul[T kernel.Float](n *graph.Node) Step[T] {
	if n.Outputs[0].Type.Integer() {
		return compileWholeMatMul[T](n)
	}
	if withBias(n) {
		return compileLayer[T](n)
	}
	_, b, _, _ := matrixShapes(n.Inputs[0].Shape, n.Inputs[1].Shape)
	var packed []*kernel.Weights[T]
	if n.Inputs[1].Const != nil {
		w := Floats[T](n.Inputs[1])
		k, cols := b[len(b)-2], b[len(b)-1]
		for i := range graph.Product(b[:len(b)-2]) {
			packed = append(packed, kernel.Pack(k, cols, w[i*k*cols:], false).SkipZeros())
		}
	}
	return func(x *Exec[T]) error {
		multiply(x.Out[0].F, x.In[0], x.In[1], packed)
		return nil
	}
}

// multiply is out = a b for stacks of matrices; packed are those of b if they are constant.
func multiply[T kernel.Float](out []T, a, b Operand[T], packed []*kernel.Weights[T]) {
	var buf [2]int
	as, bs := a.Shape, b.Shape
	if len(as) == 1 {
		buf[0], buf[1] = 1, as[0]
		as = buf[:]
	}
	cols := 1
	if len(bs) > 1 {
		cols = bs[len(bs)-1]
	}
	rows, k := as[len(as)-2], as[len(as)-1]
	if len(packed) == 1 {
		all := graph.Product(as[:len(as)-1])
		packed[0].Mul(out, cols, a.F, k, all, nil)
		return
	}
	// Stacks of matrices, broadcast over the leading axes.
	var bstack []int
	if len(bs) > 2 {
		bstack = bs[:len(bs)-2]
	}
	var stack [graph.MaxRank]int
	lead := broadcastSizes(stack[:0], as[:len(as)-2], bstack)
	var w walk
	w.plan(lead, as[:len(as)-2], bstack)
	w.each(func(o, i, j, _ int) {
		sa, sb := w.stride[0][0], w.stride[1][0]
		if rows == 1 && packed != nil && sb == 0 && sa == 1 {
			packed[j].Mul(out[o*cols:], cols, a.F[i*k:], k, w.size[0], nil)
			return
		}
		for range w.size[0] {
			c := out[o*rows*cols : (o+1)*rows*cols]
			if packed != nil {
				packed[j].Mul(c, cols, a.F[i*rows*k:], k, rows, nil)
			} else {
				kernel.Gemm(c, a.F[i*rows*k:], b.F[j*k*cols:], rows, cols, k)
			}
			o, i, j = o+1, i+sa, j+sb
		}
	})
}

// compileWholeMatMul multiplies integers of 32 and 64 bits, which wrap.
func compileWholeMatMul[T kernel.Float](n *graph.Node) Step[T] {
	typ := n.Outputs[0].Type
	return func(x *Exec[T]) error {
		a, b, out := x.In[0], x.In[1], x.Out[0].I
		as, bs, _, _ := matrixShapes(a.Shape, b.Shape)
		rows, k, cols := as[len(as)-2], as[len(as)-1], bs[len(bs)-1]
		var stack [graph.MaxRank]int
		var w walk
		w.plan(broadcastSizes(stack[:0], as[:len(as)-2], bs[:len(bs)-2]), as[:len(as)-2], bs[:len(bs)-2])
		w.each(func(o, i, j, _ int) {
			for range w.size[0] {
				for e := range rows * cols {
					left, sum := a.I[(i*rows+e/cols)*k:][:k], int64(0)
					for l, v := range left {
						sum += v * b.I[(j*k+l)*cols+e%cols]
					}
					out[o*rows*cols+e] = typ.Wrap(sum)
				}
				o, i, j = o+1, i+w.stride[0][0], j+w.stride[1][0]
			}
		})
		return nil
	}
}

// broadcastSizes appends the broadcast of two run-time shapes already checked.
func broadcastSizes(dst []int, a, b []int) []int {
	n := max(len(a), len(b))
	for i := range n {
		x, y := 1, 1
		if j := i - n + len(a); j >= 0 {
			x = a[j]
		}
		if j := i - n + len(b); j >= 0 {
			y = b[j]
		}
		if x == 1 {
			x = y
		}
		dst = append(dst, x)
	}
	return dst
}

// yieldProduct links one product of element ia of operand 0 and ib of operand 1.
func yieldProduct(a, b *graph.Value, alpha float64, ia, ib int, yield Link) {
	switch {
	case b.Const != nil:
		yield(0, ia, alpha*b.Const.At(ib))
	case a.Const != nil:
		yield(1, ib, alpha*a.Const.At(ia))
	default:
		yield(0, ia, 1)
		yield(1, ib, 1)
	}
}

func linearProduct(n *graph.Node) bool {
	return n.Outputs[0].Type.Floating() && (n.Inputs[0].Const != nil || n.Inputs[1].Const != nil)
}

// matMulRule multiplies the last two axes and broadcasts the others.
func matMulRule(n *graph.Node) Rule {
	if len(n.Inputs) != 2 || n.Inputs[0] == nil || n.Inputs[1] == nil || len(n.Inputs[0].Shape) == 0 || len(n.Inputs[1].Shape) == 0 {
		return opaque(n)
	}
	a, b := n.Inputs[0], n.Inputs[1]
	da, db := a.RowShape(), b.RowShape()
	if len(da) == 1 {
		da = []int{1, da[0]}
	}
	if len(db) == 1 {
		db = []int{db[0], 1}
	}
	ra, rb := len(da), len(db)
	rows, inner, cols := da[ra-2], da[ra-1], db[rb-1]
	if db[rb-2] != inner {
		return opaque(n)
	}
	stack := broadcastDims(da[:ra-2], db[:rb-2])
	atA, okA := broadcastIndex(da[:ra-2], stack)
	atB, okB := broadcastIndex(db[:rb-2], stack)
	if !okA || !okB || graph.Product(stack)*rows*cols != n.Outputs[0].Width() {
		return opaque(n)
	}
	return Rule{Linear: linearProduct(n), Cost: 2 * inner, Each: func(_, e int, yield Link) {
		s, i, j := e/(rows*cols), e/cols%rows, e%cols
		ia, ib := (atA(s)*rows+i)*inner, atB(s)*inner*cols+j
		for k := range inner {
			yieldProduct(a, b, 1, ia+k, ib+k*cols, yield)
		}
	}}
}

func broadcastDims(a, b []int) []int {
	if len(a) < len(b) {
		a, b = b, a
	}
	d := slices.Clone(a)
	for i, n := range b {
		if j := len(a) - len(b) + i; d[j] == 1 {
			d[j] = n
		}
	}
	return d
}
