package arrow_test

import (
	"path/filepath"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/arrow"
	"github.com/pho-go/pho/data/internal/columnar/columnartest"
	"github.com/pho-go/pho/data/npy"
)

func opened(path string, na data.NAPolicy, batchRows int, factors ...string) (columnartest.Counted, error) {
	return arrow.Open([]string{path}, &arrow.Options{NA: na, BatchRows: batchRows, Factors: factors})
}

// TestGolden reads what pyarrow wrote: files and streams, compressed or not, with dictionaries and views.
func TestGolden(t *testing.T) {
	const golden = "../files/testdata/golden"
	for kind, files := range map[string]int{"rows": 5, "nulls": 5, "views": 1} {
		if n := columnartest.Golden(t, golden, kind, []string{".arrow", ".arrows", ".feather"}, opened); n != files {
			t.Errorf("%s: %d files compared", kind, n)
		}
	}
	columnartest.Times(t, golden, []string{"times.arrow"}, opened)
	arrays, err := npy.Open([]string{filepath.Join(golden, "lists.npz")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	columnartest.ListNulls(t, filepath.Join(golden, "list_nulls.arrow"), arrays, opened)
}
