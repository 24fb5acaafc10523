//go:build unix

package command

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// guard makes sure that a failure of the runtime (a panic in some goroutine, memory that the system does not
// give) cannot be taken for a wrong call, whose status it would have: the process then ends by SIGABRT. The first
// process of a container does not get that signal, so there the command runs in a child, and guard ends with it.
func guard() {
	if os.Getpid() == 1 {
		if code, err := child(); err == nil {
			os.Exit(code)
		}
	}
	debug.SetTraceback("crash")
	limit := unix.Rlimit{}
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil { // people's rows are not to be left in a file
		limit.Cur = 0
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit)
	}
}

// child runs this command line in a process of its own, hands signals on to it, and returns its exit status, of
// one that a signal ended as shells have it. An error is one of starting it.
func child() (code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	stdin := int(os.Stdin.Fd())
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's signals are for the child alone
	if term.IsTerminal(stdin) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Foreground: true, Ctty: stdin}
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s)
		}
	}()
	var exit *exec.ExitError
	if err := cmd.Wait(); errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 128 + int(status.Signal()), nil
		}
		return exit.ExitCode(), nil
	} else if err != nil {
		return exitFailed, nil
	}
	return exitDone, nil
}
