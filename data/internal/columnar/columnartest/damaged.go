// Package columnartest holds the fuzz test that all readers of files of columns share.
package columnartest

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/pho-go/pho/data"
)

// Damaged has a format's reader open and read damaged files: no panic, and no more memory than its limits, the numbers
// read and the file's size allow. seeds is a pattern of whole files, name ends as the format's files do.
func Damaged(f *testing.F, seeds, name string, open func(path string) (data.Source, error)) {
	f.Helper()
	files, err := filepath.Glob(seeds)
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	path := filepath.Join(f.TempDir(), name)
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		read(t, func() (data.Source, error) { return open(path) }, len(b))
	})
}

// read reads all columns and then one by one, a few rows of each.
func read(t *testing.T, open func() (data.Source, error), size int) {
	var s data.Source
	var err error
	Bounded(t, size, func() (numbers int) {
		s, err = open()
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
		Bounded(t, size, func() (numbers int) {
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

// Bounded fails if f, which returns how many numbers it read, allocates far more than these, the limits and the file's size.
func Bounded(t *testing.T, size int, f func() (numbers int)) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	numbers := f()
	runtime.ReadMemStats(&after)
	if got, most := after.TotalAlloc-before.TotalAlloc, uint64(48<<20+1000*size+40*numbers); got > most {
		t.Fatalf("%d bytes allocated for a file of %d", got, size)
	}
}
