package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A signal ends the command within a second wherever it is, here in the solution of
// many columns, which takes longer; nothing is left, and the last words are said.
func TestSignalsWhileSolving(t *testing.T) {
	if runtime.GOOS == "windows" || testing.Short() {
		t.Skip("no such signals, or a solution of seconds")
	}
	temp := t.TempDir()
	const n, levels = 8000, 3500
	var text strings.Builder
	text.WriteString("x0,x1,x2,x3,x4,g\n")
	for i := range n {
		fmt.Fprintf(&text, "%d,%d,%d,%d,%d,l%d\n", i%7, i%11, i%13, i%17, i%19, i*7919%levels)
	}
	data := filepath.Join(temp, "rows.csv")
	write(t, data, text.String())
	before := contents(t, temp)
	for _, c := range []struct {
		signal syscall.Signal
		log    string
	}{{syscall.SIGINT, "json"}, {syscall.SIGTERM, "json"}, {syscall.SIGHUP, "json"}} {
		if signal.Ignored(c.signal) { // by who started the tests, and so by the command, too
			t.Logf("SKIPPED: %v is ignored here, as nohup does", c.signal)
			continue
		}
		cmd := exec.Command(os.Args[0], "decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--formula", "~ g",
			"--out", filepath.Join(temp, "new", "result"), "--log", c.log)
		cmd.Env = append(os.Environ(), "PHO_TEST_COMMAND=1")
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(stderr)
		said := ""
		for !strings.Contains(said, `"pass":"moments"`) {
			line, err := lines.ReadString('\n')
			if said += line; err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
		}
		time.Sleep(500 * time.Millisecond) // now it solves
		sent := time.Now()
		if err := cmd.Process.Signal(c.signal); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(lines)
		err = cmd.Wait()
		took := time.Since(sent)
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
			t.Errorf("%v: %v\n%s%s", c.signal, err, said, rest)
		}
		if took > 3*time.Second { // a second on a machine that does nothing else
			t.Errorf("%v: it took %v to end", c.signal, took)
		}
		if !strings.HasSuffix(string(rest), `"event":"error","message":"interrupted; unfinished results were removed","status":130}`+"\n") {
			t.Errorf("%v: last words %q", c.signal, rest)
		}
		if after := contents(t, temp); len(after) != len(before) {
			t.Errorf("%v: files are left", c.signal)
		}
		t.Logf("%v: ended after %v", c.signal, took)
	}
}

// What nohup or a shell's & made the process ignore stays ignored.
func TestIgnoredSignals(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell to ignore a signal with")
	}
	dir := filepath.Join(t.TempDir(), "demo")
	cmd := exec.Command(shell, "-c", `trap "" HUP; "$0" demo --rows 1000 --out "$1" & child=$!; sleep 0.2; kill -HUP $child; wait $child`, os.Args[0], dir)
	cmd.Env = append(os.Environ(), "PHO_TEST_COMMAND=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
