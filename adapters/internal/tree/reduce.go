package tree

import (
	"math"
	"slices"
)

// split is how a node of a reduced tree sends a row to the right. Comparisons with a
// finite number become x > t, with the children exchanged where need be.
type split uint8

const (
	above   split = iota // x > t
	equal                // x == t
	member               // x is in a set
	less                 // x < t, for numbers t that are not finite
	atLeast              // x >= t, likewise
	more                 // x > t, likewise
	atMost               // x <= t, likewise
	leaf
)

// reduced is a node of a tree without splits that decide nothing.
type reduced struct {
	split       split
	missing     bool // NaN goes right
	feature     int32
	set         int32
	left, right int32
	from, to    int32 // weights of a leaf
	value       float64
}

// bounds is what the splits above a node leave of a feature: numbers in (lo, hi], and
// perhaps NaN.
type bounds struct {
	lo, hi  float64
	missing bool
}

// reducer drops splits that splits above have decided, and splits with equal ends.
type reducer struct {
	forest *Forest
	nodes  []reduced
	known  map[int32]bounds
	sets   int32 // where those of the forest begin
}

// canonical is n as a split to the right, and whether its true child is on the right.
func canonical(n *Node) (s split, t float64, trueRight bool) {
	t = n.Value
	finite := !math.IsInf(t, 0) && !math.IsNaN(t)
	switch n.Mode {
	case LEQ:
		if finite {
			return above, t, false
		}
		return atMost, t, true
	case LT:
		if finite && t > -math.MaxFloat64 {
			return above, math.Nextafter(t, math.Inf(-1)), false
		}
		return less, t, true
	case GT:
		if finite {
			return above, t, true
		}
		return more, t, true
	case GTE:
		if finite && t > -math.MaxFloat64 {
			return above, math.Nextafter(t, math.Inf(-1)), true
		}
		return atLeast, t, true
	case NEQ:
		return equal, t, false
	case EQ:
		return equal, t, true
	}
	return member, 0, true
}

// reduce appends the tree below node i and returns its top.
func (r *reducer) reduce(i int32) int32 {
	n := &r.forest.Nodes[i]
	if n.Mode == Leaf {
		return r.push(reduced{split: leaf, from: n.From, to: n.To})
	}
	s, t, trueRight := canonical(n)
	left, right := n.True, n.False
	if trueRight {
		left, right = right, left
	}
	missingTrue := n.MissingTrue || n.Mode == NEQ // NaN is different from every number
	out := reduced{split: s, missing: missingTrue == trueRight, feature: n.Feature, set: n.Set, value: t}
	b, seen := r.known[n.Feature]
	if !seen {
		b = bounds{math.Inf(-1), math.Inf(1), true}
	}
	if s == above {
		// -Inf is a number on the left of every t.
		if b.hi <= t && (!b.missing || !out.missing) {
			return r.reduce(left)
		}
		if b.lo >= t && (!b.missing || out.missing) {
			return r.reduce(right)
		}
	}
	inLeft, inRight := b, b
	inLeft.missing, inRight.missing = b.missing && !out.missing, b.missing && out.missing
	if s == above {
		inLeft.hi, inRight.lo = min(b.hi, t), max(b.lo, t)
	}
	r.known[n.Feature] = inLeft
	out.left = r.reduce(left)
	r.known[n.Feature] = inRight
	out.right = r.reduce(right)
	if r.known[n.Feature] = b; !seen {
		delete(r.known, n.Feature)
	}
	if r.same(out.left, out.right) {
		return out.left
	}
	return r.push(out)
}

func (r *reducer) push(n reduced) int32 {
	r.nodes = append(r.nodes, n)
	return int32(len(r.nodes) - 1)
}

// same reports whether both are leaves that add the same, bit for bit.
func (r *reducer) same(a, b int32) bool {
	x, y := &r.nodes[a], &r.nodes[b]
	return x.split == leaf && y.split == leaf && slices.EqualFunc(r.forest.Weights[x.from:x.to], r.forest.Weights[y.from:y.to], func(v, w Weight) bool {
		return v.Target == w.Target && math.Float64bits(v.Value) == math.Float64bits(w.Value)
	})
}
