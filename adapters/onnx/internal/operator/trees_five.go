package operator

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/internal/tree"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// checkTreeEnsemble: version 5, where inner nodes and leaves have lists of their own.
func checkTreeEnsemble(c *graph.Check) error {
	if err := checkTreeInput(c); err != nil {
		return err
	}
	if err := c.Floating(0); err != nil {
		return err
	}
	targets, err := treeTargets(c)
	if err != nil {
		return err
	}
	f, err := readTreeEnsemble(c, targets)
	if err != nil {
		return err
	}
	t := &Trees{}
	name := func(attr string, def int64, of []string) string {
		if k := c.AttrInt(attr, def); k >= 0 && k < int64(len(of)) {
			return of[k]
		}
		return fmt.Sprint(c.AttrInt(attr, def))
	}
	err = t.checkPost(name("aggregate_function", 1, []string{"AVERAGE", "SUM", "MIN", "MAX"}),
		name("post_transform", 0, []string{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}), targets)
	if err != nil {
		return err
	}
	t.oneTarget(targets)
	if err := treeWork(c, f); err != nil {
		return err
	}
	t.Ensemble = tree.New(f)
	return t.finish(c, c.Inputs[0].Type, targets)
}

// Give lets nodes of TreeEnsemble take their trees from sums, and nodes of TextNumbers their functions from texts, by
// the name of the node. The attributes, which say the same in a file, are not looked at.
func (t Table[T]) Give(sums map[string]*tree.Sum, texts map[string]func(string) float64) {
	t.giveTexts(texts)
	e := *t["ai.onnx.ml.TreeEnsemble"]
	e.Check = func(c *graph.Check) error {
		s := sums[c.Name]
		if s == nil {
			return checkTreeEnsemble(c)
		}
		if err := errors.Join(checkTreeInput(c), c.MultiplyAdds([]int{s.Nodes}, 1)); err != nil {
			return err
		}
		given := &Trees{Ensemble: s.Ensemble, Aggregate: "SUM", Transform: "NONE", Base: s.Base, Rounded: s.Rounded}
		return given.finish(c, c.Inputs[0].Type, s.Targets)
	}
	t[e.Key()] = &e
}

// readTreeEnsemble makes of each reference to a leaf a leaf of its own: files share them.
func readTreeEnsemble(c *graph.Check, targets int) (*tree.Forest, error) {
	n := len(c.Attrs["nodes_featureids"].Ints)
	if n == 0 {
		return nil, errNoTrees
	}
	splits, err := treeTensor(c.Attrs["nodes_splits"].Tensor, "nodes_splits")
	if err != nil {
		return nil, err
	}
	weights, err := treeTensor(c.Attrs["leaf_weights"].Tensor, "leaf_weights")
	if err != nil {
		return nil, err
	}
	ids := c.Attrs["leaf_targetids"].Ints
	modes := c.Attrs["nodes_modes"].Tensor
	missing := c.Attrs["nodes_missing_value_tracks_true"].Ints
	if modes == nil || modes.Type.Floating() || len(modes.I) != n {
		return nil, fmt.Errorf("nodes_modes must be a tensor of %d small integers, one for each node", n)
	}
	if len(splits) != n || n > math.MaxInt32/4 {
		return nil, fmt.Errorf("nodes_splits has %d entries, nodes_featureids %d", len(splits), n)
	}
	if len(weights) != len(ids) {
		return nil, fmt.Errorf("leaf_weights has %d entries, leaf_targetids %d", len(weights), len(ids))
	}
	if len(missing) != 0 && len(missing) != n {
		return nil, fmt.Errorf("nodes_missing_value_tracks_true has %d entries, nodes_featureids %d", len(missing), n)
	}
	f := &tree.Forest{Targets: targets, Single: readsSingle(c.Inputs[0].Type), Name: func(i int32) string {
		if int(i) >= n {
			return "a leaf"
		}
		return fmt.Sprintf("node %d", i)
	}}
	for i, w := range weights {
		if ids[i] < 0 || ids[i] >= int64(targets) {
			return nil, fmt.Errorf("leaf %d adds to target %d of %d", i, ids[i], targets)
		}
		f.Weights = append(f.Weights, tree.Weight{Target: int32(ids[i]), Value: w})
	}
	f.Nodes = make([]tree.Node, n)
	index := &treeIndex{tree: make([]int64, n), node: make([]int64, n)}
	for i := range f.Nodes {
		index.node[i] = int64(i)
		at := tree.Node{Mode: tree.Leaf, Value: splits[i], MissingTrue: len(missing) > 0 && missing[i] == 1}
		if m := modes.I[i]; m >= 0 && m < int64(tree.Leaf) {
			at.Mode = tree.Mode(m)
		} else {
			return nil, fmt.Errorf("node %d has mode %d; modes are 0 to %d", i, m, tree.Leaf-1)
		}
		if at.Feature, err = index.feature(int32(i), c.Attrs["nodes_featureids"].Ints[i], c.Inputs[0]); err != nil {
			return nil, err
		}
		if at.True, err = leafOrNode(f, c, i, "true"); err != nil {
			return nil, err
		}
		if at.False, err = leafOrNode(f, c, i, "false"); err != nil {
			return nil, err
		}
		f.Nodes[i] = at
	}
	if err := treeSets(f, c, n); err != nil {
		return nil, err
	}
	return f, treeRoots(f, c, n)
}

