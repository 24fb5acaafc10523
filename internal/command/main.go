// Package command is the command pho: flags in, calls, files out. Programs call Main; they differ
// in the stores that they can open.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/internal/app/store"
	"github.com/pho-go/pho/internal/base/durable"
)

// Exit codes of the contract.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// streams are what a command reads and writes besides files, and the command
// line it was called with.
type streams struct {
	in       io.Reader
	out, err io.Writer // for people, and as plainWriter writes
	data     io.Writer // standard output for data, byte by byte
	args     []string
	end      *ending     // nil: of a process that nobody ends early
	files    store.Store // nil: the disk
}

// unfinished lists what is to be removed if the process has to end.
func (s streams) unfinished() *durable.Unfinished {
	if s.end == nil {
		return nil
	}
	return &s.end.Unfinished
}

// Main runs the command line of the process, which reads and writes the disk, and ends it.
func Main() { MainWith(nil) }

// MainWith is Main for a program whose files are opened by the given store; nil: the disk.
func MainWith(files store.Store) {
	guard()
	ctx, end := interruptible(), new(ending)
	end.after(ctx, patience, os.Exit)
	os.Exit(run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, end: end, files: files}))
}

// Run runs one command line, without the program's name, and returns its exit status. files
// opens and writes what it names; nil: the disk.
func Run(ctx context.Context, args []string, in io.Reader, out, err io.Writer, files store.Store) int {
	return run(ctx, args, streams{in: in, out: out, err: err, files: files})
}

// usageError is a call that is wrong whatever the files hold, as opposed to work
// that failed.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// loggedError has been told to the user already, in the form they asked for.
type loggedError struct{ error }

func (e loggedError) Unwrap() error { return e.error }

// run executes one command line and returns the exit status.
func run(ctx context.Context, args []string, s streams) (code int) {
	defer func() {
		if r := recover(); r != nil { // a bug of ours, still not a stack trace for users
			fmt.Fprintf(s.err, "pho: internal error: %v; please report it with the command line\n", r)
			code = exitFailed
		}
	}()
	s.args, s.data = args, s.out
	staged := &staging{files: s.files, unfinished: s.unfinished()}
	defer staged.discard()
	out, words := &plainWriter{w: urlWriter{s.out, staged}}, &plainWriter{w: urlWriter{s.err, staged}}
	s.out, s.err = out, words
	if isTerminal(s.data) {
		s.data = s.out
	}
	err := refuseSecrets(args)
	if err == nil {
		root := newRoot(s)
		root.SetArgs(args)
		root.PersistentPreRunE = staged.stage
		root.PersistentPostRunE = func(cmd *cobra.Command, _ []string) error { return staged.commit(cmd.Context()) }
		err = root.ExecuteContext(ctx)
	}
	if err == nil {
		err = errors.Join(unwritten("standard output", out.failed), unwritten("standard error", full(words.failed)))
	}
	code = status(ctx, err)
	var logged loggedError
	if code == exitDone || errors.As(err, &logged) {
		return code
	}
	switch code {
	case exitUsage:
		fmt.Fprintf(s.err, "pho: %s\nRun 'pho --help' or 'pho COMMAND --help' for usage.\n", message(err))
	case exitInterrupted:
		fmt.Fprintln(s.err, "pho: "+interrupted)
	default:
		fmt.Fprintf(s.err, "pho: %s\n", message(err))
	}
	return code
}

// unwritten is the error of a stream that could not be written to; nil of nil.
func unwritten(stream string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s cannot be written: %w", stream, durable.Reason(err))
}

// full is err if a device is full: that messages go nowhere may be meant, that they are lost is not.
func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return err
	}
	return nil
}

// status is the exit status that err stands for.
func status(ctx context.Context, err error) int {
	var usage usageError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		return exitUsage
	case ctx.Err() != nil:
		return exitInterrupted
	}
	return exitFailed
}
