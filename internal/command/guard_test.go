//go:build linux

package command

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// crashing is a call of the command in which some goroutine panics.
func crashing(program string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "PHO_TEST_COMMAND=panic")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	return cmd, &stderr
}

func statusOf(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return exit.ExitCode()
}

// A panic that nobody recovers does not have the status of a wrong call, nor in the first process of a
// container, which does not get the signal that ends others.
func TestGuard(t *testing.T) {
	waits := []string{"decompose", "--model", golden("ssn_op13"), "--data", "-", "--out", filepath.Join(t.TempDir(), "out")}
	cmd, said := crashing(os.Args[0], waits...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	err = cmd.Run()
	if status := statusOf(t, err); status != -1 || !strings.Contains(err.Error(), "aborted") || !strings.Contains(said.String(), crashed) {
		t.Errorf("%v\n%s", err, said)
	}
	unshare, err := exec.LookPath("unshare")
	if err != nil || exec.Command(unshare, "--pid", "--fork", "--mount-proc", "true").Run() != nil {
		t.Skip("no process can be made the first one of its kind here")
	}
	cmd, said = crashing(unshare, append([]string{"--pid", "--fork", "--mount-proc", os.Args[0]}, waits...)...)
	if stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if status := statusOf(t, cmd.Run()); status != 128+6 || !strings.Contains(said.String(), crashed) {
		t.Errorf("as the first process: status %d\n%s", status, said)
	}
	for args, want := range map[string]int{"apply": exitUsage, "inspect " + golden("ssn_op13"): exitDone} {
		cmd, said := process(append([]string{"--pid", "--fork", "--mount-proc", os.Args[0]}, strings.Fields(args)...)...)
		cmd.Path = unshare
		_ = cmd.Run()
		if status := cmd.ProcessState.ExitCode(); status != want {
			t.Errorf("%s as the first process: status %d\n%s", args, status, said)
		}
	}
}
