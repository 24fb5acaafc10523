package tree

import (
	"cmp"
	"slices"
)

// Part is a share of an ensemble: the leaves of one group, as far as they add to one
// target.
type Part struct {
	Group, Target int
	Trees         int // that have such leaves
}

// Split is e with a target of its own for each part. groups gives the group of each of
// the Leaves of tree i, one for all leaves if it gives one, or none if the tree is to be
// left out. Parts are in the order of groups, then of targets; a part's sum is over its
// trees in their order.
func (e *Ensemble) Split(groups func(i int) []int) (*Ensemble, []Part) {
	index, parts := e.parts(groups)
	out := &Ensemble{Targets: len(parts), Trees: e.Trees, single: e.single, columns: e.columns, sets: e.sets}
	order := make([]int, 0, len(e.trees))
	for i := range e.trees {
		if len(groups(i)) > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return groups(i)[0] - groups(j)[0] })
	for _, i := range order {
		t, of := e.trees[i], groups(i)
		if len(of) > 1 || t.target < 0 {
			t = e.redirect(i, of, index)
		} else {
			t.target = index[key{of[0], t.target}]
		}
		out.trees = append(out.trees, t)
	}
	out.stretch()
	return out, parts
}

// key is a part before parts are numbered.
type key struct {
	group  int
	target int32
}

func (e *Ensemble) parts(groups func(i int) []int) (map[key]int32, []Part) {
	trees, last := map[key]int{}, map[key]int{}
	for i := range e.trees {
		of := groups(i)
		if len(of) == 0 {
			continue
		}
		e.trees[i].eachLeaf(func(leaf, _ int, weights []Weight) {
			for _, w := range weights {
				if k := (key{groupOf(of, leaf), w.Target}); last[k] != i+1 {
					last[k] = i + 1
					trees[k]++
				}
			}
		})
	}
	var parts []Part
	for k, n := range trees {
		parts = append(parts, Part{k.group, int(k.target), n})
	}
	slices.SortFunc(parts, func(a, b Part) int { return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Target, b.Target)) })
	index := map[key]int32{}
	for i, p := range parts {
		index[key{p.Group, int32(p.Target)}] = int32(i)
	}
	return index, parts
}

// redirect is tree i with weights that add to parts.
func (e *Ensemble) redirect(i int, groups []int, index map[key]int32) walked {
	old := e.trees[i]
	t := walked{nodes: old.nodes, inner: old.inner, depth: old.depth, general: old.general, rare: &rare{features: old.features, other: old.other, cut: len(groups) > 1}}
	t.keep(nil, nil, func(yield func(node int, w Weight)) {
		old.eachLeaf(func(leaf, node int, weights []Weight) {
			for _, w := range weights {
				yield(node, Weight{index[key{groupOf(groups, leaf), w.Target}], w.Value})
			}
		})
	})
	return t
}

func groupOf(groups []int, leaf int) int { return groups[min(leaf, len(groups)-1)] }

// AddConstant adds to dst, by target, what the trees without a split add.
func (e *Ensemble) AddConstant(dst []float64) {
	for i := range e.trees {
		if t := &e.trees[i]; t.depth == 0 {
			t.add(dst, 0)
		}
	}
}

// Range is the least and the largest that each target may be, added up over the trees, each
// of which takes one of its leaves. Constants are not among them: see AddConstant.
func (e *Ensemble) Range() (least, most []float64) {
	least, most = make([]float64, e.Targets), make([]float64, e.Targets)
	for i := range e.trees {
		t := &e.trees[i]
		targets := t.targets()
		lo, hi := map[int32]float64{}, map[int32]float64{}
		t.eachLeaf(func(leaf, _ int, weights []Weight) {
			for _, k := range targets {
				x := 0.0
				for _, w := range weights {
					if w.Target == k {
						x += w.Value
					}
				}
				if leaf == 0 {
					lo[k], hi[k] = x, x
				}
				lo[k], hi[k] = min(lo[k], x), max(hi[k], x)
			}
		})
		for k := range lo {
			least[k], most[k] = least[k]+lo[k], most[k]+hi[k]
		}
	}
	return least, most
}
