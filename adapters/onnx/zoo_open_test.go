package onnx_test

import (
	"io"
	"slices"

	"github.com/pho-go/pho/adapters/onnx"
)

// openedNetwork is a network that the engine has loaded. TestZoo and TestBackend reach
// the engine through this file, and through NewModel, alone.
type openedNetwork struct {
	graph           *onnx.Graph
	inputs, outputs []openedTensor
}

// openedTensor is an input or output of it.
type openedTensor struct {
	name     string
	shape    []int // onnx.Batch on the batch axis, if it has one
	floating bool
	folded   []float64 // its numbers, where it does not depend on rows
}

// axis is the batch axis, -1 if there is none.
func (t openedTensor) axis() int { return slices.Index(t.shape, onnx.Batch) }

// width is how many numbers a row has.
func (t openedTensor) width() int {
	n := 1
	for _, d := range t.shape {
		if d != onnx.Batch {
			n *= d
		}
	}
	return n
}

func openNetwork(file io.Reader) (*openedNetwork, error) {
	g, err := onnx.Load(file, nil)
	if err != nil {
		return nil, err
	}
	o := &openedNetwork{graph: g}
	for _, v := range g.Inputs {
		o.inputs = append(o.inputs, describeValue(v))
	}
	for _, v := range g.Outputs {
		o.outputs = append(o.outputs, describeValue(v))
	}
	return o, nil
}

func describeValue(v *onnx.Value) openedTensor {
	t := openedTensor{name: v.Name, shape: v.Shape, floating: v.Type.Floating()}
	if v.Const != nil {
		t.folded = slices.Clone(v.Const.F)
		for _, i := range v.Const.I {
			t.folded = append(t.folded, float64(i))
		}
	}
	return t
}

// run computes the wanted tensors on rows; inputs are in the order of o.inputs, rows
// first, and so is what comes back.
func (o *openedNetwork) run(wanted []openedTensor, inputs [][]float64, rows int) (got [][]float64, refusal error) {
	var values []*onnx.Value
	for _, t := range wanted {
		v, _ := o.graph.Value(t.name)
		values = append(values, v)
		got = append(got, make([]float64, rows*t.width()))
	}
	r, err := onnx.NewRunner(o.graph, values, onnx.RunOptions{})
	if err != nil {
		return nil, err
	}
	return got, r.Run(got, inputs, rows)
}
