package decompose_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// inShard are options for rows [from, to) of chunks of 4096.
func inShard(from, to int, o decompose.Options) *decompose.Options {
	o.FirstChunk, o.FirstRow, o.Chunks = from/4096, int64(from), (to-from+4095)/4096
	return &o
}

// refused reports an error that lacks one of the texts.
func refused(t *testing.T, what string, err error, want ...string) {
	t.Helper()
	for _, text := range want {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %q", what, err, text)
		}
	}
}

// TestGapsInStatistics: missing shards are named, and a shard that comes twice changes
// neither sum.
func TestGapsInStatistics(t *testing.T) {
	ctx, tab := t.Context(), table(t, 5*4096, 3)
	m := formulaModel(t, "~ x0 + x1", tab, 1)
	of := func(from, to int) *decompose.Statistics {
		s, err := decompose.Accumulate(ctx, m, someRows{tab, from * 4096, to * 4096, nil}, inShard(from*4096, to*4096, decompose.Options{Columns: decompose.Columns{Groups: "day"}}))
		must(t, err)
		return s
	}
	s := of(3, 5)
	must(t, s.Merge(of(0, 1)))
	if got := fmt.Sprint(s.Runs()); got != "[[0 1] [3 5]]" || s.Rows() != 3*4096 {
		t.Errorf("runs %s of %d rows", got, s.Rows())
	}
	o := &decompose.Options{Columns: decompose.Columns{Groups: "day"}}
	_, err := decompose.Solve(ctx, m, s, o)
	refused(t, "a gap", err, "not complete", "chunks 1 to 2")
	_, err = decompose.Constrain(m, s, 0)
	refused(t, "coordinates with a gap", err, "not complete", "chunks 1 to 2")
	twice := of(2, 4)
	before, was := bytesOf(t, s), bytesOf(t, twice)
	refused(t, "a chunk twice", s.Merge(twice), "chunk 3 is there already")
	refused(t, "itself", s.Merge(s), "there already")
	if !bytes.Equal(bytesOf(t, s), before) || !bytes.Equal(bytesOf(t, twice), was) {
		t.Error("refused merges left traces")
	}
	must(t, s.Merge(of(1, 3)))
	whole, err := decompose.Accumulate(ctx, m, tab, o)
	must(t, err)
	if !bytes.Equal(bytesOf(t, s), bytesOf(t, whole)) {
		t.Error("merged in another order they have other bytes than one pass")
	}
	none, err := decompose.Accumulate(ctx, m, someRows{tab, 0, 0, nil}, nil)
	must(t, err)
	_, err = decompose.Solve(ctx, m, none, nil)
	refused(t, "no rows", err, "the data have no rows")
	must(t, decompose.Explain(ctx, m, tab, decomposed(t, m, tab, nil), nil))
	refused(t, "no rows", decompose.Explain(ctx, m, someRows{tab, 0, 0, nil}, decomposed(t, m, tab, nil), nil), "the data have no rows")
}

// TestRowsOutsideTheShard: rows that a shard does not have by its own words.
func TestRowsOutsideTheShard(t *testing.T) {
	ctx, tab := t.Context(), table(t, 3*4096, 3)
	m := formulaModel(t, "~ x0 + x1", tab, 1)
	for name, c := range map[string]struct {
		from, to int
		o        *decompose.Options
		want     string
	}{
		"before":   {0, 8192, inShard(4096, 8192, decompose.Options{}), "begin at number 4096"},
		"behind":   {0, 8193, inShard(0, 8192, decompose.Options{}), "data row 8193"},
		"negative": {0, 8192, &decompose.Options{Resources: decompose.Resources{FirstRow: -1}}, "from row -1"},
	} {
		_, err := decompose.Accumulate(ctx, m, someRows{tab, c.from, c.to, nil}, c.o)
		refused(t, name, err, c.want)
	}
}

// numbered are rows with numbers of their own.
type numbered struct {
	*data.Table
	number func(row int64) int64
}

