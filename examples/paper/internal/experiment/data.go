package experiment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrNoData says that a data set is not there.
var ErrNoData = errors.New("no data")

// dataDirectory is PHO_DATA, or where the project keeps its data, from the module's root.
func dataDirectory() string {
	if d := os.Getenv("PHO_DATA"); d != "" {
		return d
	}
	return filepath.Join("..", "..", "..", "shared", "data")
}

// DataFile is the path of a file below the data directory. An error that wraps
// ErrNoData says how to get it.
func (e *Experiment) DataFile(elem ...string) (string, error) {
	path := filepath.Join(append([]string{e.Data}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%w at %q: run `make data`, or set PHO_DATA to the directory that has it", ErrNoData, path)
	}
	return path, nil
}

// test is what NeedData needs of a testing.TB: programs do not link that package.
type test interface {
	Helper()
	Skipf(format string, args ...any)
}

// NeedData returns the data directory for a test in a package depth directories
// below the module's root, and skips the test if it is not there.
func NeedData(t test, depth int) string {
	t.Helper()
	d := dataDirectory()
	if os.Getenv("PHO_DATA") == "" {
		for range depth {
			d = filepath.Join("..", d)
		}
	}
	if _, err := os.Stat(d); err != nil {
		t.Skipf("no data sets at %q: run `make data` or set PHO_DATA", d)
	}
	return d
}
