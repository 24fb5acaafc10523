package operator

import (
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Step runs a node on its operands.
type Step[T kernel.Float] func(x *Exec[T]) error

// Operand is a tensor at run time, row-major: F for floating types, I for others.
type Operand[T kernel.Float] struct {
	Shape []int
	F     []T
	I     []int64
}

// Exec is what a step sees: its operands, with the batch axis at its size.
type Exec[T kernel.Float] struct {
	In, Out []Operand[T]
	Rows    int
	Relu    bool // a product applies the Relu that follows it, too
	// Texts has the texts that numbers in operands of type String stand for.
	Texts *graph.Texts
	// Source has the rows that In[0] is to hold; none: they are there.
	Source  Source[T]
	scratch *[]T
}

// Share lets the steps of a run work in the same memory, one after another.
func (x *Exec[T]) Share(scratch *[]T) { x.scratch = scratch }

// temp returns n elements to work in until the step ends; contents arbitrary.
func (x *Exec[T]) temp(n int) []T {
	if cap(*x.scratch) < n {
		*x.scratch = make([]T, n)
	}
	return (*x.scratch)[:n]
}

// Scratch is the number of elements per row that the step of n works in beside its
// operands.
func Scratch(n *graph.Node) int {
	if r, ok := n.Resolved.(interface{ Scratch() int }); ok {
		return r.Scratch()
	}
	return 0
}

// Floats converts a floating constant to the engine's precision; nil for others.
func Floats[T kernel.Float](v *graph.Value) []T {
	if f, ok := any(v.Const.F).([]T); ok || v.Const.F == nil {
		return f
	}
	out := make([]T, len(v.Const.F))
	for i, x := range v.Const.F {
		out[i] = T(x)
	}
	return out
}

// asDeclared is how a node that jumps (a comparison, Floor, a Cast to integers) reads
// numbers of type t: rounded to it, so that the engine's further digits do not decide
// on which side of the jump a number falls. nil: the engine holds no further digits.
func asDeclared[T kernel.Float](t graph.DType) func(T) T {
	_, single := any(T(0)).(float32)
	switch {
	case t == graph.Float16 || t == graph.BFloat16:
		return func(x T) T { return T(t.Round(float64(x))) }
	case single || t != graph.Float32:
		return nil
	}
	return func(x T) T { return T(float32(x)) }
}
