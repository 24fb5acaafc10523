package onnx_test

import (
	"bytes"
	"io"
	"io/fs"
	"slices"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// openedNetwork is a network that the engine has loaded. TestZoo and TestBackend reach
// the engine through this file, and through NewModel, alone.
type openedNetwork struct {
	graph           *onnx.Graph
	inputs, outputs []openedTensor
	notes           []string // on outputs that were left out
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

// openNetwork loads a file: as users do, and as the package itself, since folded outputs
// are nothing that users see.
// folder holds data beside the file; nil: there is none. constants are values of inputs that
// the file has none for.
func openNetwork(file io.Reader, folder fs.FS, constants map[string][]float64) (*openedNetwork, error) {
	b, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	g, err := onnx.Load(bytes.NewReader(b), &onnx.LoadOptions{External: folder, Constants: constants})
	if err != nil {
		return nil, err
	}
	inside, err := graph.ReadExternal(b, func(location string) ([]byte, error) { return fs.ReadFile(folder, location) }, graph.Limits{Constants: constants}, operator.NewFloat64())
	if err != nil {
		return nil, err
	}
	o := &openedNetwork{graph: g, notes: inside.Notes}
	for _, v := range inside.Inputs {
		o.inputs = append(o.inputs, describeValue(v))
	}
	for _, v := range inside.Outputs {
		o.outputs = append(o.outputs, describeValue(v))
	}
	return o, nil
}

func describeValue(v *graph.Value) openedTensor {
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
	var names []string
	for _, t := range wanted {
		names = append(names, t.name)
		got = append(got, make([]float64, rows*t.width()))
	}
	e, err := onnx.GoEngine{}.Prepare(o.graph, names)
	if err != nil {
		return nil, err
	}
	return got, e.Run(got, inputs, rows)
}
