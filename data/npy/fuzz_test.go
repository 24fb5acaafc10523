package npy

import (
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/internal/columnar/columnartest"
)

func FuzzNPY(f *testing.F) {
	columnartest.Damaged(f, "testdata/golden/*.np?", "f.npz", func(path string) (data.Source, error) {
		return Open([]string{path}, &Options{NA: data.NADrop, BatchRows: 100})
	})
}
