package operator

import (
	"errors"
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// dynamicOps quantise by the range of what they are given. The standard takes the range
// of the whole tensor, so that a row's result would hang on the other rows. Here it is
// that of the row, as in any runtime that is fed one row at a time: scale and zero point
// are a number for each row.
func dynamicOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "DynamicQuantizeLinear", Versions: []int{11}, Min: 1, Max: 1, Outputs: 3, Check: checkDynamicQuantize},
			Rule: opaque, Compile: compileDynamicQuantize[T], Jumps: true, ByRow: byRow},
		{Operator: graph.Operator{Domain: "com.microsoft", Name: "DynamicQuantizeMatMul", Versions: []int{1}, Min: 3, Max: 5, Outputs: 1, Check: checkDynamicMatMul},
			Rule: opaque, Compile: compileDynamicMatMul[T], Jumps: true, ByRow: byRow},
	}
}

const byRow = "quantises each row by its own range"

func checkDynamicQuantize(c *graph.Check) error {
	in := c.Inputs[0]
	if in.Type != graph.Float32 {
		return fmt.Errorf("input 0 (%q) must be float, is %s", in.Name, in.Type)
	}
	if in.BatchAxis() >= 0 && (c.IsOutput(1) || c.IsOutput(2)) {
		return errors.New("mixes rows: scale and zero point are outputs of the network, and are those of all rows together; take them from the outputs, or quantise statically")
	}
	each := make([]int, len(in.Shape)) // one number for each row, which broadcasts to the input
	for i, d := range in.Shape {
		if each[i] = 1; graph.IsRows(d) {
			each[i] = d
		}
	}
	if in.BatchAxis() < 0 {
		each = []int{}
	}
	if err := c.Set(0, graph.Uint8, in.Shape); err != nil {
		return err
	}
	if err := c.Set(1, graph.Float32, each); err != nil {
		return err
	}
	return c.Set(2, graph.Uint8, each)
}

// eachRow calls f for every row of a tensor of that shape, with the runs of elements that
// are the row's: outer ones of inner elements, stride apart, from the first on. axis < 0:
// all is one row.
func eachRow(shape []int, axis int, f func(row, first, outer, stride, inner int)) {
	if axis < 0 {
		f(0, 0, 1, 0, graph.Product(shape))
		return
	}
	outer, rows, inner := graph.Product(shape[:axis]), shape[axis], graph.Product(shape[axis+1:])
	for row := range rows {
		f(row, row*inner, outer, rows*inner, inner)
	}
}

// rowRange is scale and zero point of the runs of a row.
func rowRange[T kernel.Float](x []T, first, outer, stride, inner int) (scale float32, zero int64) {
	lo, hi := float32(0), float32(0)
	for o := range outer {
		for _, v := range x[first+o*stride:][:inner] {
			lo, hi = min(lo, float32(v)), max(hi, float32(v))
		}
	}
	return dynamicRange(lo, hi)
}

func compileDynamicQuantize[T kernel.Float](n *graph.Node) Step[T] {
	axis := n.Inputs[0].BatchAxis()
	r := rounder{from: graph.Float32, precision: graph.Float32}
	r.to(graph.Uint8)
	return func(x *Exec[T]) error {
		in := x.In[0]
		eachRow(in.Shape, axis, func(row, first, outer, stride, inner int) {
			scale, zero := rowRange(in.F, first, outer, stride, inner)
			for o := range outer {
				quantizeRun(&r, x.Out[0].I, in, first+o*stride, first+o*stride+inner, scale, zero)
			}
			if len(x.Out) > 1 && x.Out[1].F != nil {
				x.Out[1].F[row] = T(scale)
			}
			if len(x.Out) > 2 && x.Out[2].I != nil {
				x.Out[2].I[row] = zero
			}
		})
		return nil
	}
}

