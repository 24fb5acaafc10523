//go:build !race

package kernel

import (
	"runtime/debug"
	"syscall"
	"testing"
)

// faults is how often this process has met a page that was not there, or was not to be written.
func faults(t *testing.T) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Skip(err)
	}
	return u.Minflt
}

// TestZeros: additions to memory from Zeros meet no page for the first time. (The race detector meets its own.)
func TestZeros(t *testing.T) {
	const n, page = 4 << 20, 4096 / 8
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	v := Zeros[float64](n)
	before := faults(t)
	for i := range v {
		v[i]++
	}
	if met := faults(t) - before; met > n/page/4 {
		t.Errorf("%d faults on %d pages", met, n/page)
	}
	for i, x := range v {
		if x != 1 {
			t.Fatalf("number %d was %v", i, x-1)
		}
	}
	if len(Zeros[float32](0)) != 0 {
		t.Error("zeros where none are asked for")
	}
}
