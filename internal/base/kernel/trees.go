package kernel

import (
	"math"
	"unsafe"
)

const (
	// MostTreeDepth is the depth of the deepest Trees.
	MostTreeDepth = 6
	// treesBeside is how many trees a row goes down side by side.
	treesBeside = 16
	// inRegisters is how many columns of a row registers hold.
	inRegisters = 32
)

// Trees are complete binary trees of one depth. A row goes right at a node if its number in the
// node's column is above the node's threshold, else left, down sixteen trees side by side: at each
// level the nodes that it is at are chosen among all, which costs less than to follow indexes.
type Trees struct {
	depth, columns int
	nodes          []float32 // by group of trees and node, level by level: thresholds, then columns as bits
	leaves         []float64 // by tree
}

// NewTrees makes trees without nodes: all rows go left. What no SetLeaf sets adds nothing. nil: this
// processor does not walk down such trees any faster than Go does.
func NewTrees(many, depth, columns int) *Trees {
	if best() != avx512 || depth < 1 || depth > MostTreeDepth || many < 1 {
		return nil
	}
	groups := (many + treesBeside - 1) / treesBeside
	t := &Trees{
		depth: depth, columns: columns,
		nodes:  aligned[float32](groups * (1<<depth - 1) * 2 * treesBeside),
		leaves: aligned[float64](groups * treesBeside << depth),
	}
	for tree := range groups * treesBeside {
		for node := range 1<<depth - 1 {
			t.nodes[t.at(tree, node)] = float32(math.Inf(1))
		}
	}
	fill(t.leaves, math.Copysign(0, -1)) // 0 would make 0 of a sum that is -0
	return t
}

// at is where the threshold of a node is.
func (t *Trees) at(tree, node int) int {
	return (tree/treesBeside*(1<<t.depth-1)+node)*2*treesBeside + tree%treesBeside
}

// SetNode sets a node: those below node i are 2i+1, to the left, and 2i+2.
func (t *Trees) SetNode(tree, node int, threshold float32, column int) {
	k := t.at(tree, node)
	t.nodes[k], t.nodes[k+treesBeside] = threshold, math.Float32frombits(uint32(column))
}

// SetLeaf sets what a leaf, counted from the left, adds.
func (t *Trees) SetLeaf(tree, leaf int, value float64) { t.leaves[tree<<t.depth+leaf] = value }

// Stride is how far apart rows of x are.
func (t *Trees) Stride() int { return max(inRegisters, t.columns) }

// Sum adds to sums (n) what the leaves have that the rows of x (n x columns, Stride apart) come to,
// tree after tree.
func (t *Trees) Sum(sums []float64, x []float32) { t.sum(sums, x, 0) }

// SumRounded is Sum in float32: what is added, and each sum, is rounded to it.
func (t *Trees) SumRounded(sums []float64, x []float32) { t.sum(sums, x, 1) }

func (t *Trees) sum(sums []float64, x []float32, rounded uintptr) {
	x = x[:len(sums)*t.Stride()]
	if len(sums) == 0 {
		return
	}
	w := &treeWalk{
		x: at(x, 0), stride: uintptr(t.Stride() * sizeOf[float32]()), rows: uintptr(len(sums)), sums: at(sums, 0),
		nodes: at(t.nodes, 0), leaves: at(t.leaves, 0), groups: uintptr(len(t.leaves) / (treesBeside << t.depth)), depth: uintptr(t.depth), rounded: rounded,
	}
	if t.columns <= inRegisters {
		runTrees(w)
	} else {
		runWideTrees(w)
	}
}

// treeWalk is the argument of the assembly that walks rows down groups of trees. It knows the
// offsets of the fields.
type treeWalk struct {
	x      unsafe.Pointer // rows of float32
	stride uintptr        // bytes between them
	rows   uintptr        // at least one
	sums   unsafe.Pointer // a float64 for each row
	nodes  unsafe.Pointer // of the first group: for each node the thresholds of all trees, then their columns
	leaves unsafe.Pointer // of the first group: for each tree its leaves, float64
	groups uintptr        // at least one
	depth  uintptr        // 1 to MostTreeDepth
	// 1: sums are of float32; else 0
	rounded uintptr
	// Memory for the leaves that a row comes to in a group, a line of the cache in it.
	_ [2*treesBeside - 1]uint32
}
