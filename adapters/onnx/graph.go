package onnx

import (
	"maps"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// Graph is a network that Load has read and checked. It is immutable and safe for
// concurrent use.
type Graph struct {
	g        *graph.Graph
	file     []byte
	external map[string][]byte
	sha256   string
}

// Batch marks the batch axis in a Tensor's Shape: its size is the number of rows.
const Batch = -1

// Tensor describes a tensor of a network that depends on rows.
type Tensor struct {
	Name  string
	Type  string // of its elements, as ONNX calls it: float, double, int64, uint8, bool and so on
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
// itself; nil without LoadOptions.KeepFile. It must not be changed.
func (g *Graph) File() []byte { return g.file }

// External are the files that the network keeps data of its tensors in, by the location
// that the file has for each: a path of slashes that leads down from its folder. Their
// content is nil without LoadOptions.KeepFile. It must not be changed.
func (g *Graph) External() map[string][]byte { return maps.Clone(g.external) }

// SHA256 is the SHA-256 of the file in hexadecimal digits. Of a network that keeps data in
// other files it is that of the file with the SHA-256 (32 bytes) of each of those behind
// it, in the order of their locations: it changes with every byte of them.
func (g *Graph) SHA256() string { return g.sha256 }
