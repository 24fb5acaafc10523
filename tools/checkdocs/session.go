package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// session is a Python or R that runs blocks one after another. A block goes in as the number
// of its lines and the lines; a line endMark closes what it printed.
type session struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	errs bytes.Buffer
	bad  error // it did not start
}

const endMark = "\x01end of block"

const pythonDriver = `
import sys
names = {"__name__": "__main__"}
while line := sys.stdin.readline():
    code = "".join(sys.stdin.readline() for _ in range(int(line)))
    exec(compile(code, "<block>", "exec"), names)
    print("\x01end of block", flush=True)
`

const rDriver = `
options(width = 100)
con <- file("stdin", "r")
while (length(n <- readLines(con, 1))) {
  for (e in parse(text = readLines(con, as.integer(n)))) {
    r <- withVisible(eval(e, globalenv()))
    if (r$visible) print(r$value)
  }
  cat("\n\001end of block\n")
}
`

func start(cmd *exec.Cmd) *session {
	s := &session{cmd: cmd}
	cmd.Stderr = &s.errs
	var out io.Reader
	if s.in, s.bad = cmd.StdinPipe(); s.bad != nil {
		return s
	}
	if out, s.bad = cmd.StdoutPipe(); s.bad != nil {
		return s
	}
	s.out = bufio.NewReader(out)
	s.bad = cmd.Start()
	return s
}

// run sends a block and returns its standard output; an error has its standard error.
func (s *session) run(code string) (string, error) {
	if s.bad != nil {
		return "", s.bad
	}
	if _, err := fmt.Fprintf(s.in, "%d\n%s", strings.Count(code, "\n"), code); err != nil {
		return "", err
	}
	var printed strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			s.bad = fmt.Errorf("%s ended", s.cmd.Path)
			_ = s.cmd.Wait()
			return printed.String() + s.errs.String(), s.bad
		}
		if strings.TrimRight(line, "\n") == endMark {
			return printed.String(), nil
		}
		printed.WriteString(line)
	}
}

func (s *session) close() {
	if s != nil && s.bad == nil {
		s.in.Close()
		_ = s.cmd.Wait()
	}
}
