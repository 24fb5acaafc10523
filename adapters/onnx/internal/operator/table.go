// Package operator holds all that is known of ONNX operators, one Entry each, by family:
// how a node is checked, how its outputs' elements depend on its inputs', and how it is
// computed.
package operator

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Entry is all that is known of an operator; adding an operator is adding an entry.
// Check, Rule and Compile are never nil.
// Checking, unrolling and running read the same entry, so that none can lack an operator that
// another knows.
type Entry[T kernel.Float] struct {
	// Operator is what reading a graph has to know: name, opsets, inputs, checks.
	graph.Operator
	// Rule says how the outputs' elements depend on the inputs'. What is not known
	// exactly states opaque.
	Rule func(n *graph.Node) Rule
	// Compile prepares a checked node, which cannot fail.
	Compile func(n *graph.Node) Step[T]
	// InPlace: output 0 may be written over input 0 if they are of equal size.
	InPlace bool
	// Jumps: a small change of an operand may change the output by much, so operands
	// are read rounded to the type that the graph declares (asDeclared).
	Jumps bool
	// Weighs: it multiplies by weights, so it is a node that a reader looks for where a
	// linear term has its coefficient.
	Weighs bool
	// Missing reports whether the outputs of n have a value where its input v is NaN,
	// which stands for a missing one; nil: never.
	Missing func(n *graph.Node, v *graph.Value) bool
	// Head names the response function that it computes, element by element or over an
	// axis; "": none.
	Head string
	// ByRow says what it does row by row, where the standard takes the whole batch and the
	// result of a row would hang on the others; "": what the standard says.
	ByRow string
	// TakesRelu reports whether the step of n applies the Relu that follows it if
	// Exec.Relu is set; nil: never.
	TakesRelu func(n *graph.Node) bool
	// TakesSource reports whether the step of n moves its first operand there if Exec.Source
	// has it; nil: never.
	TakesSource func(n *graph.Node) bool
}

// Table holds the entries by domain and name.
type Table[T kernel.Float] map[string]*Entry[T]

// families lists every operator.
func families[T kernel.Float]() [][]Entry[T] {
	return [][]Entry[T]{
		elementwiseOps[T](),
		castOps[T](),
		binaryOps[T](),
		logicOps[T](),
		matmulOps[T](),
		shapeOps[T](),
		rearrangeOps[T](),
		repeatOps[T](),
		sliceOps[T](),
		gatherOps[T](),
		padOps[T](),
		cumulateOps[T](),
		constantOps[T](),
		reduceOps[T](),
		normOps[T](),
		convOps[T](),
		poolOps[T](),
		convTransposeOps[T](),
		depthOps[T](),
		resizeOps[T](),
		deformOps[T](),
		fourierOps[T](),
		windowOps[T](),
		normalizeOps[T](),
		roiOps[T](),
		einsumOps[T](),
		mlOps[T](),
		gatherNDOps[T](),
		scatterOps[T](),
		selectionOps[T](),
		topOps[T](),
		triangleOps[T](),
		reverseOps[T](),
		bitwiseOps[T](),
		nonFiniteOps[T](),
		shrinkOps[T](),
		lossOps[T](),
		nmsOps[T](),
		quantizeOps[T](),
		dynamicOps[T](),
		integerOps[T](),
		qlinearOps[T](),
		attentionOps[T](),
		linearAttentionOps[T](),
		rotaryOps[T](),
		stateOps[T](),
		groupNormOps[T](),
		gatedOps[T](),
		optimizedOps[T](),
		recurrentOps[T](),
		col2ImOps[T](),
		gridSampleOps[T](),
		affineGridOps[T](),
		detOps[T](),
		treeOps[T](),
		linearOps[T](),
		codeOps[T](),
		columnOps[T](),
		svmOps[T](),
		stringOps[T](),
		wordOps[T](),
		textNumberOps[T](),
	}
}

// New is the table of all operators.
func New[T kernel.Float]() Table[T] {
	t := Table[T]{}
	for _, family := range families[T]() {
		for i := range family {
			t[family[i].Key()] = &family[i]
		}
	}
	return t
}

// NewFloat64 is New[float64], compiled once, here: a package that calls New has all operators compiled anew,
// 6 seconds of a build.
//
//go:noinline
func NewFloat64() Table[float64] { return New[float64]() }

// Of is the entry of a node that Load accepted.
func (t Table[T]) Of(n *graph.Node) *Entry[T] { return t[n.Key()] }

// Find is the operator of that key (Node.Key), nil if there is none.
func (t Table[T]) Find(key string) *graph.Operator {
	if e := t[key]; e != nil {
		return &e.Operator
	}
	return nil
}

// Jumps is that of the operator's entry.
func (t Table[T]) Jumps(key string) bool {
	e := t[key]
	return e != nil && e.Jumps
}

// Is reports whether the operator of n has one of the traits.
func (t Table[T]) Is(n *graph.Node, traits graph.Traits) bool {
	e := t.Of(n)
	return e != nil && e.Operator.Is&traits != 0
}

// Keys lists the operators in alphabetical order.
func (t Table[T]) Keys() []string { return slices.Sorted(maps.Keys(t)) }

// RuleOf is the rule of n on its shapes. A node that lacks its first input or output
// is opaque.
func (t Table[T]) RuleOf(n *graph.Node) (Rule, error) {
	e := t.Of(n)
	if e == nil {
		return Rule{}, fmt.Errorf("onnx: %s is of no known operator", n)
	}
	_, trees := n.Resolved.(*Trees) // whose scores stand second
	if len(n.Inputs) == 0 || len(n.Outputs) == 0 || n.Inputs[0] == nil || n.Outputs[0] == nil && !trees {
		return Rule{}, nil
	}
	return e.Rule(n), nil
}

// Evaluate computes the constants of n's outputs, which have their room, from those of
// its inputs.
func (t Table[T]) Evaluate(n *graph.Node) error {
	x := &Exec[T]{Rows: 1, Texts: n.Texts, scratch: new([]T)}
	operand := func(v *graph.Value) Operand[T] {
		if v == nil || v.Const == nil {
			return Operand[T]{}
		}
		return Operand[T]{Shape: v.Shape, F: Floats[T](v), I: v.Const.I}
	}
	for _, v := range n.Inputs {
		x.In = append(x.In, operand(v))
	}
	for _, v := range n.Outputs {
		x.Out = append(x.Out, operand(v))
	}
	return t.Of(n).Compile(n)(x)
}

// is adds traits to an entry.
func is[T kernel.Float](t graph.Traits, e Entry[T]) Entry[T] {
	e.Operator.Is |= t
	return e
}

// movesFirst: the outputs hold numbers of the first input alone.
func movesFirst(n *graph.Node, v *graph.Value) bool {
	return n.Inputs[0] == v && !slices.Contains(n.Inputs[1:], v)
}

// movesAll: the output holds numbers of every input.
func movesAll(*graph.Node, *graph.Value) bool { return true }
