package linalg

import "github.com/pho-go/pho/internal/base/taskpool"

// team is goroutines that work on one short region after another, since to wake a processor for
// each takes as long as a million multiplications. The zero value works alone.
type team struct{ pool *taskpool.Pool }

// newTeam is for regions of so many multiplications in all; end it.
func newTeam(multiplications int) team { return team{taskpool.New(processors(multiplications))} }

// end lets the goroutines end.
func (t team) end() { t.pool.Close() }

// each calls f for 0 to n-1, at the same time if all of them take many multiplications. What f
// does for one must not depend on another.
func (t team) each(n, multiplications int, f func(i int)) {
	const worthwhile = 1 << 17
	if multiplications < worthwhile {
		t = team{}
	}
	t.pool.Each(n, f)
}

// columns calls f with columns lo:hi, some at once. The last ones, of which a triangle has
// most rows, come first.
func (t team) columns(lo, hi, multiplications int, f func(from, to int)) {
	atOnce := columnsAtOnce(hi-lo, t.pool.Size())
	n := (hi - lo + atOnce - 1) / atOnce
	t.each(n, multiplications, func(i int) {
		k := n - 1 - i
		f(lo+k*atOnce, min(lo+(k+1)*atOnce, hi))
	})
}

// columnsAtOnce is how many of n columns one goroutine takes at once, whole panels: many, as products of few
// columns wait for memory, but so that each of them has a few turns.
func columnsAtOnce(n, workers int) int {
	const most, turns = 256, 4
	return max(panel, min(most, n/(turns*workers)/panel*panel))
}

// upper calls f with rows first:last and columns from:to of the parts of columns lo:hi of a triangle, from row top on: what
// is above the block on the diagonal, and that block's panels, each down to its last row. A part may have no rows.
func upper(top, lo, hi int, f func(first, last, from, to int)) {
	f(top, lo, lo, hi)
	for from := lo; from < hi; from += panel {
		to := min(from+panel, hi)
		f(lo, to, from, to)
	}
}
