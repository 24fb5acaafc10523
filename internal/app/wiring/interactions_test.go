package wiring

import (
	"slices"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// Pairs that nobody asked for leave main effects what they are; those asked for are the best, of any kind.
func TestWorthAdding(t *testing.T) {
	pairs := []decompose.PairGain{
		{Term: "ti(a, b)", Gain: 0.1}, {Term: `s(a, by = ordered(f), bs = "cs")`, Gain: 0.05}, {Term: "f:g", Gain: 0.02}, {Term: "ti(a, c)", Gain: 0.001},
	}
	for _, c := range []struct {
		spare float64
		n     int
		want  []int
	}{
		{1000, MoreInteractions, []int{0, 2}},
		{1000, AutoInteractions, []int{0, 1, 2}},
		{2 * pairEDF, AutoInteractions, []int{0, 1}},
		{2 * pairEDF, MoreInteractions, []int{0, 2}},
		{pairEDF - 1, MoreInteractions, nil},
		{0, 2, []int{0, 1}}, // who names a number gets it
		{0, 9, []int{0, 1, 2, 3}},
		{1000, 0, nil},
	} {
		var want []string
		for _, i := range c.want {
			want = append(want, pairs[i].Term)
		}
		if got := worthAdding(pairs, c.spare, c.n); !slices.Equal(got, want) {
			t.Errorf("%d of %g degrees of freedom: %q, want %q", c.n, c.spare, got, want)
		}
	}
}
