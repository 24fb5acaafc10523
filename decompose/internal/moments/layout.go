// Package moments accumulates what a decomposition needs to know of the data:
// mergeable weighted sums over rows; "The way of the data" in DESIGN.md lists them. They are
// centred as they are formed (pairwise update of Chan, Golub and LeVeque 1983): a raw X'WX squares
// a column's mean, and a year, or a sum of many dummies, would lose the very digits by which the
// rank is decided. Constraints, contrasts and penalties are applied afterwards, as linear maps.
package moments

import (
	"fmt"
	"math"
	"slices"
)

// Layout fixes the order and the meaning of the columns in a Moments. Two
// Moments merge only if their layouts are equal.
type Layout struct {
	Bases      []Basis // distinct raw bases, in column order
	Predictors [][]int // predictor k uses bases Predictors[k], increasing; those beyond Responses are sets of bases that meet
	Responses  int     // columns of R: the K zetas first

	// Factor holds the triangular factor of the rows (Moments.R) instead of
	// products: a column's own digits, not those of its square, decide rank. Sparse
	// columns are filled up: n rows cost 2 n c^2 operations for c columns in any
	// predictor.
	// Two factors merge as products do: stacked, with the difference of the means as one more row
	// (TSQR).
	Factor bool
}

// Basis is a group of adjacent raw columns.
type Basis struct {
	Name string
	Dim  int
	// ID says what the columns are (their knots and levels, say): bases of one name and
	// size may still be different functions. Sums of bases of different IDs do not
	// merge. "" is one of them, for whoever needs no others.
	ID string
}

// ChunkRows is the number of rows B = max(4096, nextpow2(p^2/64)) of a merge
// chunk for p raw columns. Chunks start at multiples of B whatever the batches,
// so that sums do not depend on batch size or worker count.
// A merge costs p^2 operations, so many rows share one.
func ChunkRows(p int) int {
	b := 4096
	for b < p*p/64 {
		b *= 2
	}
	return b
}

// Columns is p, the number of raw columns of all bases.
func (l Layout) Columns() int {
	p := 0
	for _, b := range l.Bases {
		p += b.Dim
	}
	return p
}

// Equal reports whether moments of the two layouts may be merged.
func (l Layout) Equal(o Layout) bool {
	return l.Factor == o.Factor && l.Responses == o.Responses && slices.Equal(l.Bases, o.Bases) &&
		slices.EqualFunc(l.Predictors, o.Predictors, slices.Equal)
}

// Check reports the first fault of a layout: a basis without columns, a
// predictor whose bases are unknown or not increasing, predictors without any
// response.
func (l Layout) Check() error {
	p := 0
	for i, b := range l.Bases {
		if b.Dim < 1 || b.Dim > math.MaxInt32-p {
			return fmt.Errorf("moments: basis %d (%q) has %d columns; need at least 1 each and fewer than 2^31 together", i, b.Name, b.Dim)
		}
		p += b.Dim
	}
	if l.Responses < min(1, len(l.Predictors)) {
		return fmt.Errorf("moments: %d predictors but %d responses; they need one at least", len(l.Predictors), l.Responses)
	}
	for k, bases := range l.Predictors {
		last := -1
		for _, b := range bases {
			if b <= last || b >= len(l.Bases) {
				return fmt.Errorf("moments: predictor %d lists basis %d after %d; bases are increasing numbers below %d", k, b, last, len(l.Bases))
			}
			last = b
		}
	}
	return nil
}

// clone copies l, so that a caller who changes the slices cannot change sums.
func (l Layout) clone() Layout {
	c := Layout{Bases: slices.Clone(l.Bases), Responses: l.Responses, Factor: l.Factor}
	for _, bases := range l.Predictors {
		c.Predictors = append(c.Predictors, slices.Clone(bases))
	}
	return c
}

// identified tells whether some basis has an ID.
func (l Layout) identified() bool {
	return slices.ContainsFunc(l.Bases, func(b Basis) bool { return b.ID != "" })
}

// offsets returns the first column of each basis, then p.
func (l Layout) offsets() []int {
	o := make([]int, len(l.Bases)+1)
	for i, b := range l.Bases {
		o[i+1] = o[i] + b.Dim
	}
	return o
}

// pair is two bases a <= b that meet in a predictor, by number, with their
// first columns and dimensions.
type pair struct {
	a, b       int
	offA, offB int
	dimA, dimB int
}

// meeting lists the pairs of bases that meet, by a, then b; none of a layout that
// does not pass Check.
func (l Layout) meeting() []pair {
	if l.Check() != nil {
		return nil
	}
	uses, off := l.uses(), l.offsets()
	seen := make([]int, len(l.Bases)) // seen[b] == a+1: pair (a, b) is listed
	var pairs []pair
	for a := range l.Bases {
		first := len(pairs)
		for _, k := range uses[a] {
			at, _ := slices.BinarySearch(l.Predictors[k], a)
			for _, b := range l.Predictors[k][at:] {
				if seen[b] == a+1 {
					continue
				}
				seen[b] = a + 1
				pairs = append(pairs, pair{a, b, off[a], off[b], l.Bases[a].Dim, l.Bases[b].Dim})
			}
		}
		slices.SortFunc(pairs[first:], func(x, y pair) int { return x.b - y.b })
	}
	return pairs
}

// uses lists the predictors of each basis.
func (l Layout) uses() [][]int {
	uses := make([][]int, len(l.Bases))
	for k, bases := range l.Predictors {
		for _, b := range bases {
			uses[b] = append(uses[b], k)
		}
	}
	return uses
}

// fuse joins neighbours that are dense and belong to the same predictors: a
// hundred linear terms are one product, not five thousand. The columns stay
// where they are; of[a] is the joined basis that holds basis a.
func (l Layout) fuse(dense []bool) (fused Layout, of []int) {
	fused.Responses = l.Responses
	uses := l.uses()
	of = make([]int, len(l.Bases))
	for a, basis := range l.Bases {
		last := len(fused.Bases) - 1
		if a > 0 && dense[a] && dense[a-1] && slices.Equal(uses[a], uses[a-1]) {
			fused.Bases[last].Dim += basis.Dim
			of[a] = last
			continue
		}
		fused.Bases = append(fused.Bases, basis)
		of[a] = last + 1
	}
	for _, bases := range l.Predictors {
		joined := make([]int, len(bases))
		for i, b := range bases {
			joined[i] = of[b]
		}
		fused.Predictors = append(fused.Predictors, slices.Compact(joined))
	}
	return fused, of
}
