package files_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
)

// Orders of categories that pandas and polars declare come with the codes, levels without a row among
// them, whatever batches are joined; columns without one have none.
func TestDeclaredOrders(t *testing.T) {
	low, high := []string{"low", "mid", "high"}, []string{"high", "mid", "low"}
	for _, c := range []struct {
		paths []string
		want  [][]string
	}{
		{[]string{"ordered.parquet"}, [][]string{low}},
		{[]string{"ordered.arrow"}, [][]string{low}},
		{[]string{"enum.parquet"}, [][]string{low}},
		{[]string{"enum.arrow"}, [][]string{low}},
		{[]string{"enum.parquet", "ordered.parquet"}, [][]string{low}},
		{[]string{"ordered.parquet", "ordered_back.parquet"}, [][]string{low, high}},
	} {
		for i, path := range c.paths {
			c.paths[i] = filepath.Join("testdata", "golden", path)
		}
		src, err := files.Open(c.paths, &files.Options{NA: data.NADrop, BatchRows: 2})
		if err != nil {
			t.Fatal(err)
		}
		for b, err := range data.Rebatch(src.Batches(context.Background(), []string{"g"}), 100) {
			if err != nil {
				t.Fatal(err)
			}
			codes, err := b.Slice(0, b.Rows()).Codes("g")
			if err != nil || !slices.EqualFunc(codes.Declared, c.want, func(a, b []string) bool { return slices.Equal(a, b) }) {
				t.Errorf("%q: orders %q, %v, want %q", c.paths, codes.Declared, err, c.want)
			}
		}
		if err := src.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
