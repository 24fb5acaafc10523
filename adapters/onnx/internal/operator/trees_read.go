package operator

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/internal/tree"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// treeNumbers reads floats that are given as a list or, since version 3, as a tensor.
func treeNumbers(c *graph.Check, name string) ([]float64, error) {
	list, ok := c.Attrs[name]
	tensor := c.Attrs[name+"_as_tensor"].Tensor
	if tensor == nil {
		return list.Floats, nil
	}
	if ok && len(list.Floats) > 0 {
		return nil, fmt.Errorf("%s and %s_as_tensor are both given", name, name)
	}
	return treeTensor(tensor, name+"_as_tensor")
}

func treeTensor(t *graph.Tensor, name string) ([]float64, error) {
	if t == nil {
		return nil, nil
	}
	if !t.Type.Floating() || len(t.Shape) > 1 {
		return nil, fmt.Errorf("%s must be a vector of float or double, is %s %v", name, t.Type, t.Shape)
	}
	return t.F, nil
}

// treeIndex is where a file's numbers of trees and nodes are.
type treeIndex struct {
	tree, node []int64
	at         map[[2]int64]int32
}

func (x *treeIndex) name(i int32) string {
	return fmt.Sprintf("tree %d, node %d", x.tree[i], x.node[i])
}

var treeModes = map[string]tree.Mode{
	"BRANCH_LEQ": tree.LEQ, "BRANCH_LT": tree.LT, "BRANCH_GTE": tree.GTE, "BRANCH_GT": tree.GT, "BRANCH_EQ": tree.EQ, "BRANCH_NEQ": tree.NEQ, "LEAF": tree.Leaf,
}

// readForest reads the nodes of TreeEnsembleRegressor and TreeEnsembleClassifier, whose
// weights are the attributes that begin with weights ("target" or "class").
func readForest(c *graph.Check, weights string, targets int) (*tree.Forest, error) {
	x := &treeIndex{tree: c.Attrs["nodes_treeids"].Ints, node: c.Attrs["nodes_nodeids"].Ints}
	n := len(x.tree)
	if n == 0 {
		return nil, errNoTrees
	}
	if n > math.MaxInt32/2 {
		return nil, fmt.Errorf("has %d nodes, more than are supported", n)
	}
	values, err := treeNumbers(c, "nodes_values")
	if err != nil {
		return nil, err
	}
	modes, missing := c.Attrs["nodes_modes"].Strings, c.Attrs["nodes_missing_value_tracks_true"].Ints
	features, yes, no := c.Attrs["nodes_featureids"].Ints, c.Attrs["nodes_truenodeids"].Ints, c.Attrs["nodes_falsenodeids"].Ints
	for _, l := range []struct {
		name string
		n    int
	}{{"nodes_nodeids", len(x.node)}, {"nodes_values", len(values)}, {"nodes_modes", len(modes)}, {"nodes_featureids", len(features)},
		{"nodes_truenodeids", len(yes)}, {"nodes_falsenodeids", len(no)}} {
		if l.n != n {
			return nil, fmt.Errorf("%s has %d entries, nodes_treeids %d", l.name, l.n, n)
		}
	}
	if len(missing) != 0 && len(missing) != n {
		return nil, fmt.Errorf("nodes_missing_value_tracks_true has %d entries, nodes_treeids %d", len(missing), n)
	}
	if err := x.index(); err != nil {
		return nil, err
	}
	f := &tree.Forest{Nodes: make([]tree.Node, n), Targets: targets, Single: readsSingle(c.Inputs[0].Type), Name: x.name}
	for i := range f.Nodes {
		at := &f.Nodes[i]
		if i == 0 || x.tree[i] != x.tree[i-1] {
			f.Roots = append(f.Roots, int32(i))
		}
		mode, ok := treeModes[modes[i]]
		if !ok {
			return nil, fmt.Errorf("%s has mode %q; a node is a LEAF or branches by BRANCH_LEQ, BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ or BRANCH_NEQ", x.name(int32(i)), modes[i])
		}
		if at.Mode = mode; mode == tree.Leaf {
			continue
		}
		if at.Feature, err = x.feature(int32(i), features[i], c.Inputs[0]); err != nil {
			return nil, err
		}
		at.Value, at.MissingTrue = values[i], len(missing) > 0 && missing[i] == 1
		if at.True, err = x.child(int32(i), yes[i], "true"); err != nil {
			return nil, err
		}
		if at.False, err = x.child(int32(i), no[i], "false"); err != nil {
			return nil, err
		}
	}
	return f, x.weights(f, c, weights)
}

