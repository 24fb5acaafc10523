package tree

import (
	"math"
	"slices"

	"github.com/pho-go/pho/internal/base/kernel"
)

// stretch are trees that follow each other and add to one target, or each to several.
type stretch struct {
	trees  []walked
	target int32         // -1: several
	beside *kernel.Trees // the same trees; nil: they do not fit there
	single bool          // all leaves of beside are of float32
}

// fewest is how many trees of a stretch are worth walking down side by side.
const fewest = 4

// stretch cuts the trees where the target changes, or whether they may be walked down side by side.
func (e *Ensemble) stretch() {
	for from := 0; from < len(e.trees); {
		target, fits, to := e.trees[from].target, e.trees[from].fitsBeside(e.single), from+1
		for to < len(e.trees) && e.trees[to].target == target && e.trees[to].fitsBeside(e.single) == fits {
			to++
		}
		s := stretch{trees: e.trees[from:to], target: target}
		if fits && to-from >= fewest && len(e.columns) <= singles {
			if s.beside = beside(s.trees, len(e.columns)); s.beside != nil {
				e.stride, s.single = s.beside.Stride(), singleLeaves(s.trees)
			}
		}
		e.stretches, from = append(e.stretches, s), to
	}
}

// fitsBeside: thresholds must be of float32 if the numbers of rows are not.
func (t *walked) fitsBeside(single bool) bool {
	if t.general || t.target < 0 || t.depth < 1 || t.depth > kernel.MostTreeDepth {
		return false
	}
	if single {
		return true
	}
	for i := range t.nodes {
		if threshold := t.nodes[i].threshold; float64(float32(threshold)) != threshold {
			return false
		}
	}
	return true
}

// singleLeaves reports whether what the leaves add is of float32.
func singleLeaves(trees []walked) bool {
	for i := range trees {
		if slices.ContainsFunc(trees[i].value, func(v float64) bool { return float64(float32(v)) != v }) {
			return false
		}
	}
	return true
}

// beside makes the trees complete.
func beside(trees []walked, columns int) *kernel.Trees {
	depth := 0
	for i := range trees {
		depth = max(depth, int(trees[i].depth))
	}
	b := kernel.NewTrees(len(trees), depth, columns)
	if b == nil {
		return nil
	}
	inner := 1<<depth - 1
	for i := range trees {
		t := &trees[i]
		var place func(node uint32, at int)
		place = func(node uint32, at int) {
			switch {
			case !t.isLeaf(int(node)):
				n := &t.nodes[node]
				b.SetNode(i, at, below(n.threshold), int(n.column))
				place(n.left, 2*at+1)
				place(n.left+1, 2*at+2)
			case at < inner: // further down to the left
				place(node, 2*at+1)
			default:
				b.SetLeaf(i, at-inner, t.value[node-t.inner])
			}
		}
		place(0, 0)
	}
	return b
}

// below is the largest float32 up to x: the same numbers of float32 are above it.
func below(x float64) float32 {
	single := float32(x)
	if float64(single) > x {
		single = math.Nextafter32(single, float32(math.Inf(-1)))
	}
	return single
}

// singles is how many numbers of rows are held in float32.
const singles = 64 * 32

// upwards sets dst, rows stride apart, to the numbers of x, rounded up to float32: they are above
// the same thresholds of float32.
func upwards(dst []float32, x []float64, columns, stride int) {
	for ; len(x) > 0; x, dst = x[columns:], dst[stride:] {
		for c, v := range x[:columns] {
			single := float32(v)
			if float64(single) < v {
				single = math.Nextafter32(single, float32(math.Inf(1)))
			}
			dst[c] = single
		}
	}
}
