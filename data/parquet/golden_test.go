package parquet

import (
	"path/filepath"
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
