package export

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/internal/onnxtree"
	"github.com/pho-go/pho/adapters/internal/tree"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// trees writes a forest over x as the version of ai.onnx.ml that the file imports has it, so
// that the node computes the sums of its targets: TreeEnsemble from version 5 on, which
// replaces TreeEnsembleRegressor.
func (c *columns) trees(name, x string, kind graph.DType, f *tree.Forest) (string, error) {
	version := c.imports("ai.onnx.ml", 1)
	if version >= 5 {
		if kind != graph.Float32 && kind != graph.Float64 {
			return "", fmt.Errorf("its trees read %s, and are written for float and double: export the network with one of these", kind)
		}
		return c.Node("ai.onnx.ml.TreeEnsemble", name, []string{x}, onnxtree.Attributes(f, kind == graph.Float64)...), nil
	}
	l := &treeLists{forest: f, double: kind == graph.Float64 && version >= 3, wide: kind == graph.Float64}
	for t, root := range f.Roots {
		l.add(int64(t), root, nextRoot(f, t))
	}
	if l.inexact {
		return "", fmt.Errorf("a tree compares a double with a threshold that float does not hold, as version %d of ai.onnx.ml has them: export the network with version 3", version)
	}
	return c.Node("ai.onnx.ml.TreeEnsembleRegressor", name, []string{x}, l.attributes()...), nil
}

// nextRoot is where the nodes of the tree end.
func nextRoot(f *tree.Forest, t int) int32 {
	if t+1 < len(f.Roots) {
		return f.Roots[t+1]
	}
	return int32(len(f.Nodes))
}

// treeLists are the attributes of TreeEnsembleRegressor.
type treeLists struct {
	forest                                   *tree.Forest
	double, wide                             bool // thresholds are double; features are
	inexact                                  bool
	trees, nodes, features, yes, no, missing []int64
	values                                   []float64
	modes                                    []string
	targetTrees, targetNodes, targetIDs      []int64
	weights                                  []float64
}

// modeNames is how files call modes; a set has none.
var modeNames = [...]string{tree.LEQ: "BRANCH_LEQ", tree.LT: "BRANCH_LT", tree.GTE: "BRANCH_GTE", tree.GT: "BRANCH_GT", tree.EQ: "BRANCH_EQ", tree.NEQ: "BRANCH_NEQ", tree.Leaf: "LEAF"}

// add lists the nodes from root up to end as those of tree t. A set becomes a chain of
// questions for its members with one true child, behind the tree's other nodes.
func (l *treeLists) add(t int64, root, end int32) {
	next := int64(end - root)
	for i := root; i < end; i++ {
		n := l.forest.Nodes[i]
		yes, no := int64(n.True-root), int64(n.False-root)
		switch n.Mode {
		case tree.Leaf:
			l.node(t, int64(i-root), n, 0, 0)
			for _, w := range l.forest.Weights[n.From:n.To] {
				l.targetTrees, l.targetNodes = append(l.targetTrees, t), append(l.targetNodes, int64(i-root))
				l.targetIDs, l.weights = append(l.targetIDs, int64(w.Target)), append(l.weights, w.Value)
			}
		case tree.Member:
			set := l.forest.Sets[n.Set]
			n.Mode = tree.EQ
			if len(set) == 0 {
				set = []float64{math.NaN()}
			}
			at := int64(i - root)
			for k, v := range set {
				n.Value = v
				to := no
				if k+1 < len(set) {
					to = next
				}
				l.node(t, at, n, yes, to)
				at, next, n.MissingTrue = next, next+int64(min(1, len(set)-1-k)), false
			}
		default:
			l.node(t, int64(i-root), n, yes, no)
		}
	}
}

func (l *treeLists) node(t, id int64, n tree.Node, yes, no int64) {
	missing := int64(0)
	if n.MissingTrue {
		missing = 1
	}
	l.trees, l.nodes, l.features = append(l.trees, t), append(l.nodes, id), append(l.features, int64(n.Feature))
	l.yes, l.no, l.missing = append(l.yes, yes), append(l.no, no), append(l.missing, missing)
	l.modes, l.values = append(l.modes, modeNames[n.Mode]), append(l.values, l.threshold(n))
}

// threshold is that of n in the type of the list. Features that are float are above a
// double exactly if they are above the float below it.
func (l *treeLists) threshold(n tree.Node) float64 {
	v := n.Value
	if n.Mode == tree.Leaf {
		return 0
	}
	if l.double {
		return v
	}
	below := onnxtree.Below(v)
	l.inexact = l.inexact || l.wide && below != v && !math.IsNaN(v)
	return below
}

func (l *treeLists) attributes() []onnxpb.Attr {
	attrs := []onnxpb.Attr{
		onnxpb.Ints("nodes_treeids", l.trees...), onnxpb.Ints("nodes_nodeids", l.nodes...), onnxpb.Ints("nodes_featureids", l.features...),
		onnxpb.Texts("nodes_modes", l.modes...), onnxpb.Ints("nodes_truenodeids", l.yes...), onnxpb.Ints("nodes_falsenodeids", l.no...),
		onnxpb.Ints("nodes_missing_value_tracks_true", l.missing...),
		onnxpb.Ints("target_treeids", l.targetTrees...), onnxpb.Ints("target_nodeids", l.targetNodes...), onnxpb.Ints("target_ids", l.targetIDs...),
		onnxpb.Int("n_targets", int64(l.forest.Targets)),
	}
	if l.double {
		double := onnxpb.TensorProto_DOUBLE
		return append(attrs, onnxpb.TensorAttr("nodes_values_as_tensor", double, []int{len(l.values)}, l.values...), onnxpb.TensorAttr("target_weights_as_tensor", double, []int{len(l.weights)}, l.weights...))
	}
	return append(attrs, onnxpb.Floats("nodes_values", l.values...), onnxpb.Floats("target_weights", l.weights...))
}
