package tree

import (
	"math"
	"slices"
)

// joinEquals makes one node of a chain that asks whether a feature is one number, else
// whether it is the next, and so on, with one true child for all: that is how exporters
// write sets of categories. It marks the nodes that are not needed any more.
func (f *Forest) joinEquals() (joined []bool) {
	joined = slices.Grow(f.joined[:0], len(f.Nodes))[:len(f.Nodes)]
	clear(joined)
	f.joined = joined
	parent := f.onlyParents()
	follows := func(i int32) bool { // the question of its only parent, which it is asked after
		p := parent[i]
		return p >= 0 && f.Nodes[i].Mode == EQ && f.Nodes[p].Mode == EQ && f.Nodes[p].False == i && f.Nodes[p].True != i &&
			f.Nodes[p].Feature == f.Nodes[i].Feature && f.Nodes[p].True == f.Nodes[i].True
	}
	var heads []int32
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Mode != EQ || follows(int32(i)) || !follows(n.False) {
			continue
		}
		set, next := []float64{n.Value}, n.False
		for ; next != int32(i) && follows(next) && !joined[next]; next = f.Nodes[next].False {
			joined[next] = true
			set = append(set, f.Nodes[next].Value)
			n.MissingTrue = n.MissingTrue || f.Nodes[next].MissingTrue
		}
		set = slices.DeleteFunc(set, math.IsNaN) // equal to nothing
		slices.Sort(set)
		n.False, n.Set = next, int32(len(f.Sets))
		f.Sets = append(f.Sets, set)
		heads = append(heads, int32(i))
	}
	for _, i := range heads {
		f.Nodes[i].Mode = Member
	}
	return joined
}

// onlyParents is the node that has i as a child, -1 if none or several have, or i is a
// root.
func (f *Forest) onlyParents() []int32 {
	const none, several = -1, -2
	parent := slices.Grow(f.parents[:0], len(f.Nodes))[:len(f.Nodes)]
	f.parents = parent
	for i := range parent {
		parent[i] = none
	}
	for i := range f.Nodes {
		if n := &f.Nodes[i]; n.Mode != Leaf {
			for _, child := range [...]int32{n.True, n.False} {
				if parent[child] == none {
					parent[child] = int32(i)
				} else {
					parent[child] = several
				}
			}
		}
	}
	for _, root := range f.Roots {
		parent[root] = several
	}
	return parent
}