func (s numbered) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		for b, err := range s.Table.Batches(ctx, columns) {
			if err == nil {
				b = b.Slice(0, b.Rows())
				rows := make([]int64, b.Rows())
				for i := range rows {
					rows[i] = s.number(b.Row(i))
				}
				err = b.SetRows(rows)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// TestNumbersThatAreNames: rows that are numbered from 0 in every batch, or by what are
// no places, are cut by counting.
func TestNumbersThatAreNames(t *testing.T) {
	tab := table(t, 9000, 3)
	tab.BatchRows = 1000
	m := formulaModel(t, "~ x0 + x1", tab, 1)
	want, err := decompose.Accumulate(t.Context(), m, tab, nil)
	must(t, err)
	for name, number := range map[string]func(int64) int64{
		"each batch":     func(row int64) int64 { return row % 1000 },
		"times":          func(row int64) int64 { return 1_700_000_000_000 + 60_000*row },
		"backwards":      func(row int64) int64 { return 9000 - row },
		"once each 1000": func(row int64) int64 { return row / 1000 },
	} {
		got, err := decompose.Accumulate(t.Context(), m, numbered{tab, number}, nil)
		must(t, err)
		if !bytes.Equal(bytesOf(t, got), bytesOf(t, want)) && name != "backwards" { // begins at 9000
			t.Errorf("%s: other bytes", name)
		}
		if got.Rows() != 9000 {
			t.Errorf("%s: %d rows", name, got.Rows())
		}
	}
	far, err := decompose.Accumulate(t.Context(), m, numbered{tab, func(row int64) int64 { return 1<<50 + row }}, nil)
	must(t, err)
	if _, err := decompose.Solve(t.Context(), m, far, nil); err != nil {
		t.Error(err)
	}
}

// inOrder is a visitor that writes rows in order, as contributions are written.
type inOrder struct{ next int64 }

func (v *inOrder) Begin(*decompose.Result) error       { return nil }
func (v *inOrder) Columns() []string                   { return nil }
func (v *inOrder) Map(p *decompose.Parts) (any, error) { return p.Batch, nil }
func (v *inOrder) End(*decompose.Result) error         { return nil }
func (v *inOrder) Reduce(part any) error {
	b := part.(*data.Batch)
	if b.Row(0) != v.next {
		return fmt.Errorf("row %d comes after row %d", b.Row(0), v.next-1)
	}
	v.next += int64(b.Rows())
	return nil
}

// TestFaultsOfTheLastPass: sums of another fit, visitor or chunk are refused and
// leave both as they were; visitors that are no sums see rows in order in one process and are
// refused in a shard.
func TestFaultsOfTheLastPass(t *testing.T) {
	ctx, tab := t.Context(), table(t, 4*4096, 3)
	m := formulaModel(t, "~ s(x0,bs=\"ps\",k=6) + x1", tab, 1)
	order := &inOrder{}
	r := decomposed(t, m, tab, &decompose.Options{Visitors: []decompose.Visitor{&adding{}, order}})
	if order.next != 4*4096 {
		t.Errorf("%d rows came in order", order.next)
	}
	of := func(r *decompose.Result, from, to int) *decompose.Explanation {
		e, err := decompose.NewExplaining(m, r, inShard(from*4096, to*4096, decompose.Options{Visitors: []decompose.Visitor{&adding{}}}))
		must(t, err)
		s, err := e.Accumulate(ctx, someRows{tab, from * 4096, to * 4096, nil})
		must(t, err)
		return s
	}
	a := of(r, 2, 4)
	other := decomposed(t, m, someRows{tab, 0, 5000, nil}, nil)
	withOther, err := decompose.NewExplaining(m, r, &decompose.Options{Visitors: []decompose.Visitor{order}})
	must(t, err)
	_, err = withOther.Accumulate(ctx, tab)
	refused(t, "a visitor that is no sums", err, "inOrder", "leave it out")
	two, err := decompose.NewExplaining(m, r, &decompose.Options{Visitors: []decompose.Visitor{&adding{}, &adding{}}})
	must(t, err)
	twoVisitors, err := two.Accumulate(ctx, someRows{tab, 0, 4096, nil})
	must(t, err)
	before := bytesOf(t, a)
	for name, c := range map[string]struct {
		next *decompose.Explanation
		want string
	}{
		"twice":       {of(r, 1, 3), "chunk 2 is there already"},
		"itself":      {a, "would count twice"},
		"another fit": {of(other, 0, 1), "another fit"},
		"visitors":    {twoVisitors, "1 and 2 visitors"},
		"nothing":     {nil, "there are none"},
	} {
		var was []byte
		if c.next != nil {
			was = bytesOf(t, c.next)
		}
		refused(t, name, a.Merge(c.next), c.want)
		if !bytes.Equal(bytesOf(t, a), before) || c.next != nil && !bytes.Equal(bytesOf(t, c.next), was) {
			t.Errorf("%s: a refused merge left traces", name)
		}
	}
	e, err := decompose.NewExplaining(m, r, &decompose.Options{Visitors: []decompose.Visitor{&adding{}}})
	must(t, err)
	refused(t, "a gap", e.Take(ctx, a), "not complete", "chunks 0 to 1")
	must(t, a.Merge(of(r, 0, 2)))
	total := bytesOf(t, a)
	must(t, e.Take(ctx, a))
	refused(t, "behind the end", e.Take(ctx, readExplanation(t, total)), "over")
	_, err = e.Accumulate(ctx, tab)
	refused(t, "behind the end", err, "over")

	doc, moments := encode(t, r)
	read, err := decompose.Read(bytes.NewReader(doc), bytes.NewReader(moments), basis.Decode)
	must(t, err)
	e, err = decompose.NewExplaining(m, read, &decompose.Options{Visitors: []decompose.Visitor{&adding{}}})
	must(t, err)
	refused(t, "completing what was read", e.Take(ctx, readExplanation(t, total)), "solve the statistics again")
}

// TestTiesOfTheLargestMiss: the row that is told is the first of those that miss most, and
// NaN is most.
func TestFaultIsTheFirstRow(t *testing.T) {
	tab := table(t, 3*4096, 8)
	f := newFake(1).withTap()
	f.corruptTap = true
	r, err := decompose.Decompose(t.Context(), f, tab, nil)
	if err == nil || r != nil {
		t.Fatal("a corrupt tap was not seen")
	}
	s, err := decompose.Accumulate(t.Context(), f, tab, nil)
	must(t, err)
	solved, err := decompose.Solve(t.Context(), f, s, nil)
	must(t, err)
	e, err := decompose.NewExplaining(f, solved, nil)
	must(t, err)
	var parts []*decompose.Explanation
	for i := range 3 {
		own, err := decompose.NewExplaining(f, solved, inShard(i*4096, (i+1)*4096, decompose.Options{}))
		must(t, err)
		part, err := own.Accumulate(t.Context(), someRows{tab, i * 4096, (i + 1) * 4096, nil})
		must(t, err)
		parts = append(parts, part)
	}
	must(t, errors.Join(parts[2].Merge(parts[0]), parts[2].Merge(parts[1])))
	if again := e.Take(t.Context(), parts[2]); again == nil {
		t.Error("a corrupt tap was not seen in shards")
	} else if row := func(err error) string { return strings.SplitN(err.Error(), ":", 3)[1] }; row(again) != row(errOf(f, tab)) {
		t.Errorf("%v, want %v", again, errOf(f, tab))
	}
}

func errOf(m decompose.Model, tab data.Source) error {
	_, err := decompose.Decompose(context.Background(), m, tab, nil)
	return err
}

// TestDamagedExplanation: what was cut short is refused, wherever.
func TestDamagedExplanation(t *testing.T) {
	tab := table(t, 300, 4)
	m := newFake(1)
	o := &decompose.Options{Columns: decompose.Columns{Cluster: "day"}, Visitors: []decompose.Visitor{&adding{}}}
	e, err := decompose.NewExplaining(m, decomposed(t, m, tab, o), o)
	must(t, err)
	s, err := e.Accumulate(t.Context(), tab)
	must(t, err)
	raw := bytesOf(t, s)
	for at := range len(raw) {
		if _, err := decompose.DecodeExplanation(raw[:at], decodeDeep); err == nil {
			t.Fatalf("%d of %d bytes were read", at, len(raw))
		}
	}
	_, err = decompose.DecodeExplanation(append(raw, 0), decodeDeep)
	refused(t, "a byte more", err, "damaged")
	_, err = decompose.DecodeExplanation(raw, nil)
	refused(t, "a kind that nobody reads", err, "deep/1")
	_, err = decompose.DecodeExplanation(bytes.Replace(raw, []byte("explanation/1"), []byte("explanation/2"), 1), decodeDeep)
	refused(t, "a later version", err, "another version")
}

// FuzzDecodeExplanation: damaged sums are an error, never a panic, and what is read is
// written as it was.
func FuzzDecodeExplanation(f *testing.F) {
	tab := table(f, 400, 4)
	for _, o := range []decompose.Options{{}, {Columns: decompose.Columns{Cluster: "day"}}, {Bands: decompose.NoBands}} {
		o.Visitors = []decompose.Visitor{&adding{}}
		m := newFake(2).withTap()
		r, err := decompose.Decompose(context.Background(), m, tab, &o)
		if err != nil {
			f.Fatal(err)
		}
		o.Chunks, o.FirstChunk = 3, 2
		e, err := decompose.NewExplaining(m, r, &o)
		if err != nil {
			f.Fatal(err)
		}
		s, err := e.Accumulate(context.Background(), tab)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytesOf(f, s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := decompose.DecodeExplanation(raw, decodeDeep)
		if err != nil {
			return
		}
		again, err := s.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		same, err := decompose.DecodeExplanation(again, decodeDeep)
		if err != nil {
			t.Fatalf("what was written is not read: %v", err)
		}
		if !bytes.Equal(bytesOf(t, same), again) {
			t.Error("other bytes")
		}
		_ = s.Merge(same)
	})
}
