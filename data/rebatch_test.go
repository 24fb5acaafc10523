package data

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// whole draws a batch with every sort of column, with or without gaps between
// its rows.
func whole(t *rapid.T) *Batch {
	n := rapid.IntRange(1, 40).Draw(t, "rows")
	b := NewBatch(n, rapid.Int64Range(0, 9).Draw(t, "first"))
	x, code, u := make([]float64, n), make([]int32, n), mat.NewDense(n, 2, nil)
	seen := int32(0)
	for i := range n {
		x[i] = float64(i) + 0.5
		code[i] = rapid.Int32Range(0, seen).Draw(t, "code")
		seen = max(seen, code[i]+1)
		u.SetRow(i, []float64{float64(i), float64(-i)})
	}
	levels := make([]string, seen)
	for k := range levels {
		levels[k] = fmt.Sprint("level ", k)
	}
	b.SetNumeric("x", x)
	b.SetCodes("g", Codes{Index: code, Levels: levels})
	b.SetTensor("u", u)
	if rapid.Bool().Draw(t, "gaps") {
		rows, next := make([]int64, n), b.first
		for i := range rows {
			next += rapid.Int64Range(1, 3).Draw(t, "step")
			rows[i] = next
		}
		b.SetRows(rows)
	}
	return b
}

// cut yields b in pieces of drawn sizes, in b's memory or in their own. Levels of a piece are those seen so
// far, as of a source that finds them while it reads.
func cut(t *rapid.T, b *Batch) iter.Seq2[*Batch, error] {
	var ends []int
	for i := 0; i < b.rows; {
		i = min(b.rows, i+rapid.IntRange(1, b.rows).Draw(t, "piece"))
		ends = append(ends, i)
	}
	return func(yield func(*Batch, error) bool) {
		from := 0
		for _, to := range ends {
			piece := b.Slice(from, to)
			if rapid.Bool().Draw(t, "own memory") {
				piece.numeric["x"] = slices.Clone(piece.numeric["x"])
				piece.tensors["u"] = mat.DenseCopyOf(piece.tensors["u"])
			}
			c := b.codes["g"]
			seen := slices.Max(c.Index[:to]) + 1
			piece.codes["g"] = Codes{Index: c.Index[from:to], Levels: slices.Clone(c.Levels[:seen])}
			if !yield(piece, nil) || !yield(NewBatch(0, 0), nil) { // an empty batch changes nothing
				return
			}
			from = to
		}
	}
}

func TestRebatchDoesNotDependOnCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := whole(t)
		rows := rapid.IntRange(1, 45).Draw(t, "batch")
		want := flatten(several(b)).uncut()
		for n := b.rows; n > 0; n -= rows {
			want.Sizes = append(want.Sizes, min(n, rows))
		}
		if d := cmp.Diff(want, flatten(Rebatch(cut(t, b), rows))); d != "" {
			t.Error(d)
		}
	})
}

func several(batches ...*Batch) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		for _, b := range batches {
			if !yield(b, nil) {
				return
			}
		}
	}
}

func TestRebatchSharesWhereAligned(t *testing.T) {
	b := NewBatch(6, 0)
	x := []float64{0, 1, 2, 3, 4, 5}
	check(t, b.SetNumeric("x", x))
	i := 0
	for piece, err := range Rebatch(several(b), 2) {
		check(t, err)
		v, _ := piece.Numeric("x")
		if &v[0] != &x[i] {
			t.Errorf("rows %d and %d were copied", i, i+1)
		}
		i += 2
	}
	for piece := range Rebatch(several(b), 6) {
		if piece != b {
			t.Error("a batch that fits was not passed through")
		}
	}
}

