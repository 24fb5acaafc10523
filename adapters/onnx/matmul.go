package onnx

import (
	"errors"
	"fmt"

	"github.com/pho-go/pho/internal/kernel"
)

// matmulOps are the matrix products.
func matmulOps[T kernel.Float](t table[T]) {
	t["MatMul"] = operator[T]{min: 2, max: 2, outputs: 1, infer: inferMatMul, compile: compileMatMul[T]}
	t["Gemm"] = operator[T]{min: 2, max: 3, outputs: 1, infer: inferGemm, compile: compileGemm[T]}
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

func inferMatMul(c *nodeCheck) error {
	if err := errors.Join(c.floating(0), c.same()); err != nil {
		return err
	}
	if len(c.Inputs[0].Shape) == 0 || len(c.Inputs[1].Shape) == 0 {
		return errors.New("a scalar is not a matrix")
	}
	a, b, dropRow, dropCol := matrixShapes(c.Inputs[0].Shape, c.Inputs[1].Shape)
	m, k, n := a[len(a)-2], a[len(a)-1], b[len(b)-1]
	if err := contraction(k, b[len(b)-2], a, b); err != nil {
		return err
	}
	stack, err := broadcast(a[:len(a)-2], b[:len(b)-2])
	if err != nil {
		return err
	}
	out := append([]int{}, stack...)
	if !dropRow {
		out = append(out, m)
	}
	if !dropCol {
		out = append(out, n)
	}
	if err := c.set(0, c.Inputs[0].Type, out); err != nil {
		return err
	}
	return c.multiplyAdds(out, k)
}

// contraction checks the axis a product sums over.
func contraction(k, kb int, a, b []int) error {
	if k == Batch || kb == Batch {
		return fmt.Errorf("mixes rows: it sums over the batch axis (shapes %v and %v)", a, b)
	}
	if k != kb {
		return fmt.Errorf("inner sizes differ: shapes %v and %v", a, b)
	}
	return nil
}

// multiplyAdds accounts for elements of out times k.
func (c *nodeCheck) multiplyAdds(out []int, k int) error {
	size, ok := elements(append([]int{k}, out...))
	if !ok {
		return fmt.Errorf("output shape %v with %d terms each overflows", out, k)
	}
	c.work += int64(size)
	return nil
}

func compileMatMul[T kernel.Float](n *Node) (step[T], error) {
	_, b, _, _ := matrixShapes(n.Inputs[0].Shape, n.Inputs[1].Shape)
	var packed []*kernel.Weights[T]
	if n.Inputs[1].Const != nil {
		w := constF[T](n.Inputs[1])
		k, cols := b[len(b)-2], b[len(b)-1]
		for i := range product(b[:len(b)-2]) {
			packed = append(packed, kernel.Pack(k, cols, w[i*k*cols:], false))
		}
	}
	return func(x *exec[T]) error {
		var buf [2]int
		a, b := x.in[0], x.in[1]
		as, bs := a.shape, b.shape
		if len(as) == 1 {
			buf[0], buf[1] = 1, as[0]
			as = buf[:]
		}
		cols := 1
		if len(bs) > 1 {
			cols = bs[len(bs)-1]
		}
		rows, k := as[len(as)-2], as[len(as)-1]
		out := x.out[0].f
		if len(packed) == 1 {
			all := product(as[:len(as)-1])
			packed[0].Mul(out, cols, a.f, k, all, nil)
			return nil
		}
		// Stacks of matrices, broadcast over the leading axes.
		var bstack []int
		if len(bs) > 2 {
			bstack = bs[:len(bs)-2]
		}
		var stack [maxRank]int
		lead := broadcastSizes(stack[:0], as[:len(as)-2], bstack)
		var w walk
		w.plan(lead, as[:len(as)-2], bstack)
		w.each(func(o, i, j, _ int) {
			sa, sb := w.stride[0][0], w.stride[1][0]
			if rows == 1 && packed != nil && sb == 0 && sa == 1 {
				packed[j].Mul(out[o*cols:], cols, a.f[i*k:], k, w.size[0], nil)
				return
			}
			for range w.size[0] {
				c := out[o*rows*cols : (o+1)*rows*cols]
				if packed != nil {
					packed[j].Mul(c, cols, a.f[i*rows*k:], k, rows, nil)
				} else {
					kernel.Gemm(c, a.f[i*rows*k:], b.f[j*k*cols:], rows, cols, k)
				}
				o, i, j = o+1, i+sa, j+sb
			}
		})
		return nil
	}, nil
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

func inferGemm(c *nodeCheck) error {
	if err := errors.Join(c.floating(0), c.same()); err != nil {
		return err
	}
	a, b := c.Inputs[0].Shape, c.Inputs[1].Shape
	if len(a) != 2 || len(b) != 2 {
		return fmt.Errorf("needs two matrices, has shapes %v and %v", a, b)
	}
	m, k := a[0], a[1]
	if c.attrInt("transA", 0) != 0 {
		m, k = k, m
	}
	kb, n := b[0], b[1]
	if c.attrInt("transB", 0) != 0 {
		kb, n = n, kb
	}
	if err := contraction(k, kb, a, b); err != nil {
		return err
	}
	out := []int{m, n}
	if c.has(2) {
		s, err := broadcast(out, c.Inputs[2].Shape)
		if err != nil {
			return err
		}
		if len(s) != 2 || s[0] != m || s[1] != n {
			return fmt.Errorf("addend C of shape %v does not broadcast to %v", c.Inputs[2].Shape, out)
		}
	}
	if err := c.set(0, c.Inputs[0].Type, out); err != nil {
		return err
	}
	if c.attrInt("transA", 0) != 0 || c.attrInt("transB", 0) != 0 && c.Inputs[1].Const == nil { // transposed operands
		sizeA, _ := elements(a)
		sizeB, _ := elements(b)
		c.Node.temp = sizeA + sizeB
	}
	return c.multiplyAdds(out, k)
}

// compileGemm is alpha A' B' + beta C. With a constant B and a bias per column,
// which is what nn.Linear exports, it is one product with prepared weights.
func compileGemm[T kernel.Float](n *Node) (step[T], error) {
	alpha, beta := T(n.attrFloat("alpha", 1)), T(n.attrFloat("beta", 1))
	transA, transB := n.attrInt("transA", 0) != 0, n.attrInt("transB", 0) != 0
	var packed *kernel.Weights[T]
	if bv := n.Inputs[1]; bv.Const != nil {
		k, cols := bv.Shape[0], bv.Shape[1]
		if transB {
			k, cols = cols, k
		}
		packed = kernel.Pack(k, cols, constF[T](bv), transB)
		if alpha != 1 {
			packed.Scale(alpha)
		}
	}
	var cv *Value
	if len(n.Inputs) > 2 {
		cv = n.Inputs[2]
	}
	bias, perColumn := columnBias[T](cv, n.Outputs[0].Shape[1], beta)
	scale, addScaled := []T{alpha}, lift(func(s, v T) T { return s + T(beta*v) })
	return func(x *exec[T]) error {
		a, b, out := x.in[0], x.in[1], x.out[0]
		rows, cols := out.shape[0], out.shape[1]
		k := a.shape[1]
		af := a.f
		if transA {
			k = a.shape[0]
		}
		var scratch []T
		if transA || packed == nil && transB {
			scratch = x.temp(rows*k + k*cols)
		}
		if transA {
			af = scratch[:rows*k]
			transposeMatrix(af, a.f, k, rows)
		}
		switch {
		case packed != nil && x.relu:
			packed.MulRelu(out.f, cols, af, k, rows, bias)
		case packed != nil:
			packed.Mul(out.f, cols, af, k, rows, bias)
		default:
			bf := b.f
			if transB {
				bf = scratch[rows*k:]
				transposeMatrix(bf, b.f, cols, k)
			}
			kernel.Gemm(out.f, af, bf, rows, cols, k)
			if alpha != 1 {
				kernel.Mul(out.f, out.f, scale)
			}
			if bias != nil {
				zip(out.f, out.shape, out.f, out.shape, bias, out.shape[1:], kernel.Add[T])
			}
		}
		if cv == nil || perColumn {
			return nil
		}
		c := x.in[2]
		zip(out.f, out.shape, out.f, out.shape, c.f, c.shape, addScaled)
		return nil
	}, nil
}

// columnBias is beta*C as one value per column, if C is constant and the same in
// every row.
func columnBias[T kernel.Float](v *Value, cols int, beta T) (bias []T, ok bool) {
	if v == nil || v.Const == nil {
		return nil, false
	}
	if len(v.Shape) == 2 && v.Shape[0] != 1 {
		return nil, false
	}
	c := constF[T](v)
	if len(c) == 0 {
		return nil, false
	}
	bias = make([]T, cols)
	for i := range bias {
		bias[i] = beta * c[min(i, len(c)-1)]
	}
	return bias, true
}

// transposeMatrix sets dst (cols x rows) to the transpose of src (rows x cols).
func transposeMatrix[T any](dst, src []T, rows, cols int) {
	for i := range rows {
		for j := range cols {
			dst[j*rows+i] = src[i*cols+j]
		}
	}
}
