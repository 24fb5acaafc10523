package arrow

import (
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/internal/columnar/columnartest"
)

func FuzzArrow(f *testing.F) {
	columnartest.Damaged(f, "../files/testdata/golden/*.[af][re][ra]*", "f.arrow", func(path string) (data.Source, error) {
		return Open([]string{path}, &Options{NA: data.NADrop, BatchRows: 100, Memory: 1 << 20})
	})
}