// A batch that some cut is the same memory again, but for rows that they left out.
func TestRebatchSharesWhatLiesTogether(t *testing.T) {
	b := NewBatch(7, 0)
	x, u, g := []float64{0, 1, 2, 3, 4, 5, 6}, mat.NewDense(7, 2, nil), []int32{0, 1, 0, 1, 0, 1, 0}
	for i := range x {
		u.Set(i, 1, x[i])
	}
	check(t, b.SetNumeric("x", x))
	check(t, b.SetTensor("u", u))
	check(t, b.SetCodes("g", Codes{Index: g, Levels: []string{"a", "b"}}))
	for _, c := range []struct {
		pieces [][2]int
		shared bool
	}{
		{[][2]int{{1, 2}, {2, 5}, {5, 6}}, true},
		{[][2]int{{0, 2}, {3, 5}, {5, 6}}, false},
		{[][2]int{{3, 5}, {0, 3}}, false},
		{[][2]int{{0, 1}, {0, 4}}, false},
	} {
		var pieces []*Batch
		var want []float64
		for _, p := range c.pieces {
			pieces, want = append(pieces, b.Slice(p[0], p[1])), append(want, x[p[0]:p[1]]...)
		}
		for joined, err := range Rebatch(several(pieces...), len(want)) {
			check(t, err)
			v, _ := joined.Numeric("x")
			w, _ := joined.Tensor("u")
			codes, _ := joined.Codes("g")
			at := c.pieces[0][0]
			if shared := []bool{&v[0] == &x[at], &w.RawMatrix().Data[0] == &u.RawMatrix().Data[2*at], &codes.Index[0] == &g[at]}; !slices.Equal(shared, []bool{c.shared, c.shared, c.shared}) {
				t.Errorf("rows %v: shared %v", c.pieces, shared)
			}
			if !slices.Equal(v, want) || !slices.Equal(mat.Col(nil, 1, w), want) {
				t.Errorf("rows %v: joined to %v and %v", c.pieces, v, mat.Col(nil, 1, w))
			}
			if cap(v) != len(v) {
				t.Errorf("rows %v: whoever appends writes to other rows", c.pieces)
			}
		}
	}
}

func TestRebatchStops(t *testing.T) {
	table := NewTable(100)
	table.BatchRows = 3
	n := 0
	for range Rebatch(table.Batches(t.Context(), nil), 4) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d batches", n)
	}
}

func TestRebatchErrors(t *testing.T) {
	with := func(set func(b *Batch)) *Batch {
		b := NewBatch(1, 0)
		set(b)
		return b
	}
	x := with(func(b *Batch) { b.SetNumeric("x", []float64{1}) })
	g := with(func(b *Batch) { b.SetCodes("x", Codes{Index: []int32{0}, Levels: []string{"a"}}) })
	h := with(func(b *Batch) { b.SetCodes("x", Codes{Index: []int32{0}, Levels: []string{"b", "a"}}) })
	u := with(func(b *Batch) { b.SetTensor("u", mat.NewDense(1, 1, nil)) })
	v := with(func(b *Batch) { b.SetTensor("u", mat.NewDense(1, 2, nil)) })
	failing := func(yield func(*Batch, error) bool) {
		_ = yield(x, nil) && yield(nil, errors.New("the disk is gone"))
	}
	for name, c := range map[string]struct {
		seq  iter.Seq2[*Batch, error]
		rows int
		want string
	}{
		"no rows":         {several(x), 0, "data: batches of 0 rows are not possible"},
		"source fails":    {failing, 2, "the disk is gone"},
		"column missing":  {several(x, NewBatch(1, 1)), 2, `data: column "x" is in some batches and not, or held otherwise, in others`},
		"column appears":  {several(NewBatch(1, 1), x), 2, `data: column "x" is in some batches and not, or held otherwise, in others`},
		"number and code": {several(x, g), 2, `data: column "x" is in some batches and not, or held otherwise, in others`},
		"levels reorder":  {several(g, h), 2, `data: the levels of column "x" change their order between batches`},
		"tensor":          {several(u, x), 2, `data: column "x" is in some batches and not, or held otherwise, in others`},
		"width":           {several(u, v), 2, `data: tensor "u" has width 1 in one batch and 2 in the next`},
	} {
		if got := flatten(Rebatch(c.seq, c.rows)); got.Err != c.want || len(got.Rows) > 0 {
			t.Errorf("%s: got %q after %d rows, want %q", name, got.Err, len(got.Rows), c.want)
		}
	}
}
