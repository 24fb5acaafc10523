package graphtest

import "github.com/pho-go/pho/internal/base/onnxpb"

// Trees are the attributes of an ensemble of trees in the making.
type Trees struct {
	Tree, ID, Feature, True, False, Missing []int64
	Mode                                    []string
	Value                                   []float64
	LeafTree, LeafID, Target                []int64
	Weight                                  []float64
}

// Branch adds a node that is no leaf.
func (t *Trees) Branch(tree, id, feature int64, mode string, value float64, yes, no int64) *Trees {
	t.Tree, t.ID, t.Feature, t.True, t.False = append(t.Tree, tree), append(t.ID, id), append(t.Feature, feature), append(t.True, yes), append(t.False, no)
	t.Mode, t.Value = append(t.Mode, mode), append(t.Value, value)
	return t
}

// Leaf adds a leaf that adds weights to targets 0, 1, and so on.
func (t *Trees) Leaf(tree, id int64, weights ...float64) *Trees {
	t.Branch(tree, id, 0, "LEAF", 0, 0, 0)
	for k, w := range weights {
		t.Weigh(tree, id, int64(k), w)
	}
	return t
}

// Weigh adds a weight.
func (t *Trees) Weigh(tree, id, target int64, w float64) *Trees {
	t.LeafTree, t.LeafID, t.Target, t.Weight = append(t.LeafTree, tree), append(t.LeafID, id), append(t.Target, target), append(t.Weight, w)
	return t
}

// Stump adds a tree of one split, feature <= value.
func (t *Trees) Stump(tree, feature int64, value, yes, no float64) *Trees {
	return t.Branch(tree, 0, feature, "BRANCH_LEQ", value, 1, 2).Leaf(tree, 1, yes).Leaf(tree, 2, no)
}

// Attrs are the attributes; weights is "target" or "class".
func (t *Trees) Attrs(weights string, more ...onnxpb.Attr) []onnxpb.Attr {
	modes := func() (*onnxpb.AttributeProto, error) {
		a := &onnxpb.AttributeProto{Name: "nodes_modes", Type: onnxpb.AttributeProto_STRINGS}
		for _, m := range t.Mode {
			a.Strings = append(a.Strings, []byte(m))
		}
		return a, nil
	}
	return append([]onnxpb.Attr{
		onnxpb.Ints("nodes_treeids", t.Tree...), onnxpb.Ints("nodes_nodeids", t.ID...), onnxpb.Ints("nodes_featureids", t.Feature...), modes,
		onnxpb.Floats("nodes_values", t.Value...), onnxpb.Ints("nodes_truenodeids", t.True...), onnxpb.Ints("nodes_falsenodeids", t.False...),
		onnxpb.Ints("nodes_missing_value_tracks_true", t.Missing...),
		onnxpb.Ints(weights+"_treeids", t.LeafTree...), onnxpb.Ints(weights+"_nodeids", t.LeafID...), onnxpb.Ints(weights+"_ids", t.Target...),
		onnxpb.Floats(weights+"_weights", t.Weight...),
	}, more...)
}

// Regressor adds a TreeEnsembleRegressor of x.
func (t *Trees) Regressor(b *onnxpb.Builder, x, y string, more ...onnxpb.Attr) {
	b.Import("ai.onnx.ml", 3)
	b.AddNodes("ai.onnx.ml", "TreeEnsembleRegressor", In(x), In(y), t.Attrs("target", more...)...)
}

// Five adds a TreeEnsemble of version 5: x[0] in {1, 2} ? 3 : x[1] <= 0.5 ? 4 : 5.
func Five(b *onnxpb.Builder, x, y string, more ...onnxpb.Attr) {
	b.Import("ai.onnx.ml", 5)
	b.AddNodes("ai.onnx.ml", "TreeEnsemble", In(x), In(y), append(FiveAttrs(), more...)...)
}

// FiveAttrs are the attributes of Five.
func FiveAttrs() []onnxpb.Attr {
	return []onnxpb.Attr{
		onnxpb.Ints("tree_roots", 0), onnxpb.Int("n_targets", 1), onnxpb.Ints("nodes_featureids", 0, 1),
		onnxpb.TensorAttr("nodes_splits", TFloat, []int{2}, 0, 0.5),
		onnxpb.TensorAttr("nodes_modes", onnxpb.TensorProto_INT32, []int{2}, int64(6), 0),
		onnxpb.Ints("nodes_truenodeids", 0, 1), onnxpb.Ints("nodes_trueleafs", 1, 1),
		onnxpb.Ints("nodes_falsenodeids", 1, 2), onnxpb.Ints("nodes_falseleafs", 0, 1),
		onnxpb.TensorAttr("membership_values", TFloat, []int{2}, 1, 2.0),
		onnxpb.Ints("leaf_targetids", 0, 0, 0), onnxpb.TensorAttr("leaf_weights", TFloat, []int{3}, 3, 4, 5.0),
	}
}
