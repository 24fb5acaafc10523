package onnx

import (
	"fmt"
	"slices"
)

// A hand-built graph: no file, no checks. Shapes are the test's business.
type handGraph struct{ g *Graph }

func in(name string, shape ...int) *Value { return &Value{Name: name, Type: Float32, Shape: shape} }

func graphOf(inputs ...*Value) *Graph { return newHandGraph(inputs...).g }

func newHandGraph(inputs ...*Value) *handGraph {
	h := &handGraph{g: &Graph{Inputs: inputs, values: map[string]*Value{}}}
	for _, v := range inputs {
		h.g.values[v.Name] = v
	}
	return h
}

// floats is a constant.
func floats(shape []int, v ...float64) *Value {
	if product(shape) != len(v) {
		panic(fmt.Sprint(shape, len(v)))
	}
	return &Value{Name: fmt.Sprintf("const%v%v", shape, v), Type: Float32, Shape: shape, Const: &Tensor{Type: Float32, Shape: shape, F: v}}
}

func ints(v ...int64) *Value {
	shape := []int{len(v)}
	return &Value{Name: fmt.Sprintf("const%v", v), Type: Int64, Shape: shape, Const: &Tensor{Type: Int64, Shape: shape, I: v}}
}

// ramp is a constant of distinct non-zero values.
func ramp(shape ...int) *Value {
	v := make([]float64, product(shape))
	for i := range v {
		v[i] = float64(i%7) - 2.5 + float64(i)/16
	}
	return floats(shape, v...)
}

type attrs map[string]Attr

func (h *handGraph) node(op string, a attrs, shape []int, inputs ...*Value) *Value {
	return h.nodes(op, a, [][]int{shape}, inputs...)[0]
}

func (h *handGraph) nodes(op string, a attrs, shapes [][]int, inputs ...*Value) []*Value {
	if a == nil {
		a = attrs{}
	}
	i := len(h.g.Nodes)
	n := &Node{Index: i, Name: fmt.Sprintf("%s%d", op, i), Op: op, Version: 13, Inputs: inputs, Attrs: a}
	for _, v := range inputs {
		if v != nil {
			h.g.values[v.Name] = v
		}
	}
	for k, s := range shapes {
		v := &Value{Name: fmt.Sprintf("t%d.%d", i, k), Type: Float32, Shape: slices.Clone(s), Producer: n}
		n.Outputs = append(n.Outputs, v)
		h.g.values[v.Name] = v
	}
	h.g.Nodes = append(h.g.Nodes, n)
	return n.Outputs
}

func (h *handGraph) output(name string, v *Value) *Graph {
	delete(h.g.values, v.Name)
	v.Name = name
	h.g.values[name] = v
	h.g.Outputs = append(h.g.Outputs, v)
	return h.g
}

func rows(d ...int) []int { return append([]int{Batch}, d...) }