// checkDynamicMatMul: ONNX Runtime's optimiser writes the product of a matrix quantised
// dynamically and of constant bytes, with a bias, as one node.
func checkDynamicMatMul(c *graph.Check) error {
	a, b := c.Inputs[0], c.Inputs[1]
	if a.Type != graph.Float32 || !isByte(b.Type) {
		return fmt.Errorf("the factors must be float and int8 or uint8, are %s and %s", a.Type, b.Type)
	}
	shape, k, err := productShape(a.Shape, b.Shape)
	if err != nil {
		return err
	}
	p := &integerProduct{b: 1, scaleB: 2, zeroB: 3, bias: 4, columns: b.Shape[len(b.Shape)-1]}
	for i := range c.Inputs[1:] {
		if v := c.Inputs[1+i]; v != nil && v.Const == nil {
			return fmt.Errorf("input %d (%q) must be a constant", 1+i, v.Name)
		}
	}
	if !c.Has(3) {
		p.zeroB = 0
	}
	if !c.Has(4) {
		p.bias = 0
	}
	if p.shapeZeroB, err = zeroPoints(c, p.zeroB, b, len(b.Shape)-1); err != nil {
		return err
	}
	for _, i := range []int{p.scaleB, p.bias} {
		if v := c.Inputs[i]; i != 0 && (v.Type != graph.Float32 || v.Width() != 1 && (len(v.Shape) != 1 || v.Shape[0] != p.columns)) {
			return fmt.Errorf("input %d (%q) must be one float, or one for each of %d columns, is %s %s", i, v.Name, p.columns, v.Type, graph.ShapeText(v.Shape))
		}
	}
	if len(b.Shape) < 2 {
		return fmt.Errorf("weights of shape %s are not a matrix", graph.ShapeText(b.Shape))
	}
	p.widthA, p.width = a.Width(), 1 // and the scale of the row
	c.Resolved = p
	if err := c.Set(0, graph.Float32, shape); err != nil {
		return err
	}
	return c.MultiplyAdds(shape, k)
}

func compileDynamicMatMul[T kernel.Float](n *graph.Node) Step[T] {
	p := n.Resolved.(*integerProduct)
	packed, shapeB := packIntegers(constantFactor[T](n, p), n.Inputs[p.b].Shape, p.transB)
	scaleB, bias := Floats[T](n.Inputs[p.scaleB]), []T{0}
	if p.bias != 0 {
		bias = Floats[T](n.Inputs[p.bias])
	}
	from, to := n.Inputs[0].BatchAxis(), n.Outputs[0].BatchAxis()
	var r rounder
	r.to(graph.Uint8)
	return func(x *Exec[T]) error {
		a, out := x.In[0], x.Out[0]
		buf := x.temp(len(a.F) + x.Rows)
		left, scales := buf[:len(a.F)], buf[len(a.F):]
		eachRow(a.Shape, from, func(row, first, outer, stride, inner int) {
			scale, zero := rowRange(a.F, first, outer, stride, inner)
			scales[row] = T(scale)
			for o := range outer {
				at := first + o*stride
				for i, v := range a.F[at : at+inner] {
					left[at+i] = T(r.integer(float32(v)/scale, zero) - zero)
				}
			}
		})
		multiply(out.F, Operand[T]{Shape: a.Shape, F: left}, Operand[T]{Shape: shapeB}, packed)
		eachRow(out.Shape, to, func(row, first, outer, stride, inner int) {
			for o := range outer {
				for i := first + o*stride; i < first+o*stride+inner; i++ {
					column := i % p.columns
					out.F[i] = out.F[i]*(scales[row]*scaleB[min(column, len(scaleB)-1)]) + bias[min(column, len(bias)-1)]
				}
			}
		})
		return nil
	}
}

// dynamicRange is scale and zero point of numbers from lo <= 0 to hi >= 0 as bytes.
func dynamicRange(lo, hi float32) (scale float32, zero int64) {
	scale = 1
	if hi != lo {
		scale = (hi - lo) / 255
	}
	if scale != scale { // NaN, of a number that is none
		return scale, 0
	}
	return scale, int64(math.RoundToEven(float64(min(max(-lo/scale, 0), 255))))
}