// leafOrNode is the child of node i on that side; a leaf is added to the forest.
func leafOrNode(f *tree.Forest, c *graph.Check, i int, side string) (int32, error) {
	inner := len(c.Attrs["nodes_featureids"].Ints)
	ids, leafs := c.Attrs["nodes_"+side+"nodeids"].Ints, c.Attrs["nodes_"+side+"leafs"].Ints
	if len(ids) != inner || len(leafs) != inner {
		return 0, fmt.Errorf("nodes_%snodeids has %d entries and nodes_%sleafs %d, nodes_featureids %d", side, len(ids), side, len(leafs), inner)
	}
	limit, what := inner, "nodes"
	if leafs[i] != 0 {
		limit, what = len(f.Weights), "leaves"
	}
	if ids[i] < 0 || ids[i] >= int64(limit) {
		return 0, fmt.Errorf("node %d has the %s child %d of %d %s", i, side, ids[i], limit, what)
	}
	if leafs[i] == 0 {
		return int32(ids[i]), nil
	}
	f.Nodes = append(f.Nodes, tree.Node{Mode: tree.Leaf, From: int32(ids[i]), To: int32(ids[i]) + 1})
	return int32(len(f.Nodes) - 1), nil
}

// treeSets gives each node of mode MEMBER its set: they follow each other, with NaN
// between them.
func treeSets(f *tree.Forest, c *graph.Check, inner int) error {
	members, err := treeTensor(c.Attrs["membership_values"].Tensor, "membership_values")
	if err != nil {
		return err
	}
	for i := range inner {
		if f.Nodes[i].Mode != tree.Member {
			continue
		}
		if len(members) == 0 {
			return fmt.Errorf("node %d asks whether its feature is in a set, and membership_values has no set left for it", i)
		}
		end := slices.IndexFunc(members, math.IsNaN)
		if end < 0 {
			end = len(members)
		}
		set := slices.Clone(members[:end])
		slices.Sort(set)
		f.Nodes[i].Set = int32(len(f.Sets))
		f.Sets = append(f.Sets, set)
		members = members[min(end+1, len(members)):]
	}
	if len(members) > 0 {
		return fmt.Errorf("membership_values has more sets than nodes of mode MEMBER")
	}
	return nil
}

func treeRoots(f *tree.Forest, c *graph.Check, inner int) error {
	roots := c.Attrs["tree_roots"].Ints
	if len(roots) == 0 {
		return fmt.Errorf("tree_roots is empty")
	}
	for i, r := range roots {
		if r < 0 || r >= int64(inner) {
			return fmt.Errorf("tree %d has its root at node %d of %d", i, r, inner)
		}
		f.Roots = append(f.Roots, int32(r))
	}
	return nil
}
