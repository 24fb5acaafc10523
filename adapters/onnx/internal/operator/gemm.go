package operator

import (
	"errors"
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

func checkGemm(c *graph.Check) error {
	if err := errors.Join(c.Floating(0), c.SameType()); err != nil {
		return err
	}
	a, b := c.Inputs[0].Shape, c.Inputs[1].Shape
	if len(a) != 2 || len(b) != 2 {
		return fmt.Errorf("needs two matrices, has shapes %s and %s", graph.ShapeText(a), graph.ShapeText(b))
	}
	m, k := a[0], a[1]
	if c.AttrInt("transA", 0) != 0 {
		m, k = k, m
	}
	kb, n := b[0], b[1]
	if c.AttrInt("transB", 0) != 0 {
		kb, n = n, kb
	}
	if err := contraction(k, kb, a, b); err != nil {
		return err
	}
	out := []int{m, n}
	if c.Has(2) {
		s, err := graph.Broadcast(out, c.Inputs[2].Shape)
		if err != nil {
			return err
		}
		if len(s) != 2 || s[0] != m || s[1] != n {
			return fmt.Errorf("addend C of shape %s does not broadcast to %s", graph.ShapeText(c.Inputs[2].Shape), graph.ShapeText(out))
		}
	}
	if err := c.Set(0, c.Inputs[0].Type, out); err != nil {
		return err
	}
	if c.AttrInt("transA", 0) != 0 || c.AttrInt("transB", 0) != 0 && c.Inputs[1].Const == nil { // transposed operands
		sizeA, _ := graph.Elements(a)
		sizeB, _ := graph.Elements(b)
		c.Resolved = transposed(sizeA + sizeB)
	}
	return c.MultiplyAdds(out, k)
}

// compileGemm is alpha A' B' + beta C. With a constant B and a bias per column,
// which is what nn.Linear exports, it is one product with prepared weights.
func compileGemm[T kernel.Float](n *graph.Node) Step[T] {
	alpha, beta := T(n.AttrFloat("alpha", 1)), T(n.AttrFloat("beta", 1))
	transA, transB := n.AttrInt("transA", 0) != 0, n.AttrInt("transB", 0) != 0
	var packed *kernel.Weights[T]
	if bv := n.Inputs[1]; bv.Const != nil {
		k, cols := bv.Shape[0], bv.Shape[1]
		if transB {
			k, cols = cols, k
		}
		packed = kernel.Pack(k, cols, Floats[T](bv), transB)
		if alpha != 1 {
			packed.Scale(alpha)
		}
	}
	var cv *graph.Value
	if len(n.Inputs) > 2 {
		cv = n.Inputs[2]
	}
	bias, perColumn := columnBias[T](cv, n.Outputs[0].Shape[1], beta)
	if packed != nil {
		packed.SkipZeros()
	}
	if c, column := n.Resolved.(Column); column {
		return timesRow(c, packed, bias)
	}
	scale, addScaled := []T{alpha}, lift(func(s, v T) T { return s + T(beta*v) })
	return func(x *Exec[T]) error {
		a, b, out := x.In[0], x.In[1], x.Out[0]
		rows, cols := out.Shape[0], out.Shape[1]
		k := a.Shape[1]
		af := a.F
		if transA {
			k = a.Shape[0]
		}
		var scratch []T
		if transA || packed == nil && transB {
			scratch = x.temp(rows*k + k*cols)
		}
		if transA {
			af = scratch[:rows*k]
			transposeMatrix(af, a.F, k, rows)
		}
		switch {
		case packed != nil:
			x.product(packed, af, rows, bias)
		default:
			bf := b.F
			if transB {
				bf = scratch[rows*k:]
				transposeMatrix(bf, b.F, cols, k)
			}
			kernel.Gemm(out.F, af, bf, rows, cols, k)
			if alpha != 1 {
				kernel.Mul(out.F, out.F, scale)
			}
			if bias != nil {
				zip(out.F, out.Shape, out.F, out.Shape, bias, out.Shape[1:], kernel.Add[T])
			}
		}
		if cv == nil || perColumn {
			return nil
		}
		c := x.In[2]
		zip(out.F, out.Shape, out.F, out.Shape, c.F, c.Shape, addScaled)
		return nil
	}
}

// columnBias is beta*C as one value per column, if C is constant and the same in
// every row.
func columnBias[T kernel.Float](v *graph.Value, cols int, beta T) (bias []T, ok bool) {
	if v == nil || v.Const == nil || graph.IsRows(cols) {
		return nil, false
	}
	if len(v.Shape) == 2 && v.Shape[0] != 1 {
		return nil, false
	}
	c := Floats[T](v)
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

// oneProduct reports whether a Gemm is one product with prepared weights, which can
// apply a Relu, too.
func oneProduct(n *graph.Node) bool {
	if n.Inputs[1].Const == nil {
		return false
	}
	if len(n.Inputs) < 3 || n.Inputs[2] == nil {
		return true
	}
	_, ok := columnBias[float64](n.Inputs[2], n.Outputs[0].Shape[1], 1)
	return ok
}

// gemmRule: alpha A'B' + beta C.
func gemmRule(n *graph.Node) Rule {
	if len(n.Inputs) < 2 || n.Inputs[0] == nil || n.Inputs[1] == nil || len(n.Inputs[0].Shape) != 2 || len(n.Inputs[1].Shape) != 2 || len(n.Outputs[0].Shape) != 2 {
		return opaque(n)
	}
	a, b := n.Inputs[0], n.Inputs[1]
	da, db, out := a.RowShape(), b.RowShape(), n.Outputs[0].RowShape()
	sai, sak, sbk, sbj := da[1], 1, db[1], 1
	inner, rows, cols := da[1], da[0], db[1]
	if int(n.AttrInt("transA", 0)) != 0 {
		sai, sak, inner, rows = 1, da[1], da[0], da[1]
	}
	if int(n.AttrInt("transB", 0)) != 0 {
		sbk, sbj, cols = 1, db[1], db[0]
	}
	if rows != out[0] || cols != out[1] || graph.Product(db) != inner*cols {
		return opaque(n)
	}
	alpha, beta := n.AttrFloat("alpha", 1), n.AttrFloat("beta", 1)
	var bias func(int) int
	if len(n.Inputs) > 2 && n.Inputs[2] != nil {
		var ok bool
		if bias, ok = broadcastIndex(n.Inputs[2].RowShape(), out); !ok {
			return opaque(n)
		}
	}
	linear := linearProduct(n)
	return Rule{Linear: linear, Cost: 2*inner + 1, Each: func(_, e int, yield Link) {
		i, j := e/cols, e%cols
		for k := range inner {
			yieldProduct(a, b, alpha, i*sai+k*sak, k*sbk+j*sbj, yield)
		}
		if bias != nil {
			yield(2, bias(e), beta)
		}
	}}
}

// transposed is the room, in elements per row, that a Gemm needs to turn its operands.
type transposed int

func (t transposed) Scratch() int { return int(t) }
