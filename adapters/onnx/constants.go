package onnx

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/internal/kernel"
)

// constantOps make tensors out of attributes and sizes.
func constantOps[T kernel.Float](t table[T]) {
	t["Constant"] = operator[T]{min: 0, max: 0, outputs: 1, infer: inferConstant, compile: compileConstant[T]}
	t["ConstantOfShape"] = operator[T]{min: 1, max: 1, outputs: 1, shapes: []int{0}, infer: inferConstantOfShape, compile: compileConstantOfShape[T]}
	t["Range"] = operator[T]{min: 3, max: 3, outputs: 1, infer: inferRange, compile: compileRange[T]}
	t["OneHot"] = operator[T]{min: 3, max: 3, outputs: 1, infer: inferOneHot, compile: compileOneHot[T]}
}

// constantOf reads the value of a Constant node in any of its forms.
func constantOf(n *Node) (*Tensor, error) {
	for _, name := range []string{"value", "value_float", "value_int", "value_floats", "value_ints"} {
		a, ok := n.Attrs[name]
		if !ok {
			continue
		}
		switch name {
		case "value":
			if a.Tensor == nil {
				return nil, fmt.Errorf("attribute \"value\" holds no tensor")
			}
			return a.Tensor, nil
		case "value_float":
			return &Tensor{Type: Float32, Shape: []int{}, F: []float64{a.Float}}, nil
		case "value_int":
			return &Tensor{Type: Int64, Shape: []int{}, I: []int64{a.Int}}, nil
		case "value_floats":
			return &Tensor{Type: Float32, Shape: []int{len(a.Floats)}, F: a.Floats}, nil
		case "value_ints":
			return &Tensor{Type: Int64, Shape: []int{len(a.Ints)}, I: a.Ints}, nil
		}
	}
	return nil, fmt.Errorf("has no value of a supported type")
}

func inferConstant(c *nodeCheck) error {
	v, err := constantOf(c.Node)
	if err != nil {
		return err
	}
	return c.set(0, v.Type, v.Shape)
}

func compileConstant[T kernel.Float](n *Node) (step[T], error) {
	v, err := constantOf(n)
	return func(x *exec[T]) error {
		for i, f := range v.F {
			x.out[0].f[i] = T(f)
		}
		copy(x.out[0].i, v.I)
		return nil
	}, err
}

func inferConstantOfShape(c *nodeCheck) error {
	shape, err := c.targetShape(0)
	if err != nil {
		return err
	}
	t := Float32
	if v := c.Attrs["value"].Tensor; v != nil {
		if len(v.F)+len(v.I) != 1 {
			return fmt.Errorf("attribute \"value\" must hold one element, has shape %v", v.Shape)
		}
		t = v.Type
	}
	return c.set(0, t, shape)
}

func compileConstantOfShape[T kernel.Float](n *Node) (step[T], error) {
	var f T
	var k int64
	if v := n.Attrs["value"].Tensor; v != nil {
		if len(v.F) > 0 {
			f = T(v.F[0])
		} else {
			k = v.I[0]
		}
	}
	return func(x *exec[T]) error {
		for i := range x.out[0].f {
			x.out[0].f[i] = f
		}
		for i := range x.out[0].i {
			x.out[0].i[i] = k
		}
		return nil
	}, nil
}

// rangeOf reads start, limit and step and counts the values.
func rangeOf(n *Node) (start, step float64, count int, err error) {
	var v [3]float64
	for i, in := range n.Inputs {
		t := in.Const
		switch {
		case t == nil:
			return 0, 0, 0, fmt.Errorf("input %d (%q) must be a constant", i, in.Name)
		case len(t.F)+len(t.I) != 1 || in.Type != n.Inputs[0].Type:
			return 0, 0, 0, fmt.Errorf("input %d (%q) must be a scalar of type %s", i, in.Name, n.Inputs[0].Type)
		case t.F != nil:
			v[i] = t.F[0]
		default:
			v[i] = float64(t.I[0])
		}
	}
	c := math.Ceil((v[1] - v[0]) / v[2])
	if math.IsNaN(c) || c > math.MaxInt32*1024 {
		return 0, 0, 0, fmt.Errorf("counts from %g to %g by %g", v[0], v[1], v[2])
	}
	return v[0], v[2], int(max(c, 0)), nil
}

func inferRange(c *nodeCheck) error {
	_, _, n, err := rangeOf(c.Node)
	if err != nil {
		return err
	}
	return c.set(0, c.Inputs[0].Type, []int{n})
}

func compileRange[T kernel.Float](n *Node) (step[T], error) {
	start, by, _, err := rangeOf(n)
	return func(x *exec[T]) error {
		for i := range x.out[0].f {
			x.out[0].f[i] = T(start + float64(i)*by)
		}
		for i := range x.out[0].i {
			x.out[0].i[i] = int64(start) + int64(i)*int64(by)
		}
		return nil
	}, err
}

func inferOneHot(c *nodeCheck) error {
	depth := c.Inputs[1].Const
	if depth == nil || len(depth.F)+len(depth.I) != 1 {
		return fmt.Errorf("depth (%q) must be a constant scalar", c.Inputs[1].Name)
	}
	d := castInt(append(append([]float64{}, depth.F...), toFloats(depth.I)...)[0], Int64)
	if d < 1 || d > 1<<40 {
		return fmt.Errorf("impossible depth %d", d)
	}
	if v := c.Inputs[2]; len(v.Shape) != 1 || v.Shape[0] != 2 {
		return fmt.Errorf("values (%q) must be two, have shape %v", v.Name, v.Shape)
	}
	in := c.Inputs[0].Shape
	at, err := axis(c.attrInt("axis", -1), len(in)+1)
	if err != nil {
		return err
	}
	out := append([]int{}, in[:at]...)
	return c.set(0, c.Inputs[2].Type, append(append(out, int(d)), in[at:]...))
}

func toFloats(v []int64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

func compileOneHot[T kernel.Float](n *Node) (step[T], error) {
	at, err := axis(n.attrInt("axis", -1), len(n.Inputs[0].Shape)+1)
	typ := n.Inputs[0].Type
	return func(x *exec[T]) error {
		in, values, out := x.in[0], x.in[2], x.out[0]
		depth := out.shape[at]
		inner := product(out.shape[at+1:])
		for i := range product(in.shape) {
			var k int64
			if in.f != nil {
				k = castInt(typ.round(float64(in.f[i])), Int64)
			} else {
				k = in.i[i]
			}
			if k < 0 {
				k += int64(depth)
			}
			for d := range depth {
				o := (i/inner*depth+d)*inner + i%inner
				on := int(toInt(int64(d) == k))
				if out.f != nil {
					out.f[o] = values.f[on]
				} else {
					out.i[o] = values.i[on]
				}
			}
		}
		return nil
	}, err
}
