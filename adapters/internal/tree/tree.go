// Package tree evaluates ensembles of decision trees and says which features each tree
// depends on. It knows no ONNX.
package tree

import "fmt"

// Mode is how a node compares its feature x with its value t.
type Mode uint8

// The modes in the order of ONNX; where a comparison is true, the true child is next.
const (
	LEQ    Mode = iota // x <= t
	LT                 // x < t
	GTE                // x >= t
	GT                 // x > t
	EQ                 // x == t
	NEQ                // x != t
	Member             // x is in a set
	Leaf
)

// Node is a node as a file has it.
type Node struct {
	Mode        Mode
	MissingTrue bool  // a missing feature (NaN) goes to the true child, else to the false one
	Set         int32 // of Member: index of Forest.Sets
	Feature     int32
	True, False int32 // indexes of Forest.Nodes
	From, To    int32 // of a leaf: its weights in Forest.Weights
	Value       float64
}

// Weight is what a leaf adds to a target.
type Weight struct {
	Target int32
	Value  float64
}

// Sum is what an ensemble adds to Base, by target (nil: 0), each sum rounded to float32 after each tree if Rounded.
type Sum struct {
	*Ensemble
	Nodes   int // of the trees as the file has them
	Base    []float64
	Rounded bool
}

// Forest is an ensemble as a file has it.
type Forest struct {
	Nodes   []Node
	Weights []Weight
	Sets    [][]float64 // ascending
	Roots   []int32
	Targets int
	Single  bool // features are numbers of float32
	// Base is, by target, what sums begin with; nil: 0. Rounded: they are of float32, rounded after each tree.
	Base    []float64
	Rounded bool
	// Name names a node in errors; nil: by its index.
	Name func(node int32) string

	joined  []bool // memory of Check
	parents []int32
}

func (f *Forest) name(i int32) string {
	if f.Name == nil {
		return fmt.Sprintf("node %d", i)
	}
	return f.Name(i)
}

// maxDepth bounds the levels of a tree, so that walks over trees may recurse.
const maxDepth = 4096

// Check prepares a forest for New: chains of nodes that ask for one category after another
// become one node. It reports an error unless every root is the top of a tree that shares no node
// with itself or another, is at most 4096 levels deep, and together they reach every
// node. Indexes must be within bounds.
func (f *Forest) Check() error {
	reached := f.joinEquals()
	type visit struct {
		node  int32
		depth int
	}
	var stack []visit
	for _, root := range f.Roots {
		if reached[root] {
			return fmt.Errorf("%s is the root of a tree and belongs to another one", f.name(root))
		}
		reached[root] = true
		stack = append(stack, visit{root, 1})
		for len(stack) > 0 {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			n := &f.Nodes[at.node]
			if n.Mode == Leaf {
				continue
			}
			if at.depth >= maxDepth {
				return fmt.Errorf("%s is %d levels below the root of its tree, more than are supported", f.name(at.node), maxDepth)
			}
			for _, child := range [...]int32{n.False, n.True} {
				if reached[child] {
					return fmt.Errorf("%s is reached twice, from %s again: the nodes form a cycle or share a child, and are no tree", f.name(child), f.name(at.node))
				}
				reached[child] = true
				stack = append(stack, visit{child, at.depth + 1})
			}
		}
	}
	for i, ok := range reached {
		if !ok {
			return fmt.Errorf("%s cannot be reached from the root of its tree", f.name(int32(i)))
		}
	}
	return nil
}