// index finds nodes by their numbers; the nodes of a tree must stand together.
func (x *treeIndex) index() error {
	x.at = make(map[[2]int64]int32, len(x.tree))
	done := map[int64]bool{}
	for i, t := range x.tree {
		key := [2]int64{t, x.node[i]}
		if _, ok := x.at[key]; ok {
			return fmt.Errorf("%s is given twice", x.name(int32(i)))
		}
		x.at[key] = int32(i)
		if i > 0 && t == x.tree[i-1] {
			continue
		}
		if done[t] {
			return fmt.Errorf("%s stands apart from the other nodes of its tree: which is the root is not clear", x.name(int32(i)))
		}
		done[t] = true
	}
	return nil
}

func (x *treeIndex) feature(i int32, feature int64, in *graph.Value) (int32, error) {
	if feature < 0 || feature >= int64(in.Shape[1]) || feature > math.MaxInt32 {
		return 0, fmt.Errorf("%s splits feature %d, and input 0 (%q) has %d features", x.name(i), feature, in.Name, in.Shape[1])
	}
	return int32(feature), nil
}

func (x *treeIndex) child(i int32, node int64, which string) (int32, error) {
	at, ok := x.at[[2]int64{x.tree[i], node}]
	if !ok {
		return 0, fmt.Errorf("%s has the %s child %d, which its tree does not have", x.name(i), which, node)
	}
	return at, nil
}

// weights reads what the leaves add, sorted by leaf.
func (x *treeIndex) weights(f *tree.Forest, c *graph.Check, what string) error {
	trees, nodes, ids := c.Attrs[what+"_treeids"].Ints, c.Attrs[what+"_nodeids"].Ints, c.Attrs[what+"_ids"].Ints
	values, err := treeNumbers(c, what+"_weights")
	if err != nil {
		return err
	}
	if len(trees) != len(values) || len(nodes) != len(values) || len(ids) != len(values) {
		return fmt.Errorf("%s_weights has %d entries, %s_treeids %d, %s_nodeids %d, %s_ids %d", what, len(values), what, len(trees), what, len(nodes), what, len(ids))
	}
	leaf := make([]int32, len(values))
	for i := range values {
		at, ok := x.at[[2]int64{trees[i], nodes[i]}]
		switch {
		case !ok:
			return fmt.Errorf("%s_weights has an entry for tree %d, node %d, which is not there", what, trees[i], nodes[i])
		case f.Nodes[at].Mode != tree.Leaf:
			return fmt.Errorf("%s_weights has an entry for %s, which is no leaf", what, x.name(at))
		case ids[i] < 0 || ids[i] >= int64(f.Targets):
			return fmt.Errorf("%s adds to %s %d of %d", x.name(at), what, ids[i], f.Targets)
		}
		leaf[i] = at
	}
	order := make([]int32, len(values))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(i, j int32) int { return int(leaf[i]) - int(leaf[j]) })
	for k, i := range order {
		at := &f.Nodes[leaf[i]]
		if at.From == at.To {
			at.From = int32(k)
		}
		at.To = int32(k + 1)
		f.Weights = append(f.Weights, tree.Weight{Target: int32(ids[i]), Value: values[i]})
	}
	return nil
}
