package drift

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// Bins say how the values of a column are counted: between the deciles of the rows that the
// decomposition was made of, or by level; values that are missing, or of a level that was not
// there, have a bin of their own at the end.
type Bins struct {
	Feature string    `json:"feature"`
	Edges   []float64 `json:"edges,omitempty"`  // ascending; a value on an edge is in the bin below
	Levels  []string  `json:"levels,omitempty"` // sorted; empty: a column of numbers
}

// newBins is false for a column of which the decomposition does not know the distribution.
func newBins(f *decompose.Feature) (Bins, bool) {
	b := Bins{Feature: f.Name}
	switch {
	case len(f.Levels) > 0:
		b.Levels = slices.Clone(f.Levels)
		slices.Sort(b.Levels)
		return b, true
	case len(f.Quantiles) < 11:
		return b, false
	}
	for i := 1; i < 10; i++ {
		b.Edges = append(b.Edges, f.Quantiles[i*(len(f.Quantiles)-1)/10])
	}
	b.Edges = slices.Compact(b.Edges)
	if last := len(b.Edges) - 1; b.Edges[last] == f.Max { // nothing is above
		b.Edges = b.Edges[:last]
	}
	return b, len(b.Edges) > 0
}

func (b *Bins) check() error {
	if (len(b.Edges) == 0) == (len(b.Levels) == 0) {
		return fmt.Errorf("drift: column %q has neither edges nor levels, or both", b.Feature)
	}
	for i, v := range b.Edges {
		if math.IsNaN(v) || math.IsInf(v, 0) || i > 0 && !(v > b.Edges[i-1]) {
			return fmt.Errorf("drift: the edges of column %q do not ascend", b.Feature)
		}
	}
	if !slices.IsSorted(b.Levels) {
		return fmt.Errorf("drift: the levels of column %q are not sorted", b.Feature)
	}
	return nil
}

func (b *Bins) count() int {
	if len(b.Levels) > 0 {
		return len(b.Levels) + 1
	}
	return len(b.Edges) + 2
}

// places gives the bin of each row of a batch; nil if it has no such column.
func (b *Bins) places(rows *data.Batch) []int {
	out := make([]int, rows.Rows())
	if len(b.Levels) > 0 {
		text, err := rows.Texts(b.Feature)
		if err != nil {
			return nil
		}
		for i := range out {
			at, ok := slices.BinarySearch(b.Levels, text(i))
			if !ok {
				at = len(b.Levels)
			}
			out[i] = at
		}
		return out
	}
	v, err := rows.Numeric(b.Feature)
	if err != nil {
		return nil
	}
	for i, x := range v {
		out[i] = sort.SearchFloat64s(b.Edges, x)
		if math.IsNaN(x) {
			out[i] = len(b.Edges) + 1
		}
	}
	return out
}

// FeatureChange says how far a column's distribution moved.
type FeatureChange struct {
	Feature string `json:"feature"`
	// PSI is the population stability index, sum (b - a) log(b / a) over bins of shares a and
	// b of the rows, half a row added to each bin; nil: a period has no counts.
	PSI *float64 `json:"psi"`
	// Critical is what PSI exceeds with a probability of 5 % if the rows of both are independent draws from
	// one distribution (chi-squared; Yurdakul 2018).
	Critical *float64 `json:"critical"`
}

// stability compares the counts of two periods.
func stability(feature string, a, b []int64) FeatureChange {
	out := FeatureChange{Feature: feature}
	var nA, nB float64
	used := 0
	for i := range a {
		if a[i]+b[i] > 0 {
			nA, nB, used = nA+float64(a[i]), nB+float64(b[i]), used+1
		}
	}
	if nA == 0 || nB == 0 {
		return out
	}
	psi, critical := 0.0, 0.0
	half := float64(used) / 2
	for i := range a {
		if a[i]+b[i] > 0 {
			x, y := (float64(a[i])+0.5)/(nA+half), (float64(b[i])+0.5)/(nB+half)
			psi += (y - x) * math.Log(y/x)
		}
	}
	if used > 1 {
		critical = distuv.ChiSquared{K: float64(used - 1)}.Quantile(0.95) * (1/nA + 1/nB)
	}
	out.PSI, out.Critical = &psi, &critical
	return out
}
