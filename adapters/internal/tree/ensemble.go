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
// of steps. Of a complete tree, all leaves of which are on the last level, nodes has those with a split alone.
type walked struct {
	nodes   []node
	inner   uint32    // of a complete tree, the number of those; 0: nodes has the leaves, too
	value   []float64 // what a leaf adds, by node from inner on; nil if leaves may add to several targets
	target  int32     // that all leaves add to; -1: see rare
	depth   int32
	general bool // has other splits than x > t
	*rare
}

// rare is what a walk down a usual tree does not look at.
type rare struct {
	features []int32
	other    []rule  // of a general tree: one for each node
	to       []int32 // the target of each leaf, as value has them, if they have different ones
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
	b := NewBuilder(f.Single)
	b.Add(f)
	return b.Ensemble()
}

// Builder lays out forests one behind the other, none of which is needed once it is.
type Builder struct {
	e       *Ensemble
	index   map[column]uint32
	nodes   int
	reducer reducer
	order   []int32 // the nodes of a tree, level by level
	scratch []node  // of the trees of a forest,
	values  []float64
	count   []int32
}

// NewBuilder begins an ensemble, of features of float32 if single says so.
func NewBuilder(single bool) *Builder {
	return &Builder{e: &Ensemble{single: single}, index: map[column]uint32{}, reducer: reducer{known: map[int32]bounds{}}}
}

// Nodes is how many nodes the forests had.
func (b *Builder) Nodes() int { return b.nodes }

// Ensemble is that of all forests; none may be added any more.
func (b *Builder) Ensemble() *Ensemble {
	b.e.stretch()
	return b.e
}

// Add lays out the trees of f, which Check has accepted and which has the targets of the forests before, perhaps more. It keeps
// nothing of f but its sets.
func (b *Builder) Add(f *Forest) {
	e := b.e
	b.nodes += len(f.Nodes)
	e.Targets, e.Trees = f.Targets, e.Trees+len(f.Roots)
	r := &b.reducer
	r.forest, r.sets = f, int32(len(e.sets))
	e.sets = append(e.sets, f.Sets...)
	first, nodes, numbers := len(e.trees), slices.Grow(b.scratch[:0], len(f.Nodes)), slices.Grow(b.values[:0], len(f.Nodes))
	for _, root := range f.Roots {
		r.nodes = r.nodes[:0]
		clear(r.known)
		top := r.reduce(root)
		t := b.layOut(top, nodes[len(nodes):], numbers[len(numbers):])
		nodes, numbers = nodes[:len(nodes)+len(t.nodes)], numbers[:len(numbers)+len(t.value)]
		e.trees = append(e.trees, t)
	}
	r.forest, b.scratch, b.values = nil, nodes, numbers
	all, values := make([]node, 0, len(nodes)), make([]float64, 0, len(numbers)) // of all trees, one behind the other
	for i := range e.trees[first:] {
		t := &e.trees[first+i]
		all = append(all, t.nodes...)
		t.nodes = all[len(all)-len(t.nodes) : len(all) : len(all)]
		if t.value != nil {
			values = append(values, t.value...)
			t.value = values[len(values)-len(t.value) : len(values) : len(values)]
		}
	}
}

// layOut numbers the nodes level by level, behind those of other trees.
func (b *Builder) layOut(top int32, nodes []node, values []float64) walked {
	r, t := &b.reducer, walked{nodes: nodes, rare: &rare{}}
	t.general = slices.ContainsFunc(r.nodes, func(n reduced) bool { return n.split != leaf && n.split != above })
	order := append(b.order[:0], top)
	var features []int32
	for first := 0; first < len(order); t.depth++ {
		level := len(order)
		for at := first; at < level; at++ {
			n := &r.nodes[order[at]]
			w := node{threshold: math.Inf(1), left: uint32(at)}
			if n.split != leaf {
				w = node{n.value, b.e.column(n, t.general, b.index), uint32(len(order))}
				order = append(order, n.left, n.right)
				if !slices.Contains(features, n.feature) {
					features = append(features, n.feature)
				}
			}
			t.nodes = append(t.nodes, w)
			if t.general {
				t.other = append(t.other, rule{n.split, n.missing, r.sets + n.set})
			}
		}
		first = level
	}
	if t.depth--; t.depth > 0 && t.depth < 31 && len(order) == 2<<t.depth-1 {
		t.inner = 1<<t.depth - 1
		t.nodes = t.nodes[:t.inner]
	}
	slices.Sort(features)
	t.features = slices.Clip(features)
	b.order = order
	b.addLeaves(&t, values)
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

// addLeaves keeps what the leaves add, in the memory of values if they fit there.
func (b *Builder) addLeaves(t *walked, values []float64) {
	r := &b.reducer
	b.count = t.keep(values, b.count, func(yield func(node int, w Weight)) {
		for k, i := range b.order {
			if n := &r.nodes[i]; n.split == leaf {
				for _, w := range r.forest.Weights[n.from:n.to] {
					yield(k, w)
				}
			}
		}
	})
}

// keep holds the weights that each lists, by node, in the form that is added fastest: values in the memory that is given, if they
// fit there. It counts in the memory of count, which it returns.
func (t *walked) keep(values []float64, count []int32, each func(yield func(node int, w Weight))) []int32 {
	n := t.size()
	count = slices.Grow(count[:0], n)[:n]
	clear(count)
	target, several, total := int32(-1), false, 0
	each(func(node int, w Weight) {
		count[node]++
		total++
		several = several || target >= 0 && target != w.Target
		target = w.Target
	})
	one := true
	for k := range n {
		one = one && (!t.isLeaf(k) || count[k] == 1)
	}
	if t.target = -1; !one {
		t.span, t.weights = make([]int32, 1, n+1), make([]Weight, 0, total)
		for k := range n {
			t.span = append(t.span, t.span[k]+count[k])
		}
		each(func(_ int, w Weight) { t.weights = append(t.weights, w) })
		return count
	}
	n -= int(t.inner)
	t.value = slices.Grow(values[:0], n)[:n]
	clear(t.value)
	if several {
		t.to = make([]int32, len(t.value))
	} else {
		t.target = target
	}
	each(func(node int, w Weight) {
		at := node - int(t.inner)
		if t.value[at] = w.Value; several {
			t.to[at] = w.Target
		}
	})
	return count
}

// size is the number of nodes, leaves included.
func (t *walked) size() int { return len(t.nodes) + int(t.inner+min(t.inner, 1)) }

// isLeaf tells whether node k is a leaf.
func (t *walked) isLeaf(k int) bool { return k >= len(t.nodes) || t.nodes[k].left == uint32(k) }

// at lists what the leaf at node k adds, in buf if there is one weight.
func (t *walked) at(k int, buf *[1]Weight) []Weight {
	switch {
	case t.value == nil:
		return t.weights[t.span[k]:t.span[k+1]]
	case t.to != nil:
		buf[0] = Weight{t.to[k-int(t.inner)], t.value[k-int(t.inner)]}
	default:
		buf[0] = Weight{t.target, t.value[k-int(t.inner)]}
	}
	return buf[:]
}

// eachLeaf calls yield with the leaves in order of nodes and what they add.
func (t *walked) eachLeaf(yield func(leaf, node int, weights []Weight)) {
	var buf [1]Weight
	leaf := 0
	for k := range t.size() {
		if t.isLeaf(k) {
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
	above := make([][]int32, t.size())
	for k := range above {
		if t.isLeaf(k) {
			paths = append(paths, above[k])
			continue
		}
		n := &t.nodes[k]
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
