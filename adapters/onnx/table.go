package onnx

import (
	"maps"
	"slices"

	"github.com/pho-go/pho/internal/kernel"
	"github.com/pho-go/pho/internal/onnxpb"
)

type attrProto = onnxpb.AttributeProto

// operator is what the engine knows about an ONNX operator.
type operator[T kernel.Float] struct {
	min, max int   // inputs; max < 0: any number
	outputs  int   // outputs at most; < 0: any number
	shapes   []int // inputs that may be shapes computed from the number of rows
	// infer checks a node's inputs and attributes and sets its outputs' types
	// and shapes. It refuses what mixes rows.
	infer func(c *nodeCheck) error
	// compile prepares a checked node.
	compile func(n *Node) (step[T], error)
	// view reports whether output 0 of this node is input 0's memory under
	// another shape or type; nil: never.
	view func(n *Node) bool
	// inPlace: output 0 may be written over input 0 if they are of equal size.
	inPlace bool
}

// step runs a node on the tensors of x.
type step[T kernel.Float] func(x *exec[T]) error

// tensor is a run-time value, row-major: f for floating types, i for others.
type tensor[T kernel.Float] struct {
	shape []int
	f     []T
	i     []int64
}

// exec is what a step sees: its operands, with the batch axis at its size.
type exec[T kernel.Float] struct {
	in, out []tensor[T]
	rows    int
	scratch *[]T // shared by the steps of a run
	relu    bool // a product applies the Relu that follows it, too
}

// temp returns n elements to work in until the step ends; contents arbitrary.
func (x *exec[T]) temp(n int) []T {
	if cap(*x.scratch) < n {
		*x.scratch = make([]T, n)
	}
	return (*x.scratch)[:n]
}

// table maps operators to what the engine knows about them; those outside
// ai.onnx are keyed "domain.Op".
type table[T kernel.Float] map[string]operator[T]

func opKey(n *Node) string {
	if n.Domain == "" {
		return n.Op
	}
	return n.Domain + "." + n.Op
}

// operators lists every operator the engine runs.
func operators[T kernel.Float]() table[T] {
	t := table[T]{}
	elementwiseOps(t)
	binaryOps(t)
	matmulOps(t)
	shapeOps(t)
	selectOps(t)
	moveOps(t)
	constantOps(t)
	reduceOps(t)
	normOps(t)
	convOps(t)
	einsumOps(t)
	mlOps(t)
	return t
}

func (t table[T]) names() []string { return slices.Sorted(maps.Keys(t)) }

// constF converts a floating constant to the engine's precision.
func constF[T kernel.Float](v *Value) []T {
	if f, ok := any(v.Const.F).([]T); ok {
		return f
	}
	out := make([]T, len(v.Const.F))
	for i, x := range v.Const.F {
		out[i] = T(x)
	}
	return out
}

func (n *Node) attrInt(name string, def int64) int64 {
	if a, ok := n.Attrs[name]; ok {
		return a.Int
	}
	return def
}

func (n *Node) attrFloat(name string, def float64) float64 {
	if a, ok := n.Attrs[name]; ok {
		return a.Float
	}
	return def
}

// product of sizes that are known (at run time, or after the batch axis has
// been excluded).
func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
