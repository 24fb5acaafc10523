package tree

import (
	"math"
	"slices"
)

// Ensemble is a forest laid out to be walked. It is immutable and safe for concurrent
// use.
type Ensemble struct {
	Targets   int
	Trees     int // of the forest, constant ones included
	trees     []walked
	stretches []stretch // the trees as Sum goes through them
	stride    int       // between rows of float32 for trees that are walked down side by side; 0: none are
	single    bool      // numbers of x are of float32
	columns   []column
	sets      [][]float64
}

// column is a feature as nodes read it.
type column struct {
	feature int
	missing missing
}

// missing says what stands for NaN in a column.
type missing uint8

const (
	lowest  missing = iota // -Inf: x > t is false
	highest                // +Inf: x > t is true
	itself                 // NaN
)

// walked is one tree. The nodes of each level follow those of the level above, and
// children lie side by side: a row at node i goes to left + 1 if its number is above the
// threshold, else to left. A leaf leads to itself, so that all rows take the same number
// of steps.
type walked struct {
	nodes   []node
	value   []float64 // what a leaf adds, by node; nil if leaves may add to several targets
	target  int32     // that all leaves add to; -1: see rare
	depth   int32
	general bool // has other splits than x > t
	*rare
}

// rare is what a walk down a usual tree does not look at.
type rare struct {
	features []int32
	other    []rule  // of a general tree: one for each node
	to       []int32 // the target of each leaf, by node, if values have different ones
	// Without values: what node i adds is weights[span[i]:span[i+1]].
	span    []int32
	weights []Weight
	cut     bool // a target has some of the leaves only
}

type node struct {
	threshold float64
	column    uint32
	left      uint32
}

// rule is a split that is not just x > t.
type rule struct {
	split   split
	missing bool
	set     int32
}

// New lays out a forest, which Check has accepted.
func New(f *Forest) *Ensemble {
	e := &Ensemble{Targets: f.Targets, Trees: len(f.Roots), single: f.Single, sets: f.Sets}
	index := map[column]uint32{}
	r := &reducer{forest: f, known: map[int32]bounds{}}
	e.trees = make([]walked, 0, len(f.Roots))
	nodes, values := make([]node, 0, len(f.Nodes)), make([]float64, 0, len(f.Nodes)) // of all trees, one behind the other
	for _, root := range f.Roots {
		r.nodes = r.nodes[:0]
		clear(r.known)
		top := r.reduce(root)
		t := e.layOut(r, top, index, nodes[len(nodes):])
		nodes = nodes[:len(nodes)+len(t.nodes)]
		if t.value != nil {
			values = append(values, t.value...)
			t.value = values[len(values)-len(t.value) : len(values) : len(values)]
		}
		e.trees = append(e.trees, t)
	}
	e.stretch()
	return e
}

// layOut numbers the nodes level by level, behind those of other trees.
func (e *Ensemble) layOut(r *reducer, top int32, index map[column]uint32, nodes []node) walked {
	t := walked{nodes: nodes, rare: &rare{}}
	level := []int32{top}
	t.general = slices.ContainsFunc(r.nodes, func(n reduced) bool { return n.split != leaf && n.split != above })
	var order []int32
	for ; len(level) > 0; t.depth++ {
		var below []int32
		at := uint32(len(order) + len(level))
		for _, i := range level {
			n := &r.nodes[i]
			w := node{threshold: math.Inf(1), left: uint32(len(order))}
			if n.split != leaf {
				w = node{n.value, e.column(n, t.general, index), at + uint32(len(below))}
				below = append(below, n.left, n.right)
				t.features = append(t.features, n.feature)
			}
			order = append(order, i)
			t.nodes = append(t.nodes, w)
			if t.general {
				t.other = append(t.other, rule{n.split, n.missing, n.set})
			}
		}
		level = below
	}
	t.depth--
	t.nodes = slices.Clip(t.nodes)
	slices.Sort(t.features)
	t.features = slices.Clip(slices.Compact(t.features))
	t.addLeaves(r, order)
	return t
}

func (e *Ensemble) column(n *reduced, general bool, index map[column]uint32) uint32 {
	c := column{int(n.feature), lowest}
	switch {
	case general:
		c.missing = itself
	case n.missing:
		c.missing = highest
	}
	k, ok := index[c]
	if !ok {
		k = uint32(len(e.columns))
		index[c] = k
		e.columns = append(e.columns, c)
	}
	return k
}

// addLeaves keeps what the leaves add.
func (t *walked) addLeaves(r *reducer, order []int32) {
	t.keep(func(yield func(node int, w Weight)) {
		for k, i := range order {
			if n := &r.nodes[i]; n.split == leaf {
				for _, w := range r.forest.Weights[n.from:n.to] {
					yield(k, w)
				}
			}
		}
	})
}

