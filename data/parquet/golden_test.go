package parquet

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/internal/columnar/columnartest"
	"github.com/pho-go/pho/data/npy"
)

const golden = "../files/testdata/golden"

func opened(path string, na data.NAPolicy, batchRows int, factors ...string) (columnartest.Counted, error) {
	return Open([]string{path}, &Options{NA: na, BatchRows: batchRows, Factors: factors})
}

// TestGolden reads what pyarrow wrote by all codecs, encodings and versions of pages.
func TestGolden(t *testing.T) {
	for kind, files := range map[string]int{"rows": 9, "nulls": 9} {
		if n := columnartest.Golden(t, golden, kind, []string{".parquet"}, opened); n != files {
			t.Errorf("%s: %d files compared", kind, n)
		}
	}
	columnartest.Times(t, golden, []string{"times.parquet", "times_plain.parquet", "times_int96.parquet", "times_whole.parquet"}, opened)
}

// TestGoldenLists reads columns of lists that pyarrow, polars and DuckDB wrote, and compares them with arrays.
func TestGoldenLists(t *testing.T) {
	arrays, err := npy.Open([]string{filepath.Join(golden, "lists.npz")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := columnartest.Read(arrays.Batches(t.Context(), arrays.Schema().Names()), arrays.Schema())
	columnartest.ListNulls(t, filepath.Join(golden, "list_nulls.parquet"), arrays, opened)
	files, err := filepath.Glob(filepath.Join(golden, "lists_*.parquet"))
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		for _, o := range []*Options{{}, {BatchRows: 5, Workers: 2}, {BatchRows: 3, Range: data.RowRange{First: 4, Next: 11}}} {
			s, err := Open([]string{path}, o)
			if err != nil {
				t.Fatal(err)
			}
			got := columnartest.Read(s.Batches(t.Context(), s.Schema().Names()), s.Schema())
			first, next := int64(0), int64(12)
			if o.Range != (data.RowRange{}) {
				first, next = o.Range.First, o.Range.Next
			}
			if got.Err != "" || len(got.Tensors) < 10 || int64(len(got.Rows)) != next-first {
				t.Fatalf("%s: %s, %d columns, %d rows", path, got.Err, len(got.Tensors), len(got.Rows))
			}
			for name, v := range got.Tensors {
				width := int64(len(want.Tensors[name]) / 12)
				if diff := cmp.Diff(want.Tensors[name][first*width:next*width], v); diff != "" {
					t.Errorf("%s, %+v, column %q: %s", path, o, name, diff)
				}
			}
		}
	}
}

// TestRanges: rows of a range are those of the whole, wherever row groups and pages begin; others are passed over.
func TestRanges(t *testing.T) {
	for _, name := range []string{"rows_v2.parquet", "rows_plain.parquet", "rows_delta.parquet", "nulls_zstd.parquet"} {
		read := func(o *Options) columnartest.Rows {
			s, err := Open([]string{filepath.Join(golden, name)}, o)
			if err != nil {
				t.Fatal(err)
			}
			return columnartest.Read(s.Batches(t.Context(), s.Schema().Names()), s.Schema())
		}
		whole := read(&Options{NA: data.NAKeep})
		for _, r := range [][2]int{{0, 3}, {2, 250}, {124, 126}, {126, 127}, {249, 251}, {len(whole.Rows) - 1, len(whole.Rows)}} {
			got := read(&Options{NA: data.NAKeep, BatchRows: 50, Range: data.RowRange{First: int64(r[0]), Next: int64(r[1]), Number: int64(r[0])}})
			want := columnartest.Rows{Rows: whole.Rows[r[0]:r[1]], Numbers: map[string][]uint64{}, Text: map[string][]string{}, Tensors: map[string][]float64{}}
			for name, v := range whole.Numbers {
				want.Numbers[name] = v[r[0]:r[1]]
			}
			for name, v := range whole.Text {
				want.Text[name] = v[r[0]:r[1]]
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s, rows %v: %s", name, r, diff)
			}
		}
	}
}

// TestBeyond: whole numbers that float64 would round are errors where they are numbers, and exact where they are text.
func TestBeyond(t *testing.T) {
	path := filepath.Join(golden, "odd.parquet")
	for column, want := range map[string]string{"big": "9007199254740993", "ubig": "18446744073709551615"} {
		for _, o := range []*Options{{Texts: []string{column}}, {Factors: []string{column}}, nil} {
			s, err := Open([]string{path}, o)
			if err != nil {
				t.Fatal(err)
			}
			got := columnartest.Read(s.Batches(t.Context(), []string{column}), s.Schema())
			if o == nil && !strings.Contains(got.Err, `row 2, column "`+column+`": cell "`+want+`" is a whole number beyond 2^53`) {
				t.Errorf("%s: %v", column, got.Err)
			}
			if o != nil && !slices.Equal(got.Text[column], []string{"1", want}) {
				t.Errorf("%s: %+v", column, got)
			}
		}
	}
}
