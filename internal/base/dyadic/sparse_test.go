package dyadic_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/pho-go/pho/internal/base/dyadic"
)

// shard holds chunks [first, next) in order, of which those that are not in has have no value.
func shard(t interface{ Fatal(...any) }, first, next int, has []bool) *dyadic.Sparse[string] {
	s := new(dyadic.Sparse[string])
	for i := first; i < next; i++ {
		var err error
		if has[i] {
			err = s.Add(dyadic.Node[string]{Start: i, Value: fmt.Sprint(i, ",")}, bracket)
		} else {
			err = s.Skip(i, i+1, bracket)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// text is all that a Sparse holds.
func text(s *dyadic.Sparse[string]) (out string) {
	s.Each(func(n dyadic.Node[string], ok bool) { out += fmt.Sprint(n, ok) })
	return out + fmt.Sprint(s.Behind())
}

// tree is the sum by definition: of node (start, level), chunks from next on not being there.
func tree(start, level, next int, has []bool) string {
	switch {
	case start >= next:
		return ""
	case level == 0 && !has[start]:
		return ""
	case level == 0:
		return fmt.Sprint(start, ",")
	}
	a, b := tree(start, level-1, next, has), tree(start+1<<(level-1), level-1, next, has)
	if a == "" || b == "" {
		return a + b
	}
	return "(" + a + b + ")"
}

// Shards in any order and grouping end as the same nodes, and as those of whoever knows
// of no chunks behind the last value.
func TestSparseInAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(rt, "n")
		has := rapid.SliceOfN(rapid.Bool(), n, n).Draw(rt, "has")
		last := 0 // behind the last value
		for i, ok := range has {
			if ok {
				last = i + 1
			}
		}
		want := shard(rt, 0, n, has)
		var shards []*dyadic.Sparse[string]
		for at := 0; at < n; {
			next := rapid.IntRange(at+1, n).Draw(rt, "next")
			shards = append(shards, shard(rt, at, next, has), new(dyadic.Sparse[string]))
			at = next
		}
		for len(shards) > 1 {
			i := rapid.IntRange(0, len(shards)-1).Draw(rt, "from")
			from := shards[i]
			shards = slices.Delete(shards, i, i+1)
			to := shards[rapid.IntRange(0, len(shards)-1).Draw(rt, "to")]
			if err := to.Merge(from, bracket); err != nil {
				rt.Fatal(err)
			}
		}
		got := shards[0]
		if text(got) != text(want) {
			rt.Fatalf("%s, want %s", text(got), text(want))
		}
		if err := got.Whole(); err != nil {
			rt.Fatal(err)
		}
		known, rest := got.Without(), shard(rt, 0, last, has)
		if text(&known) != text(rest) {
			rt.Fatalf("without those behind %s, want %s", text(&known), text(rest))
		}
		total, ok, err := got.Total(bracket)
		levels := 0
		for 1<<levels < last {
			levels++
		}
		if byTree := tree(0, levels, last, has); ok != (last > 0) || err != nil || leftFirst(byTree) != leftFirst(total) || ok && last&(last-1) == 0 && total != byTree {
			rt.Fatalf("total %q, by the tree %q", total, byTree)
		}
	})
}

// leftFirst is the order of the chunks in a sum.
func leftFirst(sum string) (out string) {
	for _, r := range sum {
		if r != '(' && r != ')' {
			out += string(r)
		}
	}
	return out
}

func TestSparseGapsAndOverlaps(t *testing.T) {
	has := []bool{true, true, false, true, false, false, true, false}
	a := shard(t, 0, 3, has)
	if err := a.Merge(shard(t, 5, 8, has), bracket); err != nil {
		t.Fatal(err)
	}
	var gap *dyadic.GapError
	if err := a.Whole(); !errors.As(err, &gap) || err.Error() != "missing are chunks 3 to 4" {
		t.Errorf("gap: %v", err)
	}
	if got := fmt.Sprint(a.Runs()); got != "[[0 3] [5 8]]" {
		t.Errorf("runs %s", got)
	}
	before := text(a)
	for _, c := range [][2]int{{0, 1}, {2, 4}, {4, 6}, {7, 8}, {0, 8}} {
		b := shard(t, c[0], c[1], has)
		was := text(b)
		var twice *dyadic.OverlapError
		if err := a.Merge(b, bracket); !errors.As(err, &twice) {
			t.Errorf("chunks %v: %v", c, err)
		}
		if text(a) != before || text(b) != was {
			t.Errorf("chunks %v: what was refused left traces", c)
		}
	}
	if err := a.Skip(7, 9, bracket); err == nil {
		t.Error("a chunk was skipped that is there")
	}
	if err := new(dyadic.Sparse[string]).Add(dyadic.Node[string]{Start: 1, Level: 1}, bracket); err == nil {
		t.Error("a node that is none was added")
	}
}