// keep holds the weights that each lists, by node, in the form that is added fastest.
func (t *walked) keep(each func(yield func(node int, w Weight))) {
	count := make([]int32, len(t.nodes)+1)
	target, several, total := int32(-1), false, 0
	each(func(node int, w Weight) {
		count[node]++
		total++
		several = several || target >= 0 && target != w.Target
		target = w.Target
	})
	one := true
	for k := range t.nodes {
		one = one && (t.nodes[k].left != uint32(k) || count[k] == 1)
	}
	if t.target = -1; !one {
		t.span, t.weights = make([]int32, 1, len(t.nodes)+1), make([]Weight, 0, total)
		for k := range t.nodes {
			t.span = append(t.span, t.span[k]+count[k])
		}
		each(func(_ int, w Weight) { t.weights = append(t.weights, w) })
		return
	}
	t.value = make([]float64, len(t.nodes))
	if several {
		t.to = make([]int32, len(t.nodes))
	} else {
		t.target = target
	}
	each(func(node int, w Weight) {
		if t.value[node] = w.Value; several {
			t.to[node] = w.Target
		}
	})
}

// at lists what the leaf at node k adds, in buf if there is one weight.
func (t *walked) at(k int, buf *[1]Weight) []Weight {
	switch {
	case t.value == nil:
		return t.weights[t.span[k]:t.span[k+1]]
	case t.to != nil:
		buf[0] = Weight{t.to[k], t.value[k]}
	default:
		buf[0] = Weight{t.target, t.value[k]}
	}
	return buf[:]
}

// eachLeaf calls yield with the leaves in order of nodes and what they add.
func (t *walked) eachLeaf(yield func(leaf, node int, weights []Weight)) {
	var buf [1]Weight
	leaf := 0
	for k := range t.nodes {
		if t.nodes[k].left == uint32(k) {
			yield(leaf, k, t.at(k, &buf))
			leaf++
		}
	}
}

// Len is the number of trees that are walked.
func (e *Ensemble) Len() int { return len(e.trees) }

// Features lists the features that tree i depends on, ascending: those of splits that
// some row reaches, and at which the tree takes different values.
func (e *Ensemble) Features(i int) []int32 { return e.trees[i].features }

// Leaves lists, for each leaf of tree i in the order of nodes, the features on the way
// to it: whether a row comes to it depends on no others.
func (e *Ensemble) Leaves(i int) (paths [][]int32) {
	t := &e.trees[i]
	above := make([][]int32, len(t.nodes))
	for k := range t.nodes {
		n := &t.nodes[k]
		if n.left == uint32(k) {
			paths = append(paths, above[k])
			continue
		}
		path, f := above[k], int32(e.columns[n.column].feature)
		if !slices.Contains(path, f) {
			path = append(slices.Clip(path), f)
		}
		above[n.left], above[n.left+1] = path, path
	}
	return paths
}

// TargetFeatures lists the features that each target depends on, ascending.
func (e *Ensemble) TargetFeatures() [][]int32 {
	out := make([][]int32, e.Targets)
	for i := range e.trees {
		t := &e.trees[i]
		if !t.cut {
			for _, k := range t.targets() {
				out[k] = append(out[k], t.features...)
			}
			continue
		}
		paths := e.Leaves(i)
		t.eachLeaf(func(leaf, _ int, weights []Weight) {
			for _, w := range weights {
				out[w.Target] = append(out[w.Target], paths[leaf]...)
			}
		})
	}
	for k := range out {
		slices.Sort(out[k])
		out[k] = slices.Compact(out[k])
	}
	return out
}

// targets lists the targets that t adds to, ascending.
func (t *walked) targets() []int32 {
	if t.target >= 0 {
		return []int32{t.target}
	}
	var out []int32
	t.eachLeaf(func(_, _ int, weights []Weight) {
		for _, w := range weights {
			out = append(out, w.Target)
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// Presence says in how many rows some tree adds to a target.
type Presence uint8

// Never: no leaf adds to it. Sometimes: it hangs on the leaves that a row comes to.
const (
	Never Presence = iota
	Sometimes
	Always
)

// Presence is that of each target.
func (e *Ensemble) Presence() []Presence {
	out := make([]Presence, e.Targets)
	for i := range e.trees {
		t := &e.trees[i]
		if t.target >= 0 {
			out[t.target] = Always
			continue
		}
		leaves, last, count := 0, map[int32]int{}, map[int32]int{}
		t.eachLeaf(func(leaf, _ int, weights []Weight) {
			leaves = leaf + 1
			for _, w := range weights {
				if last[w.Target] != leaves {
					last[w.Target] = leaves
					count[w.Target]++
				}
			}
		})
		for target, n := range count {
			switch {
			case n == leaves:
				out[target] = Always
			case out[target] == Never:
				out[target] = Sometimes
			}
		}
	}
	return out
}
