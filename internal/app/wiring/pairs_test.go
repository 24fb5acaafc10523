package wiring

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/decompose"
)

// TestWorthAdding: a pair counts for what its term can have, however many levels its columns have; one that the rows do not bear
// leaves room to the next; those that nobody asks for are a few hundred at most, however many rows there are.
func TestWorthAdding(t *testing.T) {
	pairs := []decompose.PairGain{
		{Term: "ti(a,f)", Gain: 0.3, MaxEDF: 648}, {Term: "ti(a,b)", Gain: 0.2, MaxEDF: 16}, {Term: `s(a, by = ordered(g), k = 5, bs = "cs")`, Gain: 0.1, MaxEDF: 4},
		{Term: "f:g", Gain: 0.05, MaxEDF: 20}, {Term: "ti(b,c)", Gain: 0.001, MaxEDF: 16},
	}
	for _, c := range []struct {
		spare float64
		n     int
		want  []string
		left  float64
	}{
		{119, AutoInteractions, []string{"ti(a,b)", `s(a, by = ordered(g), k = 5, bs = "cs")`, "f:g"}, 79},
		{1e5, AutoInteractions, []string{"ti(a,f)", "ti(a,b)", `s(a, by = ordered(g), k = 5, bs = "cs")`, "f:g"}, 1e5 - 688},
		{1e5, MoreInteractions, []string{"ti(a,b)", "f:g"}, maxMoreEDF - 36},
		{30, MoreInteractions, []string{"ti(a,b)"}, 14},
		{-5, MoreInteractions, nil, -5},
		{0, 2, []string{"ti(a,f)", "ti(a,b)"}, -664},
	} {
		if terms, left := worthAdding(pairs, c.spare, c.n); !cmp.Equal(terms, c.want) || left != c.left {
			t.Errorf("%g to spare, %d: %q, which leave %g; want %q, %g", c.spare, c.n, terms, left, c.want, c.left)
		}
	}
}
