package decompose_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/pho-go/pho/data"
)

// realData opens a file of the shared data sets; the test is skipped where it is not there.
func realData(t *testing.T, file string) data.Source {
	t.Helper()
	shared := os.Getenv("PHO_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "shared")
	}
	path := filepath.Join(shared, "data", file)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is not there", path)
	}
	src, err := data.OpenCSV([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}
