package boosters

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/internal/tree"
)

// TestDamagedXGBoostTrees: what a tree of XGBoost may hold and what not: x0 in {3, 5} ? 1 : 2, or its nodes otherwise.
func TestDamagedXGBoostTrees(t *testing.T) {
	whole := func() *xgboostTree {
		return &xgboostTree{
			left: []int32{1, -1, -1}, right: []int32{2, -1, -1}, feature: []int32{0, 0, 0}, missingLeft: []int32{1, 0, 0}, kind: []int32{1, 0, 0},
			condition: []float32{0, 2, 1}, categories: []int32{5, 3}, nodes: []int32{0}, segments: []int32{0}, sizes: []int32{2},
		}
	}
	for _, c := range []struct {
		name   string
		change func(t *xgboostTree)
		want   string
	}{
		{"whole", func(*xgboostTree) {}, ""},
		{"a number", func(t *xgboostTree) { t.kind, t.nodes, t.segments, t.sizes = nil, nil, nil, nil }, ""},
		{"no categories of its node", func(t *xgboostTree) { t.nodes[0] = 2 }, "node 0 splits categories and has none"},
		{"a list of another length", func(t *xgboostTree) { t.sizes = nil }, "categories_nodes has 1 entries, categories_segments 1, categories_sizes 0"},
		{"and the other", func(t *xgboostTree) { t.segments = nil }, "categories_nodes has 1 entries, categories_segments 0, categories_sizes 1"},
		{"categories from before the first", func(t *xgboostTree) { t.segments[0] = -1 }, "node 0 has 2 categories from -1 on, of 2"},
		{"fewer categories than none", func(t *xgboostTree) { t.sizes[0] = -1 }, "node 0 has -1 categories from 0 on, of 2"},
		{"categories from beyond the last", func(t *xgboostTree) { t.segments[0], t.sizes[0] = 3, 0 }, "node 0 has 0 categories from 3 on, of 2"},
		{"more categories than there are", func(t *xgboostTree) { t.segments[0] = 1 }, "node 0 has 2 categories from 1 on, of 2"},
		{"a child outside", func(t *xgboostTree) { t.right[0] = 3 }, "node 0 has the children 1 and 3 of 3 nodes, and splits feature 0"},
		{"a child before the first", func(t *xgboostTree) { t.left[0] = -2 }, "node 0 has the children -2 and 2 of 3 nodes"},
		{"no feature", func(t *xgboostTree) { t.feature[0] = -1 }, "and splits feature -1"},
		{"a child of two", func(t *xgboostTree) { t.left[1], t.right[1] = 2, 2 }, "node 1: the nodes share children, and form no tree"},
		{"vectors of too few numbers", func(t *xgboostTree) { t.width, t.nodeVectors = 2, []float32{1, 2, 3, 4} }, "leaf 2 has no vector of 2 numbers for 2 targets"},
		{"vectors of too many", func(t *xgboostTree) { t.width, t.nodeVectors = 3, make([]float32, 9) }, "leaf 1 has no vector of 3 numbers for 2 targets"},
	} {
		x, f := whole(), &tree.Forest{Targets: 2}
		c.change(x)
		err := x.add(f, 0, 1)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if c.name == "whole" && fmt.Sprint(f.Sets) != "[[3 5]]" {
			t.Errorf("categories %v", f.Sets)
		}
	}
}

// TestNamesOfNodes: messages name a node by its tree, of which the first may have been laid out before.
func TestNamesOfNodes(t *testing.T) {
	e := &ensemble{forest: &tree.Forest{Roots: []int32{0, 3, 4}}, before: 10}
	for node, want := range map[int32]string{0: "tree 10, node 0", 2: "tree 10, node 2", 3: "tree 11, node 0", 4: "tree 12, node 0", 6: "tree 12, node 2"} {
		if got := e.name(node); got != want {
			t.Errorf("node %d: %q, want %q", node, got, want)
		}
	}
}

// TestLightGBMSets: a set of categories is the bits of its words; a number that is none of the sets is refused.
func TestLightGBMSets(t *testing.T) {
	whole := &lightGBMTree{boundaries: []uint64{0, 1, 3}, bits: []uint64{5, 1 << 31, 2}}
	for _, c := range []struct {
		tree   *lightGBMTree
		number float64
		want   []float64 // nil: an error
	}{
		{whole, 0, []float64{0, 2}}, {whole, 1, []float64{31, 33}},
		{whole, -1, nil}, {whole, 2, nil}, {whole, 0.5, nil},
		{&lightGBMTree{boundaries: []uint64{2, 1}, bits: whole.bits}, 0, nil},
		{&lightGBMTree{boundaries: []uint64{0, 4}, bits: whole.bits}, 0, nil},
		{&lightGBMTree{boundaries: []uint64{0, 3}, bits: whole.bits}, 0, []float64{0, 2, 63, 65}},
	} {
		got, err := c.tree.set(c.number)
		if (err == nil) != (c.want != nil) || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("set %g of %v: %v, want %v (%v)", c.number, c.tree.boundaries, got, c.want, err)
		}
	}
}

// TestLightGBMScales: what an objective says of its scale is a positive number; without it, it is 1.
func TestLightGBMScales(t *testing.T) {
	for objective, want := range map[string]string{
		"binary sigmoid:2": "", "binary": "",
		"binary sigmoid:0": `sigmoid of objective "binary" is "0"`, "binary sigmoid:-1": `is "-1"`, "binary sigmoid:many": `is "many"`,
		"binary sigmoid:Inf": `is "Inf"`, "binary sigmoid:NaN": `is "NaN"`,
	} {
		l := &lightGBM{objective: strings.Fields(objective)}
		if err := l.respond(new(model)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", objective, err, want)
		}
	}
}
