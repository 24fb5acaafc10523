package operator

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// constantOps make tensors out of attributes and sizes.
func constantOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Constant", Texts: true, Versions: []int{1, 9, 11, 12, 13, 19, 21, 23, 24, 25}, Min: 0, Max: 0, Outputs: 1, Check: checkConstant},
			Rule: opaque, Compile: compileConstant[T]},
		{Operator: graph.Operator{Name: "ConstantOfShape", Is: graph.Indexing | graph.Sizing, Versions: []int{9, 20, 21, 23, 24, 25}, Min: 1, Max: 1, Outputs: 1, AnyLayout: true, Check: checkConstantOfShape, SizeInputs: []int{0}},
			Rule: opaque, Compile: compileConstantOfShape[T]},
		{Operator: graph.Operator{Name: "Range", Versions: []int{11, 27}, Min: 3, Max: 3, Outputs: 1, Check: checkRange},
			Rule: opaque, Compile: compileRange[T]},
		{Operator: graph.Operator{Name: "OneHot", Is: graph.Indicating, Versions: []int{9, 11, 28}, Min: 3, Max: 3, Outputs: 1, AnyLayout: true, Check: checkOneHot},
			Rule: oneHotRule, Compile: compileOneHot[T], Jumps: true},
	}
}

// constantOf reads the value of a Constant node in any of its forms.
func constantOf(n *graph.Node) (*graph.Tensor, error) {
	for _, name := range []string{"value", "value_float", "value_int", "value_floats", "value_ints", "value_string", "value_strings", "sparse_value"} {
		a, ok := n.Attrs[name]
		if !ok {
			continue
		}
		switch name {
		case "value", "sparse_value":
			if a.Tensor == nil {
				return nil, fmt.Errorf("attribute \"value\" holds no tensor")
			}
			return a.Tensor, nil
		case "value_float":
			return &graph.Tensor{Type: graph.Float32, Shape: []int{}, F: []float64{a.Float}}, nil
		case "value_int":
			return &graph.Tensor{Type: graph.Int64, Shape: []int{}, I: []int64{a.Int}}, nil
		case "value_floats":
			return &graph.Tensor{Type: graph.Float32, Shape: []int{len(a.Floats)}, F: a.Floats}, nil
		case "value_ints":
			return &graph.Tensor{Type: graph.Int64, Shape: []int{len(a.Ints)}, I: a.Ints}, nil
		case "value_string":
			return textTensor(n, []int{}, a.String)
		case "value_strings":
			return textTensor(n, []int{len(a.Strings)}, a.Strings...)
		}
	}
	return nil, fmt.Errorf("has no value of a supported type")
}

