// Package onnxtree writes forests as TreeEnsemble, the operator of ONNX's domain ai.onnx.ml.
package onnxtree

import (
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/internal/tree"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Attributes returns the attributes of a TreeEnsemble of version 5. The operator's output is Base plus the sum over the trees of f: of float64 rows if double,
// else of float32 ones, which are above a threshold exactly if they are above the float32 at it or below. A leaf of the operator adds to one target, so a tree
// with a leaf that adds to several is there once for each target. Sums begin with Base, which is a tree without a question.
//
// Definition: https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsemble.html
func Attributes(f *tree.Forest, double bool) []onnxpb.Attr {
	l := &lists{forest: f, double: double}
	for k, b := range f.Base {
		if b != 0 {
			l.constant(tree.Weight{Target: int32(k), Value: b})
		}
	}
	for _, root := range f.Roots {
		if targets := l.several(root); targets == nil {
			l.tree(root, func(w []tree.Weight) (all tree.Weight) {
				if len(w) > 0 {
					all = w[0]
				}
				return all
			})
		} else {
			for _, k := range targets {
				l.tree(root, func(w []tree.Weight) tree.Weight { return of(k, w) })
			}
		}
	}
	return l.attributes()
}

// of is what weights add to target k.
func of(k int32, weights []tree.Weight) tree.Weight {
	sum := tree.Weight{Target: k}
	for _, w := range weights {
		if w.Target == k {
			sum.Value += w.Value
		}
	}
	return sum
}

// lists are the attributes.
type lists struct {
	forest                                                               *tree.Forest
	double                                                               bool
	features, yes, no, yesLeaf, noLeaf, missing, modes, roots, targetIDs []int64
	splits, members, weights                                             []float64
}

// inner lists the nodes with a question of the tree, level by level.
func (l *lists) inner(root int32) (nodes []int32) {
	if l.forest.Nodes[root].Mode != tree.Leaf {
		nodes = append(nodes, root)
	}
	for i := 0; i < len(nodes); i++ {
		n := &l.forest.Nodes[nodes[i]]
		for _, child := range [...]int32{min(n.True, n.False), max(n.True, n.False)} {
			if l.forest.Nodes[child].Mode != tree.Leaf {
				nodes = append(nodes, child)
			}
		}
	}
	return nodes
}

// several are the targets of a tree in which a leaf adds to more than one; nil: none does.
func (l *lists) several(root int32) (targets []int32) {
	more := false
	leaf := func(i int32) {
		if n := &l.forest.Nodes[i]; n.Mode == tree.Leaf {
			more = more || n.To > n.From+1
			for _, w := range l.forest.Weights[n.From:n.To] {
				targets = append(targets, w.Target)
			}
		}
	}
	leaf(root)
	for _, i := range l.inner(root) {
		leaf(l.forest.Nodes[i].True)
		leaf(l.forest.Nodes[i].False)
	}
	if !more {
		return nil
	}
	slices.Sort(targets)
	return slices.Compact(targets)
}

// tree adds the tree; value is what a leaf of some weights adds.
func (l *lists) tree(root int32, value func([]tree.Weight) tree.Weight) {
	f := l.forest
	if top := &f.Nodes[root]; top.Mode == tree.Leaf {
		l.constant(value(f.Weights[top.From:top.To]))
		return
	}
	nodes, first := l.inner(root), int64(len(l.features))
	l.roots = append(l.roots, first)
	next := first + 1 // of the children that are no leaves, which come in this order
	child := func(i int32) (at, isLeaf int64) {
		if n := &f.Nodes[i]; n.Mode == tree.Leaf {
			return l.leaf(value(f.Weights[n.From:n.To])), 1
		}
		next++
		return next - 1, 0
	}
	for _, i := range nodes {
		n := &f.Nodes[i]
		l.question(n)
		var y, yl, o, ol int64
		if n.True < n.False {
			y, yl = child(n.True)
			o, ol = child(n.False)
		} else {
			o, ol = child(n.False)
			y, yl = child(n.True)
		}
		l.yes, l.yesLeaf, l.no, l.noLeaf = append(l.yes, y), append(l.yesLeaf, yl), append(l.no, o), append(l.noLeaf, ol)
	}
}

// constant adds a tree that adds w to every row: the operator has none without a question, so it asks one and does not mind the answer.
func (l *lists) constant(w tree.Weight) {
	l.roots = append(l.roots, int64(len(l.features)))
	l.question(&tree.Node{Mode: tree.LEQ})
	at := l.leaf(w)
	l.yes, l.yesLeaf, l.no, l.noLeaf = append(l.yes, at), append(l.yesLeaf, 1), append(l.no, at), append(l.noLeaf, 1)
}

func (l *lists) leaf(w tree.Weight) int64 {
	l.targetIDs, l.weights = append(l.targetIDs, int64(w.Target)), append(l.weights, w.Value)
	return int64(len(l.weights) - 1)
}

// question adds what a node asks; its children come after it.
func (l *lists) question(n *tree.Node) {
	value, mode, tracks := n.Value, n.Mode, int64(0)
	switch {
	case mode == tree.Member && len(l.forest.Sets[n.Set]) == 0: // equal to nothing
		mode, value = tree.EQ, math.NaN()
	case mode == tree.Member: // sets follow each other, with NaN between them
		value = 0
		if len(l.members) > 0 {
			l.members = append(l.members, math.NaN())
		}
		l.members = append(l.members, l.forest.Sets[n.Set]...)
	case !l.double:
		value = single(n)
	}
	if n.MissingTrue {
		tracks = 1
	}
	l.features, l.modes, l.splits, l.missing = append(l.features, int64(n.Feature)), append(l.modes, int64(mode)), append(l.splits, value), append(l.missing, tracks)
}

// single is the threshold among numbers of float32 that decides of all of them as that of n does.
func single(n *tree.Node) float64 {
	below := Below(n.Value)
	if below == n.Value || n.Mode == tree.LEQ || n.Mode == tree.GT || math.IsNaN(below) {
		return below
	}
	if n.Mode == tree.EQ || n.Mode == tree.NEQ { // no float32 is equal to it
		return math.NaN()
	}
	return float64(math.Nextafter32(float32(below), float32(math.Inf(1))))
}

// Below is the largest float32 that is not above v.
func Below(v float64) float64 {
	w := float32(v)
	if float64(w) > v {
		w = math.Nextafter32(w, float32(math.Inf(-1)))
	}
	return float64(w)
}

func (l *lists) attributes() []onnxpb.Attr {
	own := onnxpb.TensorProto_FLOAT
	if l.double {
		own = onnxpb.TensorProto_DOUBLE
	}
	attrs := []onnxpb.Attr{
		onnxpb.Ints("tree_roots", l.roots...), onnxpb.Ints("nodes_featureids", l.features...), onnxpb.TensorAttr("nodes_modes", onnxpb.TensorProto_UINT8, []int{len(l.modes)}, l.modes...),
		onnxpb.TensorAttr("nodes_splits", own, []int{len(l.splits)}, l.splits...), onnxpb.Ints("nodes_missing_value_tracks_true", l.missing...),
		onnxpb.Ints("nodes_truenodeids", l.yes...), onnxpb.Ints("nodes_trueleafs", l.yesLeaf...), onnxpb.Ints("nodes_falsenodeids", l.no...), onnxpb.Ints("nodes_falseleafs", l.noLeaf...),
		onnxpb.Ints("leaf_targetids", l.targetIDs...), onnxpb.TensorAttr("leaf_weights", own, []int{len(l.weights)}, l.weights...), onnxpb.Int("n_targets", int64(l.forest.Targets)),
	}
	if len(l.members) > 0 {
		attrs = append(attrs, onnxpb.TensorAttr("membership_values", own, []int{len(l.members)}, l.members...))
	}
	return attrs
}
