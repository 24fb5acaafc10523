package operator

import (
	"errors"
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/kernel"
)

// dynamicOps quantise by the range of what they are given. The standard takes the range
// of the whole tensor, so that a row's result would hang on the other rows. Here it is
// that of the row, as in any runtime that is fed one row at a time: scale and zero point
// are a number for each row.
func dynamicOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "DynamicQuantizeLinear", Versions: []int{11}, Min: 1, Max: 1, Outputs: 3, Check: checkDynamicQuantize},
			Rule: opaque, Compile: compileDynamicQuantize[T], Jumps: true, ByRow: "quantises each row by its own range"},
	}
}

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
		if each[i] = 1; d == graph.Batch {
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

func compileDynamicQuantize[T kernel.Float](n *graph.Node) Step[T] {
	axis := max(n.Inputs[0].BatchAxis(), 0)
	byRow := n.Inputs[0].BatchAxis() >= 0
	r := rounder{from: graph.Float32, precision: graph.Float32}
	r.to(graph.Uint8)
	return func(x *Exec[T]) error {
		in := x.In[0]
		outer, rows, inner := 1, 1, len(in.F)
		if byRow {
			outer, rows, inner = graph.Product(in.Shape[:axis]), in.Shape[axis], graph.Product(in.Shape[axis+1:])
		}
		for row := range rows {
			lo, hi := float32(0), float32(0)
			for o := range outer {
				for _, v := range in.F[(o*rows+row)*inner:][:inner] {
					lo, hi = min(lo, float32(v)), max(hi, float32(v))
				}
			}
			scale, zero := dynamicRange(lo, hi)
			for o := range outer {
				from := (o*rows + row) * inner
				quantizeRun(&r, x.Out[0].I, in, from, from+inner, scale, zero)
			}
			if len(x.Out) > 1 && x.Out[1].F != nil {
				x.Out[1].F[row] = T(scale)
			}
			if len(x.Out) > 2 && x.Out[2].I != nil {
				x.Out[2].I[row] = zero
			}
		}
		return nil
	}
}

// dynamicRange is scale and zero point of numbers from lo <= 0 to hi >= 0 as bytes.
func dynamicRange(lo, hi float32) (scale float32, zero int64) {
	scale = 1
	if hi != lo {
		scale = (hi - lo) / 255
	}
	return scale, int64(math.RoundToEven(float64(min(max(-lo/scale, 0), 255))))
}
