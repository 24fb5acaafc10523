package parquet

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/pho-go/pho/data"
)

// FuzzParquet reads damaged files: no panic, and no more memory than the options
// and the file's size allow.
func FuzzParquet(f *testing.F) {
	seeds, err := filepath.Glob("../files/testdata/golden/*.parquet")
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
	path := filepath.Join(f.TempDir(), "f.parquet")
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
	bounded(t, size, func() {
		s, err = Open([]string{path}, &Options{NA: data.NADrop, BatchRows: 100, Memory: 1 << 20})
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
		bounded(t, size, func() {
			for b, err := range s.Batches(context.Background(), columns) {
				if err != nil {
					break
				}
				if left -= b.Rows(); left < 0 {
					break
				}
			}
		})
	}
}

// bounded fails if f allocates far more than the limits and the file's size.
func bounded(t *testing.T, size int, f func()) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if got, most := after.TotalAlloc-before.TotalAlloc, uint64(48<<20+1000*size); got > most {
		t.Fatalf("%d bytes allocated for a file of %d", got, size)
	}
}
