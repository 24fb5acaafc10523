package command

import (
	"bytes"
	"context"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// long tells that tests may take minutes: PHO_LONG=1.
func long() bool { return os.Getenv("PHO_LONG") != "" }

// A context that ends at any moment of any command ends it soon, with status 130;
// goroutines end with it, and files are as they were, or all of the result is there.
func TestCancelAnywhere(t *testing.T) {
	temp := t.TempDir()
	data, dir, out := filepath.Join(temp, "rows.csv"), filepath.Join(temp, "result"), filepath.Join(temp, "new", "out")
	n, rounds := 6000, 4
	switch {
	case long():
		rounds = 100
	case testing.Short():
		n, rounds = 2000, 2
	}
	write(t, data, rows(n))
	decompose := []string{"decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--response", "y", "--zeta-cache", filepath.Join(temp, "zeta")}
	done(t, append(decompose[:9:9], "--out", dir)...)
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	for _, args := range [][]string{
		append(decompose[:11:11], "--formula", `~ s(x0) + s(x1, bs="ps") + te(x2, x3) + g`, "--out", out),
		append(decompose[:11:11], "--formula", `~ s(x0) + s(x1) + g`, "--smoothing", "cv", "--groups", "dow", "--out", out),
		append(decompose[:11:11], "--formula", `~ s(x0) + s(x1)`, "--route", "qr", "--out", dir),
		{"apply", "--decomposition", dir, "--data", data, "--out", filepath.Join(temp, "applied.csv")},
		{"apply", "--decomposition", dir, "--data", data, "--out", filepath.Join(temp, "applied.parquet")},
		{"report", dir},
		{"train", "--data", data, "--formula", "y ~ s(x0)", "--deep", "x1,x2", "--epochs", "4", "--out", out},
	} {
		before := contents(t, temp)
		began := time.Now()
		done(t, args...)
		took := time.Since(began)
		after := contents(t, temp)
		restore(t, temp, before)
		interrupts := 0
		for range rounds {
			goroutines := runtime.NumGoroutine()
			ctx, cancel := context.WithCancel(context.Background())
			at := time.Duration(random.Float64() * 1.1 * float64(took))
			var cancelled time.Time
			timer := time.AfterFunc(at, func() { cancelled = time.Now(); cancel() })
			var stderr bytes.Buffer
			status := run(ctx, args, streams{out: &bytes.Buffer{}, err: &stderr})
			ended := time.Now()
			timer.Stop()
			cancel()
			now := contents(t, temp)
			switch {
			case status == exitInterrupted:
				interrupts++
				if late := ended.Sub(cancelled); late > 5*time.Second { // here without the end that main sees to, and on busy machines
					t.Errorf("pho %s: cancelled after %v, it ended %v later", args[0], at, late)
				}
				if args[0] != "report" && !maps.Equal(now, before) { // which writes two files one by one
					t.Errorf("pho %s: cancelled after %v, it left other files than there were", args[0], at)
				}
			case status != exitDone:
				t.Errorf("pho %s: cancelled after %v: status %d, %s", args[0], at, status, &stderr)
			case len(now) != len(after):
				t.Errorf("pho %s: done, and %d files in place of %d", args[0], len(now), len(after))
			}
			for path := range now {
				if strings.Contains(path, ".pho-") {
					t.Errorf("pho %s: cancelled after %v, it left %q", args[0], at, path)
				}
			}
			restore(t, temp, before)
			for wait := 0; runtime.NumGoroutine() > goroutines && wait < 100; wait++ {
				time.Sleep(10 * time.Millisecond)
			}
			if n := runtime.NumGoroutine(); n > goroutines {
				stacks := make([]byte, 1<<16)
				t.Fatalf("pho %s: cancelled after %v, %d goroutines are left:\n%s", args[0], at, n-goroutines, stacks[:runtime.Stack(stacks, true)])
			}
		}
		t.Logf("pho %s takes %v; interrupted %d of %d times", args[0], took, interrupts, rounds)
	}
}

// restore makes the files in dir what they were.
func restore(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for path := range contents(t, dir) {
		if _, ok := files[path]; !ok {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	for path, text := range files {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			if read(t, path) != text {
				write(t, path, text)
			}
		}
	}
}
