package wiring

import (
	"slices"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// TestWorthAdding: pairs that nobody asked for leave main effects what they are; those asked for are the best, of any kind. A pair counts
// for what its term can have, however many levels its columns have; one that the rows do not bear leaves room to the next.
func TestWorthAdding(t *testing.T) {
	pairs := []decompose.PairGain{
		{Term: "ti(a, b)", Gain: 0.1, MaxEDF: 16}, {Term: `s(a, by = ordered(f), bs = "cs")`, Gain: 0.05, MaxEDF: 4}, {Term: "f:h", Gain: 0.03, MaxEDF: 648},
		{Term: "f:g", Gain: 0.02, MaxEDF: 20}, {Term: "ti(a, c)", Gain: 0.001, MaxEDF: 16},
	}
	for _, c := range []struct {
		spare float64
		n     int
		want  []int
		left  float64
	}{
		{1000, AutoInteractions, []int{0, 1, 2, 3}, 312},
		{119, AutoInteractions, []int{0, 1, 3}, 79},
		{20, AutoInteractions, []int{0, 1}, 0},
		{1e5, MoreInteractions, []int{0, 3}, maxMoreEDF - 36}, // however many rows there are
		{30, MoreInteractions, []int{0}, 14},
		{15, MoreInteractions, nil, 15},
		{-5, MoreInteractions, nil, -5},
		{0, 2, []int{0, 1}, -20}, // who names a number gets it
		{0, 9, []int{0, 1, 2, 3, 4}, -704},
		{1000, 0, nil, 1000},
	} {
		var want []string
		for _, i := range c.want {
			want = append(want, pairs[i].Term)
		}
		if got, left := worthAdding(pairs, c.spare, c.n); !slices.Equal(got, want) || left != c.left {
			t.Errorf("%d of %g degrees of freedom: %q, which leave %g; want %q, %g", c.n, c.spare, got, left, want, c.left)
		}
	}
}
