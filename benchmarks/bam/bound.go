package main

import (
	"fmt"

	"github.com/pho-go/pho/benchmarks/internal/rate"
)

// work is what a row costs, and an evaluation of REML: what nobody who forms X'WX by these bases can avoid.
type work struct {
	columns int     // numbers that are read, twice: ranges and levels first
	splines int     // with four values that are not 0 in a row
	plates  int     // columns of piecewise cubics, all of them not 0
	pairs   float64 // sixteen products added to the sums of a pair of intervals or levels
	adds    int     // products added where all rows have the same sums
	levels  int     // that are eliminated by themselves, first
	block   int     // columns of each
	rest    int     // columns that are left
}

// tenWork is that of ten smooths of k columns, all but one of each left beside the intercept.
func tenWork(how smooth) work {
	if how.bs == "ps" {
		return work{columns: 11, splines: 10, pairs: 55, rest: 10*how.k - 9}
	}
	p := 10*how.k - 9
	return work{columns: 11, plates: p, adds: triangle(p + 2), rest: p}
}

// factorWork: sixteen functions of te, by their cell, and twenty of the thin plate are not 0.
func factorWork(smooth) work {
	const te, plate = 16, 20
	return work{columns: 5, splines: 2, plates: plate, pairs: (te + plate + 2) / 16.0, adds: te + triangle(te+plate+2), levels: 500, block: 1, rest: 64 + plate}
}

// byWork: x and t with themselves and each other, and both with the levels of f and of g, of which there are so many.
func byWork(levels, groups int) func(smooth) work {
	return func(smooth) work {
		return work{columns: 5, splines: 2, pairs: 3 + 2*(4+4+2)/16.0, levels: groups, block: 1, rest: levels + levels*20 + 19}
	}
}

// slopesWork: t with itself and with a level's intercept and slope, and these with themselves.
func slopesWork(smooth) work {
	return work{columns: 4, splines: 1, pairs: 1 + 12/16.0, levels: 1000, block: 2, rest: 20}
}

// planeWork: sixteen functions of a level's te, by their cell, and thirty of the thin plate, each a sum over 500 points.
func planeWork(smooth) work {
	const te, plate, points = 16, 30, 500
	return work{columns: 6, splines: 2, plates: points, pairs: te / 16.0, adds: points*plate + te + triangle(te+plate+2), rest: 6*36 + plate}
}

// fsWork: one group's spline with itself.
func fsWork(smooth) work { return work{columns: 3, splines: 1, pairs: 1, levels: 200, block: 10} }

// triangle is the number of products of n values with each other.
func triangle(n int) int { return n * (n + 1) / 2 }

// bound prints what the parts of a fit must cost at least on this machine, from the speed of each kernel
// on operands in the first cache, shared out evenly: nothing waits for memory, a cleared table or another goroutine.
// Sums that depend on the row are bound by stores, others by the units of multiplications; took are the fastest seconds of fits.
func (w work) bound(rows, workers, evaluations int, took float64) {
	r := rate.Measure(1)
	share := float64(rows) / 1e9 / float64(workers)
	q, b, levels := float64(w.rest), float64(w.block), float64(w.levels)
	// The factor and the inverse of what is left, and of each level's block; what the levels take from the rest.
	p := q + levels*b
	evaluation := q*q*q/2 + levels*(b*b*b/2+q*q*b/2)
	parts := []struct {
		name    string
		seconds float64
	}{
		{"columns, read twice from memory", 2 * 8 * float64(w.columns) / r.Copied * share},
		{"bases", (float64(w.splines)*r.Spline + 3*float64(w.plates)/r.FMA) * share},
		{"moments: X'WX", (w.pairs*r.Outer + float64(w.adds)/r.FMA) * share},
		{"moments: X'Wz", float64(w.splines) * r.Scale * share},
		{fmt.Sprintf("%d evaluations of REML", evaluations), float64(evaluations) * evaluation / r.FMA / 1e9 / float64(workers)},
		{"X'WX and the covariance, written", 2 * 8 * p * p / r.Copied / 1e9},
	}
	least := 0.0
	for _, part := range parts {
		fmt.Printf("  %-40s %.4f s with %d workers\n", part.name, part.seconds, workers)
		least += part.seconds
	}
	fmt.Printf("  at least %.4f s, took %.3f s: %.1f times as long\n", least, took, took/least)
}
