package tree

import "slices"

// Part is a share of an ensemble: the trees of one group, as far as they add to one
// target.
type Part struct {
	Group, Target int
	Trees         int // how many
}

// Split is e with a target of its own for each part: group gives the group of tree i, or
// -1 if the tree is to be left out. Parts are in the order of groups, then of targets.
// What a part adds up is the sum over its trees in their order.
func (e *Ensemble) Split(group func(i int) int) (*Ensemble, []Part) {
	type key struct{ group, target int }
	count := map[key]int{}
	for i := range e.trees {
		if g := group(i); g >= 0 {
			for _, k := range e.trees[i].targets() {
				count[key{g, int(k)}]++
			}
		}
	}
	var parts []Part
	for k, n := range count {
		parts = append(parts, Part{k.group, k.target, n})
	}
	slices.SortFunc(parts, func(a, b Part) int {
		if a.Group != b.Group {
			return a.Group - b.Group
		}
		return a.Target - b.Target
	})
	index := map[key]int32{}
	for i, p := range parts {
		index[key{p.Group, p.Target}] = int32(i)
	}
	out := &Ensemble{Targets: len(parts), Trees: e.Trees, columns: e.columns, sets: e.sets}
	order := make([]int, 0, len(e.trees))
	for i := range e.trees {
		if group(i) >= 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return group(i) - group(j) })
	for _, i := range order {
		t, g := e.trees[i], group(i)
		if t.target >= 0 {
			t.target = index[key{g, int(t.target)}]
		} else {
			own := *t.rare
			own.weights = slices.Clone(t.weights)
			t.rare = &own
			for k := range t.weights {
				t.weights[k].Target = index[key{g, int(t.weights[k].Target)}]
			}
		}
		out.trees = append(out.trees, t)
	}
	return out, parts
}

// AddConstant adds to dst, by target, what the trees without a split add.
func (e *Ensemble) AddConstant(dst []float64) {
	for i := range e.trees {
		t := &e.trees[i]
		switch {
		case t.depth > 0:
		case t.target >= 0:
			dst[t.target] += t.value[0]
		default:
			for _, w := range t.weights {
				dst[w.Target] += w.Value
			}
		}
	}
}
