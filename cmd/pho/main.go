// Command pho opens trained networks: it splits an additive predictor into an
// identifiable structured part and an orthogonal deep remainder.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes of the contract.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// streams are what a command reads and writes besides files.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// usageError is a wrong call, as opposed to work that failed.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run executes one command line and returns the exit status.
func run(ctx context.Context, args []string, s streams) (code int) {
	defer func() {
		if r := recover(); r != nil { // a bug of ours, still not a stack trace for users
			fmt.Fprintf(s.err, "pho: internal error: %v; please report it with the command line\n", r)
			code = exitFailed
		}
	}()
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var usage usageError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		fmt.Fprintf(s.err, "pho: %v\nRun 'pho --help' or 'pho COMMAND --help' for usage.\n", err)
		return exitUsage
	case ctx.Err() != nil:
		fmt.Fprintln(s.err, "pho: interrupted; nothing was written")
		return exitInterrupted
	}
	fmt.Fprintf(s.err, "pho: %v\n", err)
	return exitFailed
}
