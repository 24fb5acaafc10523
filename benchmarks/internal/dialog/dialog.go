// Package dialog runs a program beside the one that is compared with it: it answers each line
// that it reads with a line.
package dialog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Program is a running program. What it writes to standard error is seen.
type Program struct {
	// Limit is how long a line may take. Zero is any time.
	Limit time.Duration

	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	// end is where out reads.
	end *os.File
}

// Start runs a command with more variables in its environment.
func Start(command []string, variables ...string) (*Program, error) {
	if len(command) == 0 {
		return nil, errors.New("name the peer's command")
	}
	p := &Program{cmd: exec.Command(command[0], command[1:]...)}
	p.cmd.Env = append(os.Environ(), variables...)
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.end, _ = out.(*os.File)
	p.out = bufio.NewReader(out)
	return p, p.cmd.Start()
}

// Close waits for the program, which ends when there is nothing to read.
func (p *Program) Close() { _ = errors.Join(p.in.Close(), p.cmd.Wait()) }

// Line is the next line that it writes.
func (p *Program) Line() (string, error) {
	if p.Limit > 0 {
		// A process that it began may keep the pipe open when it is gone itself, so to kill it would not do.
		if err := p.end.SetReadDeadline(time.Now().Add(p.Limit)); err != nil {
			return "", err
		}
	}
	l, err := p.out.ReadString('\n')
	if errors.Is(err, os.ErrDeadlineExceeded) {
		_ = p.cmd.Process.Kill()
		return "", fmt.Errorf("%s: no line within %v, so it was killed", p.cmd, p.Limit)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.cmd, err)
	}
	return strings.TrimSuffix(l, "\n"), nil
}

// Tell writes a line.
func (p *Program) Tell(format string, a ...any) error {
	_, err := fmt.Fprintf(p.in, format+"\n", a...)
	return err
}

// Ask is the answer to a line.
func (p *Program) Ask(format string, a ...any) (string, error) {
	if err := p.Tell(format, a...); err != nil {
		return "", err
	}
	l, err := p.Line()
	if err != nil {
		return "", fmt.Errorf("no answer to %q: %w", fmt.Sprintf(format, a...), err)
	}
	return l, nil
}

// Number is an answer that is one.
func (p *Program) Number(format string, a ...any) (v float64, err error) {
	l, err := p.Ask(format, a...)
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Sscan(l, &v); err != nil {
		return 0, fmt.Errorf("%s answers %q to %q: %w", p.cmd, l, fmt.Sprintf(format, a...), err)
	}
	return v, nil
}

// Read fills raw with bytes that it writes.
func (p *Program) Read(raw []byte) error {
	_, err := io.ReadFull(p.out, raw)
	return err
}

// Signal sends the process a signal. One that is gone does not answer either.
func (p *Program) Signal(s os.Signal) { _ = p.cmd.Process.Signal(s) }
