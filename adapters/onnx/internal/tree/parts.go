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
	out := &Ensemble{Targets: len(parts), Trees: e.Trees, columns: e.columns, sets: e.sets}
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
		e.eachWeight(i, of, func(_, group int, w Weight) {
			if k := (key{group, w.Target}); last[k] != i+1 {
				last[k] = i + 1
				trees[k]++
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

// eachWeight calls yield with the weights of the leaves of tree i, their nodes and groups.
func (e *Ensemble) eachWeight(i int, groups []int, yield func(node, group int, w Weight)) {
	t, leaf := &e.trees[i], 0
	for k := range t.nodes {
		if t.nodes[k].left != uint32(k) {
			continue
		}
		group := groups[min(leaf, len(groups)-1)]
		leaf++
		if t.target >= 0 {
			yield(k, group, Weight{t.target, t.value[k]})
			continue
		}
		for _, w := range t.weights[t.span[k]:t.span[k+1]] {
			yield(k, group, w)
		}
	}
}

// redirect is tree i with weights that add to parts.
func (e *Ensemble) redirect(i int, groups []int, index map[key]int32) walked {
	t := e.trees[i]
	own := &rare{features: t.features, other: t.other, cut: len(groups) > 1, span: make([]int32, 0, len(t.nodes)+1)}
	e.eachWeight(i, groups, func(node, group int, w Weight) {
		for len(own.span) <= node {
			own.span = append(own.span, int32(len(own.weights)))
		}
		own.weights = append(own.weights, Weight{index[key{group, w.Target}], w.Value})
	})
	for len(own.span) <= len(t.nodes) {
		own.span = append(own.span, int32(len(own.weights)))
	}
	t.rare, t.value, t.target = own, nil, -1
	return t
}

// AddConstant adds to dst, by target, what the trees without a split add.
func (e *Ensemble) AddConstant(dst []float64) {
	for i := range e.trees {
		if e.trees[i].depth == 0 {
			e.eachWeight(i, []int{0}, func(_, _ int, w Weight) { dst[w.Target] += w.Value })
		}
	}
}
