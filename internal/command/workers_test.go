package command

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// The number of workers changes no byte of a result, and a million of them take no
// more memory than the blocks of rows have use for.
func TestWorkers(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	data := filepath.Join(temp, "rows.csv")
	n := 20000
	args := []string{"--data", data, "--formula"}
	numbers := []string{"1", "2", "7", "1000000"}
	if testing.Short() {
		n, numbers = 9000, []string{"2", "7"}
	}
	write(t, data, rows(n))
	for command, more := range map[string][]string{
		"decompose": append(args, `y ~ s(x0) + s(x1, bs="ps") + te(x2, x3) + g`, "--model", golden("ssn_op13"), "--input", "x=x0..x4"),
		"train":     append(args, "y ~ s(x0)", "--deep", "x1,x2", "--epochs", "2", "--batch-size", "4096"),
	} {
		var want map[string]string
		for _, workers := range numbers {
			dir := filepath.Join(temp, command)
			cmd, stderr := process(append([]string{command, "--workers", workers, "--out", dir}, more...)...)
			peak, err := residentPeak(cmd)
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr)
			}
			if peak > 1<<30 {
				t.Errorf("%s --workers %s took %d MiB", command, workers, peak>>20)
			}
			got := contents(t, dir)
			delete(got, filepath.Join(dir, resultdir.Run))
			if want == nil {
				want = got
			}
			for name := range want {
				if got[name] != want[name] {
					t.Errorf("%s --workers %s: other bytes of %s", command, workers, filepath.Base(name))
				}
			}
		}
	}
}

// One worker is one processor, also in matrix products that know nothing of workers.
func TestOneProcessor(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	data := filepath.Join(temp, "rows.csv")
	write(t, data, rows(20000))
	for command, more := range map[string][]string{
		"decompose": {"--model", golden("ssn_op13"), "--input", "x=x0..x4", "--formula", "~ te(x0, x1)"},
		"train":     {"--formula", "y ~ s(x0)", "--kind", "gam"},
	} {
		cmd, stderr := process(append([]string{command, "--workers", "1", "--data", data, "--out", filepath.Join(temp, command)}, more...)...)
		cmd.Env = append(cmd.Env, "GODEBUG=schedtrace=10")
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, stderr)
		}
		if !strings.Contains(stderr.String(), " gomaxprocs=1 ") {
			t.Errorf("%s was free to use all processors:\n%.500s", command, stderr)
		}
	}
}
