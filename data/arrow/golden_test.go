package arrow_test

import (
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/arrow"
	"github.com/pho-go/pho/data/internal/columnar/columnartest"
)

// TestGolden reads what pyarrow wrote: files and streams, compressed or not, with dictionaries and views.
func TestGolden(t *testing.T) {
	for kind, files := range map[string]int{"rows": 5, "nulls": 5, "views": 1} {
		n := columnartest.Golden(t, "../files/testdata/golden", kind, []string{".arrow", ".arrows", ".feather"}, func(path string, na data.NAPolicy, batchRows int) (columnartest.Counted, error) {
			return arrow.Open([]string{path}, &arrow.Options{NA: na, BatchRows: batchRows, Factors: []string{"x"}})
		})
		if n != files {
			t.Errorf("%s: %d files compared", kind, n)
		}
	}
}
