package onnx

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Ensembles that are none: the error names the node, the tree and what in it.
func TestHostileTrees(t *testing.T) {
	const old = "ai.onnx.ml.TreeEnsembleRegressor"
	type trees = graphtest.Trees
	stump := func() *trees { return new(trees).Stump(4, 0, 0.5, 1, 2) }
	regressor := func(tr *trees, more ...onnxpb.Attr) func(b *onnxpb.Builder) {
		return func(b *onnxpb.Builder) { tr.Regressor(b, "x", "y", more...) }
	}
	classifier := func(tr *trees, more ...onnxpb.Attr) func(b *onnxpb.Builder) {
		return func(b *onnxpb.Builder) {
			b.Import("ai.onnx.ml", 3)
			b.AddNodes("ai.onnx.ml", "TreeEnsembleClassifier", graphtest.In("x"), graphtest.In("", "y"), tr.Attrs("class", more...)...)
		}
	}
	five := func(name string, with ...onnxpb.Attr) func(b *onnxpb.Builder) {
		return func(b *onnxpb.Builder) {
			b.Import("ai.onnx.ml", 5)
			var attrs []onnxpb.Attr
			for _, a := range graphtest.FiveAttrs() {
				if p, _ := a(); p.Name != name {
					attrs = append(attrs, a)
				}
			}
			b.AddNodes("ai.onnx.ml", "TreeEnsemble", graphtest.In("x"), graphtest.In("y"), append(attrs, with...)...)
		}
	}
	change := func(f func(tr *trees)) func(b *onnxpb.Builder) {
		tr := stump()
		f(tr)
		return regressor(tr)
	}
	bytesOf := func(v ...int64) onnxpb.Attr {
		return onnxpb.TensorAttr("nodes_modes", onnxpb.TensorProto_INT32, []int{len(v)}, v...)
	}
	for _, c := range []struct {
		name, op string
		nodes    func(b *onnxpb.Builder)
		want     string
	}{
		{"nothing", old, regressor(new(trees)), "has no nodes"},
		{"cycle", old, regressor(new(trees).Branch(2, 0, 0, "BRANCH_LEQ", 0, 1, 2).Branch(2, 1, 1, "BRANCH_LT", 0, 0, 3).Leaf(2, 2, 1).Leaf(2, 3, 1)), "tree 2, node 0 is reached twice, from tree 2, node 1 again: the nodes form a cycle"},
		{"its own child", old, change(func(tr *trees) { tr.True[0] = 0 }), "tree 4, node 0 is reached twice, from tree 4, node 0 again"},
		{"shared child", old, change(func(tr *trees) { tr.True[0] = 2 }), "tree 4, node 2 is reached twice"},
		{"unreachable", old, regressor(stump().Leaf(4, 9, 1)), "tree 4, node 9 cannot be reached"},
		{"root not first", old, regressor(new(trees).Leaf(1, 1, 1).Leaf(1, 2, 1).Branch(1, 0, 0, "BRANCH_LEQ", 0, 1, 2)), "tree 1, node 2 cannot be reached"},
		{"child that is not there", old, change(func(tr *trees) { tr.False[0] = 1 << 40 }), "tree 4, node 0 has the false child 1099511627776, which its tree does not have"},
		{"negative child", old, change(func(tr *trees) { tr.True[0] = -1 }), "tree 4, node 0 has the true child -1"},
		{"child in another tree", old, regressor(stump().Branch(5, 0, 0, "BRANCH_LEQ", 0, 7, 8).Leaf(6, 7, 1).Leaf(6, 8, 1)), "tree 5, node 0 has the true child 7, which its tree does not have"},
		{"twice", old, regressor(stump().Leaf(4, 2, 1)), "tree 4, node 2 is given twice"},
		{"torn apart", old, regressor(stump().Stump(5, 0, 1, 1, 2).Leaf(4, 3, 1)), "tree 4, node 3 stands apart from the other nodes of its tree"},
		{"feature beyond", old, change(func(tr *trees) { tr.Feature[0] = 3 }), `tree 4, node 0 splits feature 3, and input 0 ("x") has 3 features`},
		{"feature negative", old, change(func(tr *trees) { tr.Feature[0] = -1 }), `tree 4, node 0 splits feature -1`},
		{"feature huge", old, change(func(tr *trees) { tr.Feature[0] = 1 << 62 }), `tree 4, node 0 splits feature 4611686018427387904`},
		{"mode", old, change(func(tr *trees) { tr.Mode[0] = "BRANCH_MAYBE" }), `tree 4, node 0 has mode "BRANCH_MAYBE"`},
		{"short list", old, change(func(tr *trees) { tr.Value = tr.Value[:2] }), "nodes_values has 2 entries, nodes_treeids 3"},
		{"short missing", old, change(func(tr *trees) { tr.Missing = []int64{1} }), "nodes_missing_value_tracks_true has 1 entries, nodes_treeids 3"},
		{"weight of a branch", old, change(func(tr *trees) { tr.Weigh(4, 0, 0, 1) }), "target_weights has an entry for tree 4, node 0, which is no leaf"},
		{"weight of nobody", old, change(func(tr *trees) { tr.Weigh(3, 1, 0, 1) }), "target_weights has an entry for tree 3, node 1, which is not there"},
		{"target beyond", old, change(func(tr *trees) { tr.Weigh(4, 1, 1, 1) }), "tree 4, node 1 adds to target 1 of 1"},
		{"target negative", old, change(func(tr *trees) { tr.Weigh(4, 1, -1, 1) }), "tree 4, node 1 adds to target -1 of 1"},
		{"short weights", old, change(func(tr *trees) { tr.Target = tr.Target[:1] }), "target_weights has 2 entries, target_treeids 2, target_nodeids 2, target_ids 1"},
		{"no targets", old, regressor(stump(), onnxpb.Int("n_targets", 0)), "n_targets is 0"},
		{"targets without end", old, regressor(stump(), onnxpb.Int("n_targets", 1<<40)), "n_targets is 1099511627776; at most 1048576 are supported"},
		{"many targets", old, regressor(stump(), onnxpb.Int("n_targets", 1<<31-1)), "n_targets is 2147483647; at most 1048576 are supported"},
		{"base values", old, regressor(stump(), onnxpb.Floats("base_values", 1, 2)), "2 base_values for 1 targets"},
		{"aggregate", old, regressor(stump(), onnxpb.Text("aggregate_function", "MEDIAN")), `unknown aggregate_function "MEDIAN"`},
		{"transform", old, regressor(stump(), onnxpb.Text("post_transform", "CLOGLOG")), `unknown post_transform "CLOGLOG"`},
		{"values twice", old, regressor(stump(), onnxpb.TensorAttr("nodes_values_as_tensor", graphtest.TFloat, []int{3}, 1, 2, 3.0)), "nodes_values and nodes_values_as_tensor are both given"},
		{"no values", old, change(func(tr *trees) { tr.Value = nil }), "nodes_values has 0 entries, nodes_treeids 3"},
		{"one class", "ai.onnx.ml.TreeEnsembleClassifier", classifier(stump(), onnxpb.Ints("classlabels_int64s", 1)), "has 1 labels that are numbers and 0 that are text"},
		{"class beyond", "ai.onnx.ml.TreeEnsembleClassifier", classifier(stump().Weigh(4, 1, 2, 1), onnxpb.Ints("classlabels_int64s", 1, 2)), "tree 4, node 1 adds to class 2 of 2"},
		{"class base values", "ai.onnx.ml.TreeEnsembleClassifier", classifier(stump(), onnxpb.Ints("classlabels_int64s", 1, 2, 3), onnxpb.Floats("base_values", 1)), "1 base_values for 3 classes"},
		{"leaf beyond", "ai.onnx.ml.TreeEnsemble", five("nodes_truenodeids", onnxpb.Ints("nodes_truenodeids", 3, 1)), "node 0 has the true child 3 of 3 leaves"},
		{"node beyond", "ai.onnx.ml.TreeEnsemble", five("nodes_falsenodeids", onnxpb.Ints("nodes_falsenodeids", 2, 2)), "node 0 has the false child 2 of 2 nodes"},
		{"cycle of five", "ai.onnx.ml.TreeEnsemble", five("nodes_falsenodeids", onnxpb.Ints("nodes_falsenodeids", 0, 2)), "node 0 is reached twice, from node 0 again"},
		{"root beyond", "ai.onnx.ml.TreeEnsemble", five("tree_roots", onnxpb.Ints("tree_roots", 2)), "tree 0 has its root at node 2 of 2"},
		{"no roots", "ai.onnx.ml.TreeEnsemble", five("tree_roots"), "tree_roots is empty"},
		{"root inside", "ai.onnx.ml.TreeEnsemble", five("tree_roots", onnxpb.Ints("tree_roots", 0, 1)), "node 1 is the root of a tree and belongs to another one"},
		{"root twice", "ai.onnx.ml.TreeEnsemble", five("tree_roots", onnxpb.Ints("tree_roots", 0, 0)), "node 0 is the root of a tree and belongs to another one"},
		{"unreachable of five", "ai.onnx.ml.TreeEnsemble", five("tree_roots", onnxpb.Ints("tree_roots", 1)), "node 0 cannot be reached"},
		{"modes of five", "ai.onnx.ml.TreeEnsemble", five("nodes_modes", bytesOf(6, 7)), "node 1 has mode 7; modes are 0 to 6"},
		{"few modes", "ai.onnx.ml.TreeEnsemble", five("nodes_modes", bytesOf(6)), "nodes_modes must be a tensor of 2 small integers"},
		{"set missing", "ai.onnx.ml.TreeEnsemble", five("membership_values"), "node 0 asks whether its feature is in a set"},
		{"set too many", "ai.onnx.ml.TreeEnsemble", five("nodes_modes", bytesOf(0, 0)), "membership_values has more sets than nodes of mode MEMBER"},
		{"aggregate of five", "ai.onnx.ml.TreeEnsemble", five("", onnxpb.Int("aggregate_function", -1)), `unknown aggregate_function "-1"`},
		{"axis", old, func(b *onnxpb.Builder) {
			b.AddInts("axes", 2)
			b.AddNode("Unsqueeze", graphtest.In("x", "axes"), "u")
			stump().Regressor(b, "u", "y")
		}, `input 0 ("u") must have shape [N, features], has [N 3 1]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := graphtest.Bytes(t, graphtest.Model(17, c.nodes))
			_, err := Load(bytes.NewReader(file), nil)
			if want := `onnx: node "y" (` + c.op + "): " + c.want; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want\n%s", err, want)
			}
		})
	}
}
