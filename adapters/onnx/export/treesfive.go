package export

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/internal/tree"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// treeEnsemble writes a forest as TreeEnsemble, in which inner nodes and leaves have lists of
// their own and numbers are of the input's type.
func (c *columns) treeEnsemble(name, x string, kind graph.DType, f *tree.Forest) (string, error) {
	own := onnxpb.TensorProto_FLOAT
	switch kind {
	case graph.Float32:
	case graph.Float64:
		own = onnxpb.TensorProto_DOUBLE
	default:
		return "", fmt.Errorf("its trees read %s, and are written for float and double: export the network with one of these", kind)
	}
	var features, yes, no, yesLeaf, noLeaf, missing, modes, roots, targets []int64
	var splits, members, weights []float64
	number := numbered(f)
	child := func(i int32) (at, leaf int64) {
		if n := &f.Nodes[i]; n.Mode == tree.Leaf {
			return int64(n.From), 1
		}
		return number[i], 0
	}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Mode == tree.Leaf {
			if n.To != n.From+1 {
				return "", fmt.Errorf("a leaf of its trees adds to %d targets, and version 5 of ai.onnx.ml knows one", n.To-n.From)
			}
			continue
		}
		value, tracks := n.Value, int64(0)
		switch {
		case n.Mode == tree.Member:
			value = 0
			if len(members) > 0 {
				members = append(members, math.NaN())
			}
			members = append(members, f.Sets[n.Set]...)
		case kind == graph.Float32:
			value = floatBelow(value)
		}
		if n.MissingTrue {
			tracks = 1
		}
		y, yl := child(n.True)
		o, ol := child(n.False)
		features, modes, splits, missing = append(features, int64(n.Feature)), append(modes, int64(n.Mode)), append(splits, value), append(missing, tracks)
		yes, yesLeaf, no, noLeaf = append(yes, y), append(yesLeaf, yl), append(no, o), append(noLeaf, ol)
	}
	for _, r := range f.Roots {
		roots = append(roots, number[r])
	}
	for _, w := range f.Weights {
		targets, weights = append(targets, int64(w.Target)), append(weights, w.Value)
	}
	attrs := []onnxpb.Attr{
		onnxpb.Ints("tree_roots", roots...), onnxpb.Ints("nodes_featureids", features...), onnxpb.TensorAttr("nodes_modes", onnxpb.TensorProto_UINT8, []int{len(modes)}, modes...),
		onnxpb.TensorAttr("nodes_splits", own, []int{len(splits)}, splits...), onnxpb.Ints("nodes_missing_value_tracks_true", missing...),
		onnxpb.Ints("nodes_truenodeids", yes...), onnxpb.Ints("nodes_trueleafs", yesLeaf...), onnxpb.Ints("nodes_falsenodeids", no...), onnxpb.Ints("nodes_falseleafs", noLeaf...),
		onnxpb.Ints("leaf_targetids", targets...), onnxpb.TensorAttr("leaf_weights", own, []int{len(weights)}, weights...), onnxpb.Int("n_targets", int64(f.Targets)),
	}
	if len(members) > 0 {
		attrs = append(attrs, onnxpb.TensorAttr("membership_values", own, []int{len(members)}, members...))
	}
	return c.Node("ai.onnx.ml.TreeEnsemble", name, []string{x}, attrs...), nil
}

// numbered counts inner nodes.
func numbered(f *tree.Forest) []int64 {
	number, next := make([]int64, len(f.Nodes)), int64(0)
	for i := range f.Nodes {
		if f.Nodes[i].Mode != tree.Leaf {
			number[i] = next
			next++
		}
	}
	return number
}
