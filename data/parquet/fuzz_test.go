package parquet

import (
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/internal/columnar/columnartest"
)

func FuzzParquet(f *testing.F) {
	columnartest.Damaged(f, "../files/testdata/golden/*.parquet", "f.parquet", func(path string) (data.Source, error) {
		return Open([]string{path}, &Options{NA: data.NADrop, BatchRows: 100, Memory: 1 << 20})
	})
}
