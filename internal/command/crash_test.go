package command

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/durable"
)

// A command that is killed at any moment leaves the earlier result or the new one,
// each whole; the next run takes away what is left of it.
func TestCrash(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: it takes long, and starts nothing that the race detector, which runs -short, could see")
	}
	if !durable.Claims {
		t.Skip("nothing is known here of what other processes left")
	}
	t.Parallel()
	temp := t.TempDir()
	place := func(names ...string) string { return filepath.Join(append([]string{temp}, names...)...) }
	data := place("rows.csv")
	write(t, data, rows(5000))
	decompose := []string{"decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--response", "y", "--out"}
	done(t, append(decompose, place("base"))...)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	kills := 4
	if long() {
		kills = 60
	}
	for _, c := range []struct {
		name       string
		first, new []string // the earlier result is of other options
		verify     bool
	}{
		{"decomposed", append(decompose[:10:10], place("decomposed"), "--formula", "~ x3"), append(decompose[:10:10], place("decomposed"), "--formula", "~ g + s(x3)"), true},
		{"applied.csv", []string{"apply", "--decomposition", place("base"), "--data", data, "--out", place("applied.csv")},
			[]string{"apply", "--decomposition", place("base"), "--data", data, "--se", "--out", place("applied.csv")}, false},
		{"applied.parquet", []string{"apply", "--decomposition", place("base"), "--data", data, "--out", place("applied.parquet")},
			[]string{"apply", "--decomposition", place("base"), "--data", data, "--se", "--out", place("applied.parquet")}, false},
		{"trained", []string{"train", "--data", data, "--formula", "y ~ x0", "--kind", "gam", "--out", place("trained")},
			[]string{"train", "--data", data, "--formula", "y ~ s(x0)", "--deep", "x1", "--epochs", "3", "--out", place("trained"), "--checkpoint", place("state")}, false},
	} {
		outcome := func(args []string) (map[string]string, time.Duration) {
			began := time.Now()
			cmd, stderr := process(args...)
			if err := cmd.Run(); err != nil {
				t.Fatalf("pho %q: %v\n%s", args, err, stderr)
			}
			return resultOf(t, place(c.name)), time.Since(began)
		}
		second, took := outcome(c.new)
		if err := os.RemoveAll(place(c.name)); err != nil {
			t.Fatal(err)
		}
		var first map[string]string // nothing at the beginning
		replaced := 0
		for i := range kills {
			cmd, _ := process(c.new...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			at := time.Duration(random.Float64() * 1.1 * float64(took))
			time.Sleep(at)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			got := resultOf(t, place(c.name))
			switch {
			case maps.Equal(got, second):
				replaced++
			case !maps.Equal(got, first):
				t.Errorf("%s, seed %d, killed after %v of %v: neither the earlier result nor the new one", c.name, seed, at, took)
			}
			if c.verify && len(got) > 0 {
				done(t, "verify", place(c.name))
			}
			if i%2 == 1 || maps.Equal(got, second) { // the other result is there, and all leftovers are gone
				first, _ = outcome(c.first)
				if left, _ := filepath.Glob(place("." + c.name + durable.TempMark + "*")); left != nil {
					t.Errorf("%s: the next run left %q", c.name, left)
				}
			}
		}
		outcome(c.new)
		if left := leftovers(t, temp); left != nil {
			t.Errorf("%s: the last run left %q", c.name, left)
		}
		t.Logf("%s takes %v; the new result was there after %d of %d kills", c.name, took, replaced, kills)
	}
}

// resultOf is what lies at path, a file or a directory, but for the times in it; nil
// if there is nothing.
func resultOf(t *testing.T, path string) map[string]string {
	t.Helper()
	if !exists(path) {
		return nil
	}
	files := contents(t, path)
	delete(files, filepath.Join(path, resultdir.Run))
	return files
}
