package arrow

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/pho-go/pho/data"
)

// FuzzArrow reads damaged files: no panic, and no more memory than the options
// and the file's size allow.
func FuzzArrow(f *testing.F) {
	seeds, err := filepath.Glob("../files/testdata/golden/*.[af][re][ra]*")
	if err != nil || len(seeds) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, name := range seeds {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	path := filepath.Join(f.TempDir(), "f.arrow")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		read(t, path, len(b))
	})
}

// read reads all columns and then one by one, a few rows of each.
func read(t *testing.T, path string, size int) {
	var s *Source
	var err error
	bounded(t, size, func() (numbers int) {
		s, err = Open([]string{path}, &Options{NA: data.NADrop, BatchRows: 100, Memory: 1 << 20})
		return 0
	})
	if err != nil {
		return
	}
	requests := [][]string{s.Schema().Names()}
	for i, name := range s.Schema().Names() {
		if i < 20 {
			requests = append(requests, []string{name})
		}
	}
	for _, columns := range requests {
		left := 1000
		width := 100 // of rows, with what all columns have
		for _, name := range columns {
			c, _ := s.Schema().Lookup(name)
			width += c.Width
		}
		bounded(t, size, func() (numbers int) {
			numbers = 100 * width // of a batch that is not yielded
			for b, err := range s.Batches(context.Background(), columns) {
				if err != nil {
					break
				}
				numbers += b.Rows() * width
				if left -= b.Rows(); left < 0 {
					break
				}
			}
			return numbers
		})
	}
}

// bounded fails if f, which returns how many numbers it read, allocates far more than these, the limits and the file's size.
func bounded(t *testing.T, size int, f func() (numbers int)) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	numbers := f()
	runtime.ReadMemStats(&after)
	if got, most := after.TotalAlloc-before.TotalAlloc, uint64(48<<20+1000*size+40*numbers); got > most {
		t.Fatalf("%d bytes allocated for a file of %d", got, size)
	}
}
