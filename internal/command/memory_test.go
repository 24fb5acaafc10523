package command

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// estimateFactor bounds how far the estimate lies above what a run takes. It is a
// bound from above of the largest need, which the garbage collector decides.
const estimateFactor = 4

// The estimate bounds the peak of resident memory, and is of its size: many rows and
// few columns; many columns; many terms, outputs and contributions.
func TestMemoryEstimate(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("measures resident memory on linux")
	}
	temp := t.TempDir()
	many, few := filepath.Join(temp, "many.csv"), filepath.Join(temp, "few.csv")
	write(t, many, rows(150_000))
	write(t, few, rows(20_000))
	var wide []string
	for i := range 5 {
		wide = append(wide, fmt.Sprintf(`s(x%d, bs="cr", k=100)`, i))
	}
	for _, c := range []struct {
		name, data string
		args       []string
	}{
		{"rows", many, []string{"--model", golden("ssn_op13"), "--input", "x=x0..x4"}},
		{"columns", few, []string{"--model", golden("ssn_op13"), "--input", "x=x0..x4", "--formula", "~ " + strings.Join(wide, " + "), "--workers", "2"}},
		{"outputs", many, []string{"--model", golden("nam_deep_op13"), "--input", "x=x0..x3", "--contributions", "parquet", "--workers", "4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := os.Stat(c.args[1]); err != nil {
				t.Fatal(err)
			}
			var peak int64
			var event struct {
				Event string           `json:"event"`
				Bytes int64            `json:"bytes"`
				Parts map[string]int64 `json:"parts"`
			}
			// On a busy machine the watcher may come late and miss the peak.
			for try := 0; try < 3 && event.Bytes >= estimateFactor*peak; try++ {
				out := filepath.Join(temp, fmt.Sprint(c.name, try))
				cmd, stderr := process(append([]string{"decompose", "--data", c.data, "--log", "json", "--out", out}, c.args...)...)
				seen, err := residentPeak(cmd)
				if err != nil {
					t.Fatalf("%v\n%s", err, stderr)
				}
				peak = max(peak, seen)
				first, _, _ := strings.Cut(stderr.String(), "\n")
				if err := json.Unmarshal([]byte(first), &event); err != nil || event.Event != "memory" {
					t.Fatalf("%v: the first line is %s", err, first)
				}
			}
			t.Logf("estimate %d MiB, peak %d MiB; %v", event.Bytes>>20, peak>>20, event.Parts)
			if peak > event.Bytes {
				t.Errorf("the run took %d bytes, the estimate was %d", peak, event.Bytes)
			}
			if event.Bytes > estimateFactor*peak {
				t.Errorf("the estimate of %d bytes is more than %d times what the run took, %d", event.Bytes, estimateFactor, peak)
			}
		})
	}
}

// A run that does not fit is refused before it begins, with the part to make smaller;
// one that fits keeps to it and gives the same bytes.
func TestMaxMemory(t *testing.T) {
	temp := t.TempDir()
	data := filepath.Join(temp, "rows.csv")
	write(t, data, rows(5000))
	args := func(out string, more ...string) []string {
		return append([]string{"decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--out", filepath.Join(temp, out)}, more...)
	}
	big := []string{"--formula", `~ te(x0, x1, x2, k=c(14,14,14))`, "--sp", "te(x0,x1,x2)=1,1,1"}
	o := call(t, args("big", append(big, "--max-memory", "500MB")...)...)
	if o.status != exitFailed || !strings.HasPrefix(o.err, "pho: --max-memory 500MB: decompose: ") ||
		!strings.Contains(o.err, "of memory would be needed, 477 MiB are allowed (") ||
		!strings.HasSuffix(o.err, "terms with fewer columns (a smaller k, levels put together); or leave terms out: the widest are te(x0,x1,x2) (2744 columns)\n") {
		t.Errorf("too large: status %d\n%s", o.status, o.err)
	}
	if _, err := os.Stat(filepath.Join(temp, "big")); err == nil {
		t.Error("the refused run made its directory")
	}
	if o := call(t, args("x", "--max-memory", "plenty")...); o.status != exitUsage {
		t.Errorf("no size: status %d, %s", o.status, o.err)
	}
	done(t, args("free")...)
	done(t, args("bound", "--max-memory", "300MiB")...)
	for _, name := range []string{resultdir.Decomposition, resultdir.Moments, resultdir.Contributions, resultdir.Effects} {
		if read(t, temp, "free", name) != read(t, temp, "bound", name) {
			t.Errorf("%s differs with --max-memory", name)
		}
	}
}

