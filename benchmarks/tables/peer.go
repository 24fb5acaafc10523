package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// peer is the process of peer.py.
type peer struct {
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
}

func start(command []string) (*peer, error) {
	if len(command) == 0 {
		return nil, errors.New("name the peer's command")
	}
	p := &peer{cmd: exec.Command(command[0], command[1:]...)}
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	return p, p.cmd.Start()
}

func (p *peer) close() { _ = errors.Join(p.in.Close(), p.cmd.Wait()) }

// ask is the answer to a request.
func (p *peer) ask(words ...string) (string, error) {
	if _, err := fmt.Fprintln(p.in, strings.Join(words, "\t")); err != nil {
		return "", err
	}
	l, err := p.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("the peer has no answer to %q: %w", words, err)
	}
	return strings.TrimSuffix(l, "\n"), nil
}

func (p *peer) seconds(words ...string) (v float64, err error) {
	l, err := p.ask(words...)
	if err == nil {
		_, err = fmt.Sscan(l, &v)
	}
	return v, err
}