func textTensor(n *graph.Node, shape []int, texts ...string) (*graph.Tensor, error) {
	t := &graph.Tensor{Type: graph.String, Shape: shape, I: make([]int64, len(texts))}
	for i, s := range texts {
		var err error
		if t.I[i], err = n.Texts.Number(s); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func checkConstant(c *graph.Check) error {
	v, err := constantOf(c.Node)
	if err != nil {
		return err
	}
	c.Resolved = v
	return c.Set(0, v.Type, v.Shape)
}

func compileConstant[T kernel.Float](n *graph.Node) Step[T] {
	v := n.Resolved.(*graph.Tensor)
	return func(x *Exec[T]) error {
		for i, f := range v.F {
			x.Out[0].F[i] = T(f)
		}
		copy(x.Out[0].I, v.I)
		return nil
	}
}

func checkConstantOfShape(c *graph.Check) error {
	shape, err := targetShape(c, 0, nil)
	if err != nil {
		return err
	}
	t := graph.Float32
	if v := c.Attrs["value"].Tensor; v != nil {
		if len(v.F)+len(v.I) != 1 {
			return fmt.Errorf("attribute \"value\" must hold one element, has shape %v", v.Shape)
		}
		t = v.Type
	}
	return c.Set(0, t, shape)
}

func compileConstantOfShape[T kernel.Float](n *graph.Node) Step[T] {
	var f T
	var k int64
	if v := n.Attrs["value"].Tensor; v != nil {
		if len(v.F) > 0 {
			f = T(v.F[0])
		} else {
			k = v.I[0]
		}
	}
	return func(x *Exec[T]) error {
		for i := range x.Out[0].F {
			x.Out[0].F[i] = f
		}
		for i := range x.Out[0].I {
			x.Out[0].I[i] = k
		}
		return nil
	}
}

// rangeOf reads start, limit and step and counts the values.
func rangeOf(n *graph.Node) (start, step float64, count int, err error) {
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

// progression is start, start + step, ...
type progression struct{ start, step float64 }

func checkRange(c *graph.Check) error {
	start, step, n, err := rangeOf(c.Node)
	if err != nil {
		return err
	}
	c.Resolved = progression{start, step}
	return c.Set(0, c.Inputs[0].Type, []int{n})
}

func compileRange[T kernel.Float](n *graph.Node) Step[T] {
	p := n.Resolved.(progression)
	return func(x *Exec[T]) error {
		for i := range x.Out[0].F {
			x.Out[0].F[i] = T(p.start + float64(i)*p.step)
		}
		for i := range x.Out[0].I {
			x.Out[0].I[i] = int64(p.start) + int64(i)*int64(p.step)
		}
		return nil
	}
}

func checkOneHot(c *graph.Check) error {
	depth := c.Inputs[1].Const
	if depth == nil || len(depth.F)+len(depth.I) != 1 {
		return fmt.Errorf("depth (%q) must be a constant scalar", c.Inputs[1].Name)
	}
	d := graph.Int64.Truncated(append(append([]float64{}, depth.F...), toFloats(depth.I)...)[0])
	if d < 1 || d > 1<<40 {
		return fmt.Errorf("impossible depth %d", d)
	}
	if v := c.Inputs[2]; len(v.Shape) != 1 || v.Shape[0] != 2 {
		return fmt.Errorf("values (%q) must be two, have shape %v", v.Name, v.Shape)
	}
	in := c.Inputs[0].Shape
	at, err := graph.Axis(c.AttrInt("axis", -1), len(in)+1)
	if err != nil {
		return err
	}
	c.Resolved = at
	out := append([]int{}, in[:at]...)
	return c.Set(0, c.Inputs[2].Type, append(append(out, int(d)), in[at:]...))
}

func toFloats(v []int64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

func compileOneHot[T kernel.Float](n *graph.Node) Step[T] {
	at := n.Resolved.(int)
	typ := n.Inputs[0].Type
	return func(x *Exec[T]) error {
		in, values, out := x.In[0], x.In[2], x.Out[0]
		depth := out.Shape[at]
		inner := graph.Product(out.Shape[at+1:])
		for i := range graph.Product(in.Shape) {
			var k int64
			if in.F != nil {
				k = graph.Int64.Truncated(typ.Round(float64(in.F[i])))
			} else {
				k = in.I[i]
			}
			if k < 0 {
				k += int64(depth)
			}
			for d := range depth {
				o := (i/inner*depth+d)*inner + i%inner
				on := int(toInt(int64(d) == k))
				if out.F != nil {
					out.F[o] = values.F[on]
				} else {
					out.I[o] = values.I[on]
				}
			}
		}
		return nil
	}
}

// oneHotRule: the positions along the new axis depend on one index.
func oneHotRule(n *graph.Node) Rule {
	out := n.Outputs[0].RowShape()
	axis, ok := normalAxis(int(n.AttrInt("axis", -1)), len(out))
	if !ok || len(n.Inputs) != 3 || n.Inputs[0].Width()*out[axis] != graph.Product(out) || n.Inputs[2] == nil || n.Inputs[2].Const == nil {
		return opaque(n)
	}
	inner := graph.Product(out[axis+1:])
	return Rule{Cost: 1, Each: func(_, e int, yield Link) {
		yield(0, e/(inner*out[axis])*inner+e%inner, 1)
	}}
}
