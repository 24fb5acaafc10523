package decompose_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// TestMembersShards: statistics of several networks go through their file and merge to the
// result of one pass; those of networks with columns of their own are refused.
func TestMembersShards(t *testing.T) {
	ctx, tab := context.Background(), table(t, 9000, 11)
	m := join(t, withTerms(t, tab, networks(3, 1, nil), `~ s(x0, bs="ps")`))
	rows, err := decompose.ChunkRows(m)
	if err != nil {
		t.Fatal(err)
	}
	whole := all(t, tab, tab.Rows())
	var total *decompose.Statistics
	for i := 0; i < tab.Rows(); i += rows {
		s, err := decompose.Accumulate(ctx, m, part(t, whole, i, min(i+rows, tab.Rows())), &decompose.Options{Resources: decompose.Resources{FirstChunk: i / rows}})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := s.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		read := new(decompose.Statistics)
		if err := read.UnmarshalBinary(raw); err != nil {
			t.Fatal(err)
		}
		if total == nil {
			total = read
		} else if err := total.Merge(read); err != nil {
			t.Fatal(err)
		}
	}
	merged, err := decompose.Solve(ctx, m, total, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := decompose.Explain(ctx, m, tab, merged, nil); err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	for buffer, r := range map[*bytes.Buffer]*decompose.Result{&a: merged, &b: fittedTo(t, m, tab, nil)} {
		if err := r.Encode(buffer); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("merged shards differ from one pass")
	}
	apart := join(t, networks(2, 1, func(_ int, f *fake) { f.withTap() }))
	if _, err := decompose.Accumulate(ctx, apart, tab, nil); err == nil || !strings.Contains(err.Error(), "columns of their own") {
		t.Errorf("statistics of networks with other columns: %v", err)
	}
}

// TestMembersOddShapes: weights of zero, constant columns, more columns than rows, all of a
// remainder in one row.
func TestMembersOddShapes(t *testing.T) {
	for _, c := range []struct {
		name, formula string
		rows          int
		o             decompose.Options
		deep          func(k int, x []float64) float64
	}{
		{"weights", "~ s(x0)", 200, decompose.Options{Columns: decompose.Columns{Weights: "w"}}, nil},
		{"more columns than rows", `~ s(x0, k=20, bs="ps") + s(x1, k=20, bs="ps")`, 30, decompose.Options{}, nil},
		{"one row", "~ s(x0)", 200, decompose.Options{}, func(_ int, x []float64) float64 {
			if x[0] > 3.2 {
				return 100
			}
			return 0
		}},
		{"no remainder", "~ s(x0)", 200, decompose.Options{}, func(_ int, x []float64) float64 { return 0 }},
	} {
		for _, learned := range []bool{false, true} {
			tab := table(t, c.rows, 12)
			members := withTerms(t, tab, networks(3, 1, func(i int, f *fake) {
				if c.deep != nil {
					f.deep = c.deep
				}
				if learned {
					f.withTap()
				}
			}), c.formula)
			r := fittedTo(t, join(t, members), tab, &c.o)
			for _, term := range r.Predictors[0].Terms {
				if s := term.BetweenSD; !(s.Before >= 0 && s.After >= 0) {
					t.Errorf("%s, %s: between sd %v", c.name, term.Name, s)
				}
			}
		}
	}
}
