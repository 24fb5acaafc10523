package command

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pho-go/pho/adapters/onnx/onnxruntime"
	"github.com/pho-go/pho/adapters/onnx/onnxtest"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/durable"
)

// TestMain lets the test binary stand for the command in tests that need a
// process of its own.
func TestMain(m *testing.M) {
	switch os.Getenv("PHO_TEST_COMMAND") {
	case "":
		debug.SetGCPercent(400) // calls of the command leave much garbage, and little else
	case "helper": // pho-ort, without ONNX Runtime
		help(onnxtest.Runtime{})
	case "other helper": // one that rounds otherwise
		help(onnxtest.Runtime{Apart: 1e-4})
	case "panic":
		if os.Getpid() != 1 {
			time.AfterFunc(200*time.Millisecond, func() { panic(crashed) })
		}
		fallthrough
	default:
		Main()
	}
	os.Exit(m.Run())
}

// help is pho-ort with that in place of ONNX Runtime.
func help(r onnxruntime.Runtime) {
	if err := onnxruntime.Serve(os.Stdin, os.Stdout, r, "", nil); err != nil {
		panic(err)
	}
	os.Exit(0)
}

// crashed is the last word of a command that panics.
const crashed = "a goroutine of the test panics"

// process is the command in a process of its own.
func process(args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "PHO_TEST_COMMAND=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	return cmd, &stderr
}

// trigger cancels when text has been written to it.
type trigger struct {
	bytes.Buffer
	text   string
	once   sync.Once
	cancel context.CancelFunc
}

func (w *trigger) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if strings.Contains(w.String(), w.text) {
		w.once.Do(w.cancel)
	}
	return n, err
}

// An interrupt in either pass ends the work with status 130 and leaves everything
// as it was.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	data, dir := filepath.Join(temp, "rows.csv"), filepath.Join(temp, "result")
	write(t, data, rows(20000))
	args := []string{"decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--log", "json"}
	done(t, append(args, "--out", dir)...)
	before := contents(t, temp)
	for _, pass := range []string{"moments", "contributions"} {
		for _, out := range []string{dir, filepath.Join(temp, "new", "result")} {
			ctx, cancel := context.WithCancel(context.Background())
			w := &trigger{text: `"pass":"` + pass + `"`, cancel: cancel}
			status := run(ctx, append(args, "--out", out, "--formula", "~ g"), streams{out: &bytes.Buffer{}, err: w})
			if status != exitInterrupted {
				t.Errorf("%s: status %d\n%s", pass, status, w)
			}
			if !strings.HasSuffix(w.String(), `"status":130}`+"\n") {
				t.Errorf("%s: the last line is not the error:\n%s", pass, w)
			}
			if !maps.Equal(before, contents(t, temp)) {
				t.Errorf("%s: files changed", pass)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, args := range [][]string{
		append(args[:7:7], "--out", dir),
		{"apply", "--decomposition", dir, "--data", data, "--out", filepath.Join(temp, "applied.csv")},
		{"report", dir},
	} {
		o := callWith(t, ctx, nil, args...)
		if o.status != exitInterrupted || o.err != "pho: interrupted; unfinished results were removed\n" {
			t.Errorf("%s: status %d, %s", args[0], o.status, o.err)
		}
	}
	if !maps.Equal(before, contents(t, temp)) {
		t.Error("files changed")
	}
}

// checkResult reads a result as others do, and compares its parts.
func checkResult(t *testing.T, dir string, rows int) {
	t.Helper()
	doc := document(t, dir)
	sum := sha256.Sum256([]byte(read(t, dir, resultdir.Moments)))
	if doc["moments_sha256"] != hex.EncodeToString(sum[:]) {
		t.Error("moments.bin is not the one that decomposition.json names")
	}
	if _, err := resultdir.Read(dir); err != nil {
		t.Error(err)
	}
	if n := strings.Count(read(t, dir, resultdir.Contributions), "\n"); n != rows+1 {
		t.Errorf("%d lines of contributions, want %d", n, rows+1)
	}
	for _, name := range []string{resultdir.Effects, resultdir.Report, resultdir.Run} {
		if read(t, dir, name) == "" {
			t.Errorf("%s is empty", name)
		}
	}
	if !strings.HasSuffix(strings.TrimSpace(read(t, dir, resultdir.Report)), "</html>") {
		t.Error("the report is cut off")
	}
}

// A process that is killed at any moment leaves the earlier result or the new
// one, whole; one that is interrupted also cleans up after itself.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("generates 100,000 rows")
	}
	const n = 100_000
	temp := t.TempDir()
	data, dir := filepath.Join(temp, "rows.csv"), filepath.Join(temp, "result")
	write(t, data, rows(n))
	args := func(formula string) []string {
		return []string{"decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--out", dir, "--formula", formula}
	}
	started := time.Now()
	cmd, stderr := process(args("~ x3")...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	took := time.Since(started)
	checkResult(t, dir, n)
	earlier := read(t, dir, resultdir.Decomposition)
	random := rand.New(rand.NewPCG(uint64(started.UnixNano()), 0))
	formulas, replaced := []string{"~ x3 + x4", "~ x3"}, 0
	const kills = 6
	for i := range kills {
		before := leftovers(t, temp) // of those killed before
		cmd, stderr := process(args(formulas[replaced%2])...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		if i%2 == 0 { // any moment
			time.Sleep(time.Duration(random.Float64() * float64(took)))
		} else { // when the last file is there, and the result takes its place
			for len(ended) == 0 {
				found, _ := filepath.Glob(filepath.Join(temp, ".result"+durable.TempMark+"*", resultdir.Run))
				found = slices.DeleteFunc(found, func(path string) bool { return slices.Contains(before, filepath.Dir(path)) })
				if found != nil {
					break
				}
				time.Sleep(time.Millisecond)
			}
			time.Sleep(time.Duration(random.IntN(10)) * time.Millisecond)
		}
		signal := syscall.SIGKILL
		if i == 2 {
			signal = syscall.SIGINT
		}
		_ = cmd.Process.Signal(signal)
		err := <-ended
		var exit *exec.ExitError
		if signal == syscall.SIGINT && errors.As(err, &exit) {
			if exit.ExitCode() != exitInterrupted && exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT { // before main the signal kills
				t.Errorf("interrupted: %v\n%s", err, stderr)
			}
			if left := leftovers(t, temp); len(left) > len(before) && exit.ExitCode() == exitInterrupted {
				t.Errorf("interrupted, it left %q", left)
			}
		}
		checkResult(t, dir, n)
		if got := read(t, dir, resultdir.Decomposition); got != earlier {
			earlier = got
			replaced++
		}
	}
	cmd, stderr = process(args("~ x3")...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	checkResult(t, dir, n)
	if left := leftovers(t, temp); left != nil {
		t.Errorf("the last run left what those killed before it had left: %q", left)
	}
	t.Logf("one run takes %v; %d of %d were killed when the new result was in place", took, replaced, kills)
}

// leftovers are the unfinished results in dir.
func leftovers(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, ".*"+durable.TempMark+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
