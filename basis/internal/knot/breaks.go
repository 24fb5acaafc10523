package knot

import (
	"math"
	"slices"
	"sort"
)

// Breaks tell how many of some increasing numbers, two or more, are at most x. They are immutable.
type Breaks struct {
	padded    []float64 // the numbers, and infinities, so that maxCounted of them follow each
	n         int
	first     []uint16 // of each bucket: how many breaks are in those before
	perBucket float64  // buckets per unit, from the first break on
}

const (
	// bucketsPerBreak: most buckets of evenly spread breaks hold none or one.
	bucketsPerBreak = 4
	// maxCounted is how many breaks of a bucket Count compares a value with, however many
	// the bucket holds; in a bucket of more it searches.
	maxCounted = 4
)

// NewBreaks copies the numbers, fewer than 65,536.
func NewBreaks(t []float64) *Breaks {
	b := &Breaks{padded: slices.Clone(t), n: len(t)}
	for range maxCounted {
		b.padded = append(b.padded, math.Inf(1))
	}
	buckets := bucketsPerBreak * b.n
	b.perBucket = float64(buckets) / (t[b.n-1] - t[0])
	b.first = make([]uint16, buckets+1)
	for _, x := range t {
		b.first[b.bucket(x)+1]++
	}
	for i := range buckets {
		b.first[i+1] += b.first[i]
	}
	return b
}

// bucket never decreases with x, so a break and the values beyond it are told
// apart whatever rounding does.
func (b *Breaks) bucket(x float64) int {
	f, last := (x-b.padded[0])*b.perBucket, bucketsPerBreak*b.n-1
	switch {
	case f >= float64(last):
		return last
	case f > 0:
		return int(f)
	}
	return 0
}

// Count gives the number of breaks that are at most x, which is no NaN. Nearly always no branch
// depends on x: a processor could not foretell it.
func (b *Breaks) Count(x float64) int {
	i := b.bucket(x)
	lo, hi := int(b.first[i]), int(b.first[i+1])
	if hi-lo > maxCounted {
		return lo + sort.Search(hi-lo, func(i int) bool { return b.padded[lo+i] > x })
	}
	at := b.padded[lo:][:maxCounted] // those from hi on are greater than x
	return lo + atMost(at[0], x) + atMost(at[1], x) + atMost(at[2], x) + atMost(at[3], x)
}

// Interval is the number j of breaks j and j + 1 that x is between; of an x beyond all, or NaN, the first or the last.
func (b *Breaks) Interval(x float64) int { return min(max(b.Count(x), 1), b.n-1) - 1 }

// atMost is 1 if a <= b, else 0.
func atMost(a, b float64) (one int) {
	if a <= b {
		one = 1
	}
	return one
}
