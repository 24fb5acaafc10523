// Package graph reads an ONNX file into values and nodes of known shapes, types and batch
// axis, with constants folded. Read is given the operators. The package itself knows only those that
// structure a graph: control flow, functions and sequences, which it expands to plain nodes.
// How often a loop runs must be known then: if it depended on a row's data it would mix rows
// anyway, since ONNX decides once for the whole batch.
package graph

import (
	"github.com/pho-go/pho/adapters/onnx/internal/parts"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Batch marks the batch axis in a Shape: its size is known only at run time.
const Batch = -1

// Tensor is a constant: row-major, F for floating types, I for the others, of String the
// numbers of its texts (Graph.Texts). Floats are kept as float64 whatever the type, and
// integers as int64, those of Uint64 by their bits: all exact.
type Tensor struct {
	Type  DType
	Shape []int
	F     []float64
	I     []int64
}

// Value is an edge of the graph: a graph input, a constant or a node's output.
// A shape computed from the number of rows (the second input of a Reshape, say)
// is none of these: it has neither Const nor Producer and is never run.
type Value struct {
	Name     string
	Type     DType
	Shape    []int   // Batch (-1), or a RowsAxis, on at most one axis: the rows
	Const    *Tensor // not nil: known at load (initializer, Constant, or folded)
	Producer *Node   // nil for inputs and constants

	inner     bool  // of an expanded subgraph or function: nothing in the file has its name
	roundedTo DType // of an input that only narrower Casts read: see settleRounding
}

// BatchAxis is the axis that holds rows, -1 if the value does not depend on rows.
func (v *Value) BatchAxis() int { return RowsIn(v.Shape) }

// NewInner is a value of a node that the file does not have.
func NewInner(name string, t DType, shape ...int) *Value {
	return &Value{Name: name, Type: t, Shape: shape, inner: true}
}

// InFile reports whether the file has a tensor of v's name.
func (v *Value) InFile() bool { return !v.inner }

// Node is one operator, already checked: shapes and types of its outputs are
// known, and it keeps rows apart.
type Node struct {
	Index   int // position in topological order
	Name    string
	Op      string   // "Gemm"
	Domain  string   // "" for ai.onnx
	Version int      // opset of its domain
	Inputs  []*Value // nil entries: optional inputs left out
	Outputs []*Value
	Attrs   map[string]Attr

	// Texts are those of its graph.
	Texts *Texts
	// Resolved is prepared by the operator's check from inputs and attributes; the step of the
	// node reads it.
	Resolved any

	file *fileNode // until it is checked
}

// Attr is an attribute of a node.
type Attr struct {
	Int     int64
	Float   float64
	String  string
	Ints    []int64
	Floats  []float64
	Strings []string
	Tensor  *Tensor

	graph *onnxpb.GraphProto // the subgraph of control flow
}

// Graph is a loaded, checked, constant-folded network in topological order.
type Graph struct {
	Inputs  []*Value // without initializers
	Outputs []*Value
	Nodes   []*Node // only those the outputs need
	Values  map[string]*Value
	Texts   *Texts // of its constants
	// Refused are the tensors of the file that cannot be computed, with the reasons, and
	// Notes say which outputs were left out for that.
	Refused map[string]error
	Notes   []string

	Origin Origin
	// ClassLabels are the lists of classes that the file names somewhere, each once.
	ClassLabels [][]string
	Parts       *parts.Parts // what of the file is not in the graph; nil: nothing

	metadata []metadata // of the file, in order
}

type metadata struct{ key, value string }

// Metadata lists the texts of the file's metadata entries of that key, in order.
func (g *Graph) Metadata(key string) []string {
	var texts []string
	for _, e := range g.metadata {
		if e.key == key {
			texts = append(texts, e.value)
		}
	}
	return texts
}

// Value finds a tensor by name.
func (g *Graph) Value(name string) (*Value, bool) {
	v, ok := g.Values[name]
	return v, ok
}

// AttrInt is an attribute, def if it is not given.
func (n *Node) AttrInt(name string, def int64) int64 {
	if a, ok := n.Attrs[name]; ok {
		return a.Int
	}
	return def
}

// AttrFloat is an attribute, def if it is not given.
func (n *Node) AttrFloat(name string, def float64) float64 {
	if a, ok := n.Attrs[name]; ok {
		return a.Float
	}
	return def
}

// At is element i of a constant as a number.
func (t *Tensor) At(i int) float64 {
	if t.F != nil {
		return t.F[i]
	}
	return t.Type.Number(t.I[i])
}

// RoundedTo is the type that the numbers of a graph input are rounded to: the one it
// declares, or that of the Cast which all its readers are.
func (v *Value) RoundedTo() DType {
	if v.roundedTo != 0 {
		return v.roundedTo
	}
	return v.Type
}