// residentPeak runs cmd and watches its largest resident memory, 0 where there is no /proc: the peak that
// wait reports starts at the size of the process that started it.
func residentPeak(cmd *exec.Cmd) (peak int64, err error) {
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			return peak, err
		case <-time.After(2 * time.Millisecond):
		}
		raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		_, text, _ := strings.Cut(string(raw), "VmHWM:")
		var kilobytes int64
		if _, err := fmt.Sscan(text, &kilobytes); err == nil {
			peak = max(peak, kilobytes<<10)
		}
	}
}

// manyLevels writes rows for the network ssn_op13 with factors g0, g1, ... of so many levels each.
func manyLevels(t *testing.T, path string, factors, levels, n int) {
	t.Helper()
	var text strings.Builder
	text.WriteString("x0,x1,x2,x3,x4")
	for j := range factors {
		fmt.Fprintf(&text, ",g%d", j)
	}
	for i := range n {
		fmt.Fprintf(&text, "\n%d,%d,%d,%d,%d", i%7, i%11, i%13, i%17, i%19)
		for j := range factors {
			fmt.Fprintf(&text, ",l%d", (i*7919+i/levels*j*31)%levels)
		}
	}
	write(t, path, text.String()+"\n")
}

// A factor of 2,000 levels takes seconds, its standard errors and simultaneous bands included.
func TestManyLevels(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	manyLevels(t, filepath.Join(dir, "rows.csv"), 1, 2000, 5000)
	cmd, said := process("decompose", "--model", golden("ssn_op13"), "--data", filepath.Join(dir, "rows.csv"), "--input", "x=x0..x4", "--formula", "~ g0", "--out", filepath.Join(dir, "out"))
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if took := cmd.ProcessState.UserTime(); took > 20*time.Second { // 3 s; 50 s by an eigendecomposition of all levels
		t.Errorf("it took %v", took)
	}
}

// Without --max-memory a run that needs more memory than the machine has is refused; the message says where the memory
// goes and how to save it.
func TestMemoryOfMachine(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("no shell that limits memory")
	}
	dir := t.TempDir()
	manyLevels(t, filepath.Join(dir, "rows.csv"), 5, 1000, 3000)
	args := []string{"decompose", "--model", golden("ssn_op13"), "--data", filepath.Join(dir, "rows.csv"), "--input", "x=x0..x4", "--formula", "~ g0 + g1 + g2 + g3 + g4", "--out", filepath.Join(dir, "out")}
	cmd, said := process(append([]string{"-c", `ulimit -v 4000000; exec "$0" "$@"`, os.Args[0]}, args...)...)
	cmd.Path = shell
	_ = cmd.Run()
	for _, want := range []string{"the memory of this machine: ", "of memory would be needed, 3.8 GiB are allowed (", "robust bands ", "leave terms out: the widest are g0 (1000 columns), g1 (1000 columns), ", "--max-memory SIZE allows more"} {
		if cmd.ProcessState.ExitCode() != exitFailed || !strings.Contains(said.String(), want) {
			t.Errorf("no %q: %v\n%s", want, cmd.ProcessState, said)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("the refused run made its directory")
	}
}

func TestCollectionsByMemory(t *testing.T) {
	if some, huge := kept(1<<30), kept(5<<30); some != muchKept || huge != hugeKept {
		t.Errorf("the heap grows by %d %% where 1 GiB is needed, by %d %% where 5 GiB are", some, huge)
	}
}
