package onnx

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/structure"
)

// Graph is a network that Load has read and checked. It is immutable and safe for
// concurrent use.
type Graph struct {
	g        *graph.Graph
	file     []byte
	external map[string][]byte
	sha256   string
}

// Batch marks the batch axis in a Tensor's Shape: its size is the number of rows. A
// multiple of Batch, as -8, is an axis of that many times the number of rows, which holds
// each row several times (heads of an attention that the network has joined with it); see
// Graph.RowLayout.
const Batch = -1

// Tensor describes a tensor of a network that depends on rows.
type Tensor struct {
	Name  string
	Type  string // of its elements, as ONNX calls it: float, double, int64, uint8, bool and so on
	Shape []int  // Batch, or a multiple of it, on one axis
}

// Turned says why an array whose rows have that shape cannot be read as it lies into input t:
// it has the same axes in another order, as pictures by height, width and colours where t
// takes colours first. "": it has not.
func (t Tensor) Turned(row []int) string {
	want := slices.DeleteFunc(t.RowShape(), func(d int) bool { return d == 1 })
	have := slices.DeleteFunc(slices.Clone(row), func(d int) bool { return d == 1 })
	if slices.Equal(want, have) || len(want) != len(have) || !slices.Equal(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(have))) {
		return ""
	}
	order := []string{"0"}
	left := slices.Clone(row)
	for _, d := range t.Shape {
		if at := slices.Index(left, d); d != Batch && at >= 0 {
			order, left[at] = append(order, strconv.Itoa(at+1)), -1
		}
	}
	return fmt.Sprintf("the rows of the array have the shape %v, and input %q takes %v: the axes are in another order; turn them before it is saved, as numpy.transpose(x, (%s)) does", row, t.Name, t.RowShape(), strings.Join(order, ", "))
}

// Picture is how the rows of t lie if they are pictures: two axes, or three of which the first or, if last, the
// last holds 1, 3 or 4 channels. ok is false of others.
func (t Tensor) Picture() (height, width, channels int, last, ok bool) {
	axes := t.RowShape()
	colours := func(d int) bool { return d == 1 || d == 3 || d == 4 }
	switch {
	case len(axes) == 2:
		return axes[0], axes[1], 1, false, true
	case len(axes) == 3 && colours(axes[0]):
		return axes[1], axes[2], axes[0], false, true
	case len(axes) == 3 && colours(axes[2]):
		return axes[0], axes[1], axes[2], true, true
	}
	return 0, 0, 0, false, false
}

// RowShape is the shape of a row of t: its axes without that of the batch, or with the number of times that it
// holds each row.
func (t Tensor) RowShape() (shape []int) {
	for _, d := range t.Shape {
		if d != Batch {
			shape = append(shape, max(d, -d))
		}
	}
	return shape
}

// Width is the number of elements that each row of t has: the product of its RowShape.
func (t Tensor) Width() int {
	n := 1
	for _, d := range t.RowShape() {
		n *= d
	}
	return n
}

func tensorOf(v *graph.Value) Tensor {
	t := Tensor{Name: v.Name, Type: v.Type.String(), Shape: v.RowShape()}
	if at := v.BatchAxis(); at >= 0 {
		t.Shape[at] *= Batch
	}
	return t
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

// RowLayout is how the batch axis of the tensor of that name holds the rows: outer times
// all rows, one after the other, each as inner entries side by side; 1 and 1 where its size
// is Batch. A row has the elements of all its entries, in the tensor's order. Both are 0 if
// Tensor knows no such tensor.
func (g *Graph) RowLayout(name string) (outer, inner int) {
	v, ok := g.g.Value(name)
	if !ok || v.BatchAxis() < 0 {
		return 0, 0
	}
	return graph.AroundRows(v.Shape[v.BatchAxis()])
}

// HasTrees tells whether ensembles of trees are in the graph.
func (g *Graph) HasTrees() bool { return structure.Ensembles(g.g) > 0 }

// InFile reports whether the file itself has the tensor of that name. Those that a loop,
// branch or function computes inside have names of their own, since Load expands these, as
// have the parts of an ensemble of trees (Model.Graph).
func (g *Graph) InFile(name string) bool {
	v, ok := g.g.Value(name)
	return ok && v.InFile()
}

// Checked is the graph as package export writes parts of it; no other module can name its
// type. It must not be changed.
func (g *Graph) Checked() *graph.Graph { return g.g }

// File is the file that the network was loaded from, for an Engine that reads it
// itself, less the parts of a decomposition that were written into it (package export);
// nil without LoadOptions.KeepFile. It must not be changed.
func (g *Graph) File() []byte { return g.file }

// External are the files that the network keeps data of its tensors in, by the location
// that the file has for each: a path of slashes that leads down from its folder. Their
// content is nil without LoadOptions.KeepFile. It must not be changed.
func (g *Graph) External() map[string][]byte { return maps.Clone(g.external) }

// SHA256 is the SHA-256 of the file in hexadecimal digits. Of a network that keeps data in other
// files it is the SHA-256 of its file followed by the SHA-256 (32 bytes) of each other file, in the
// order of their locations: it changes with every byte of them.
func (g *Graph) SHA256() string { return g.sha256 }
