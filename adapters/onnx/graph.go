package onnx

import (
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// Graph is a network that Load has read and checked. It is immutable and safe for
// concurrent use.
type Graph struct {
	g    *graph.Graph
	file []byte
}

// Batch marks the batch axis in a Tensor's Shape: its size is the number of rows.
const Batch = -1

// Tensor describes a tensor of a network that depends on rows.
type Tensor struct {
	Name  string
	Type  string // of its elements, as ONNX calls it: float, double, int32, int64, bool
	Shape []int  // Batch on one axis
}

// Width is the number of elements that each row of t has: the product of the sizes of
// its other axes.
func (t Tensor) Width() int {
	n, _ := graph.Elements(t.Shape)
	return n
}

func tensorOf(v *graph.Value) Tensor {
	return Tensor{Name: v.Name, Type: v.Type.String(), Shape: slices.Clone(v.Shape)}
}

// Inputs lists what the network reads, in the order of the file.
func (g *Graph) Inputs() []Tensor {
	var out []Tensor
	for _, v := range g.g.Inputs {
		out = append(out, tensorOf(v))
	}
	return out
}

// Outputs lists the network's outputs in the order of the file, but for constants.
func (g *Graph) Outputs() []Tensor {
	var out []Tensor
	for _, v := range g.g.Outputs {
		if v.BatchAxis() >= 0 {
			out = append(out, tensorOf(v))
		}
	}
	return out
}

// Tensor is the input, output or tensor in between of that name; false if the network
// computes none, or it does not depend on rows.
func (g *Graph) Tensor(name string) (Tensor, bool) {
	v, ok := g.g.Value(name)
	if !ok || v.BatchAxis() < 0 {
		return Tensor{}, false
	}
	return tensorOf(v), true
}

// File is the file that the network was loaded from, for an Engine that reads it
// itself, less the parts of a decomposition that were written into it (package export);
// nil without LoadOptions.KeepFile. It must not be changed.
func (g *Graph) File() []byte { return g.file }
