package dyadic_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/pho-go/pho/internal/base/dyadic"
)

func bracket(a, b string) (string, error) { return "(" + a + b + ")", nil }

// inOrder is the forest of chunks [first, next), added one after the other.
func inOrder(t interface{ Fatal(...any) }, first, next int) *dyadic.Forest[string] {
	f := new(dyadic.Forest[string])
	for i := first; i < next; i++ {
		if err := f.Add(dyadic.Node[string]{Start: i, Value: fmt.Sprint(i, ",")}, bracket); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// Chunks and shards in any order, with gaps meanwhile, end as the same nodes with the same
// parentheses.
func TestAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 70).Draw(rt, "n")
		want := inOrder(rt, 0, n)
		var shards []*dyadic.Forest[string]
		for at := 0; at < n; {
			next := rapid.IntRange(at, n).Draw(rt, "next")
			shards = append(shards, inOrder(rt, at, next))
			at = next
			if len(shards) > 100 {
				break
			}
		}
		if len(shards) > 100 {
			return // of empty ones
		}
		for len(shards) > 1 {
			i := rapid.IntRange(0, len(shards)-1).Draw(rt, "from")
			from := shards[i]
			shards = slices.Delete(shards, i, i+1)
			to := shards[rapid.IntRange(0, len(shards)-1).Draw(rt, "to")]
			for _, node := range from.Nodes() {
				if err := to.Add(node, bracket); err != nil {
					rt.Fatal(err)
				}
			}
		}
		if got := shards[0]; !slices.Equal(got.Nodes(), want.Nodes()) {
			rt.Fatalf("%v, want %v", got.Nodes(), want.Nodes())
		}
		if runs := want.Runs(); len(runs) != 1 || runs[0] != [2]int{0, n} {
			rt.Fatalf("runs %v of %d chunks", runs, n)
		}
		a, _, _ := shards[0].Total(bracket)
		if b, ok, err := want.Total(bracket); a != b || !ok || err != nil {
			rt.Fatalf("totals %s and %s", a, b)
		}
		at := 0
		dyadic.Cover(0, n, func(start, level int) {
			if at >= len(want.Nodes()) || want.Nodes()[at].Start != start || want.Nodes()[at].Level != level {
				rt.Fatalf("node %d of the cover is (%d, %d)", at, start, level)
			}
			at++
		})
	})
}

func TestGapsAndOverlaps(t *testing.T) {
	f := inOrder(t, 2, 5)
	for _, n := range inOrder(t, 9, 12).Nodes() {
		if err := f.Add(n, bracket); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(f.Runs()); got != "[[2 5] [9 12]]" {
		t.Errorf("runs %s", got)
	}
	before := fmt.Sprint(f.Nodes())
	for _, n := range []dyadic.Node[string]{{Start: 4}, {Start: 2, Level: 1}, {Start: 0, Level: 2}, {Start: 0, Level: 5}, {Start: 8, Level: 1}} {
		var overlap *dyadic.OverlapError
		if err := f.Add(n, bracket); !errors.As(err, &overlap) {
			t.Errorf("node %v: %v", n, err)
		}
	}
	for _, n := range []dyadic.Node[string]{{Start: -1}, {Start: 1, Level: 1}, {Level: -1}, {Level: 70}} {
		if err := f.Add(n, bracket); err == nil {
			t.Errorf("node %v was added", n)
		}
	}
	if got := fmt.Sprint(f.Nodes()); got != before {
		t.Errorf("refused nodes left traces: %s", got)
	}
}
