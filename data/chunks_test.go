package data

import (
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// chunked are the chunks of a sequence: numbers, and the rows in each.
func chunked(t interface{ Fatal(...any) }, seq iter.Seq2[*Batch, error], rows int, first int64) (numbers []int64, in [][]int64) {
	for c, err := range Chunks(seq, rows, first) {
		if err != nil {
			t.Fatal(err)
		}
		numbers, in = append(numbers, c.Number), append(in, nil)
		for i := range c.Batch.Rows() {
			in[len(in)-1] = append(in[len(in)-1], c.Batch.Row(i))
		}
	}
	return numbers, in
}

// TestChunksAreCutByNumbers: each row is in the chunk that its number says, whatever the cuts of
// the source, and columns stay with their rows.
func TestChunksAreCutByNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := whole(t)
		rows, first := rapid.IntRange(1, 12).Draw(t, "chunk"), rapid.Int64Range(0, b.Row(0)).Draw(t, "from")
		var numbers []int64
		var in [][]int64
		for i := range b.Rows() {
			n := (b.Row(i) - first) / int64(rows)
			if len(numbers) == 0 || numbers[len(numbers)-1] != n {
				numbers, in = append(numbers, n), append(in, nil)
			}
			in[len(in)-1] = append(in[len(in)-1], b.Row(i))
		}
		gotNumbers, got := chunked(t, cut(t, b), rows, first)
		if d := cmp.Diff(numbers, gotNumbers) + cmp.Diff(in, got); d != "" {
			t.Fatal(d)
		}
		batches := func(yield func(*Batch, error) bool) {
			for c, err := range Chunks(cut(t, b), rows, first) {
				if !yield(c.Batch, err) {
					return
				}
			}
		}
		if d := cmp.Diff(flatten(Rebatch(several(b), b.Rows())), flatten(Rebatch(batches, b.Rows()))); d != "" {
			t.Fatal(d)
		}
	})
}

// TestChunksCountWhereNumbersDoNotAscend: batches that all begin at row 0, and rows that are
// there twice.
func TestChunksCountWhereNumbersDoNotAscend(t *testing.T) {
	x := func(rows int, first int64) *Batch {
		b := NewBatch(rows, first)
		b.SetNumeric("x", make([]float64, rows))
		return b
	}
	twice := x(4, 0)
	twice.SetRows([]int64{1, 1, 1, 9})
	for _, c := range []struct {
		name    string
		batches []*Batch
		numbers []int64
		sizes   []int
	}{
		{"from 0", []*Batch{x(3, 0), x(3, 0), x(5, 0)}, []int64{0, 1, 2}, []int{4, 4, 3}},
		{"twice", []*Batch{twice}, []int64{0, 2}, []int{3, 1}},
		{"backwards", []*Batch{x(2, 6), x(3, 0)}, []int64{1, 2}, []int{2, 3}},
		{"far", []*Batch{x(2, 1<<60)}, []int64{1 << 58}, []int{2}},
	} {
		numbers, in := chunked(t, several(c.batches...), 4, 0)
		var sizes []int
		for _, rows := range in {
			sizes = append(sizes, len(rows))
		}
		if d := cmp.Diff(c.numbers, numbers) + cmp.Diff(c.sizes, sizes); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	for want, seq := range map[string]iter.Seq2[*Batch, error]{"begin at number 5": several(x(2, 3)), "too large": several(x(2, 3<<61))} {
		for _, err := range Chunks(seq, 4, 5) {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
	for _, err := range Chunks(several(x(2, 3)), 0, 0) {
		if err == nil {
			t.Error("chunks of no rows")
		}
	}
	b := x(3, 4)
	if s := b.Shift(10); s.Row(0) != 14 || b.Row(0) != 4 || twice.Shift(2).Row(3) != 11 || twice.Row(3) != 9 || b.Shift(0) != b {
		t.Error("shifted rows")
	}
}
