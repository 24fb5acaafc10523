package main

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// peer is another program that runs networks: forward/ort, which says what it is asked, or
// one of the programs in Python.
type peer struct {
	name     string // with its version
	dir      string // for answers
	in       io.WriteCloser
	out      *bufio.Reader
	cmd      *exec.Cmd
	settings []string
}

// startPeers starts all of them. Every network has processes of its own: after some eighty networks in one
// process OpenVINO 2026.4 ends with a segmentation fault.
func startPeers(dir string, commands [][]string) ([]*peer, error) {
	var peers []*peer
	for _, command := range commands {
		p, err := startPeer(dir, command)
		if err != nil {
			for _, p := range peers {
				p.close()
			}
			return nil, err
		}
		peers = append(peers, p)
	}
	return peers, nil
}

func startPeer(dir string, command []string) (*peer, error) {
	p := &peer{dir: dir, cmd: exec.Command(command[0], command[1:]...)}
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
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if p.name, err = p.line(); err != nil {
		return nil, fmt.Errorf("%s does not start: %w", command[0], err)
	}
	return p, nil
}

func (p *peer) close() { _ = errors.Join(p.in.Close(), p.cmd.Wait()) }

func (p *peer) line() (string, error) {
	l, err := p.out.ReadString('\n')
	return strings.TrimSuffix(l, "\n"), err
}

// ask is the answer to a request.
func (p *peer) ask(format string, a ...any) (string, error) {
	if _, err := fmt.Fprintf(p.in, format+"\n", a...); err != nil {
		return "", err
	}
	l, err := p.line()
	if err != nil {
		return "", fmt.Errorf("%s has no answer to %q: %w", p.name, fmt.Sprintf(format, a...), err)
	}
	return l, nil
}

// number is an answer that is one.
func (p *peer) number(format string, a ...any) (v float64, err error) {
	l, err := p.ask(format, a...)
	if err == nil {
		_, err = fmt.Sscan(l, &v)
	}
	return v, err
}

// run is the rate of a setting, in rows/s, after a pause in which threads of others
// that wait for work by spinning go to sleep.
func (p *peer) run(setting int, seconds float64) (float64, error) {
	time.Sleep(pause)
	return p.number("run %d %g", setting, seconds)
}

const pause = 20 * time.Millisecond

// plain is its name without the version.
func (p *peer) plain() string { return strings.TrimRight(p.name, " 0123456789.") }

// task is what a peer is to run.
type task struct {
	path, kind string
	network    network
	rows       int
}

// fastest tries the settings of a peer for a network, in turns, and returns the best
// two: what is measured later decides between them. x are the rows.
func (p *peer) fastest(s *settings, t task, x []float64) ([]int, error) {
	rows := filepath.Join(p.dir, "rows")
	if err := writeNumbers(rows, x); err != nil {
		return nil, err
	}
	l, err := p.ask("settings %s %s %s %d %d %d %d", t.path, rows, t.kind, t.network.columns, max(1, t.network.outputs), t.rows, s.threads)
	if err != nil {
		return nil, err
	}
	if text, failed := strings.CutPrefix(l, "error: "); failed {
		return nil, errors.New(text)
	}
	p.settings = strings.Split(l, "\t")
	rates := make([]float64, len(p.settings))
	order := make([]int, len(p.settings))
	for range 3 {
		for i := range p.settings {
			rate, err := p.run(i, s.seconds/3)
			if err != nil {
				return nil, err
			}
			rates[i], order[i] = max(rates[i], rate), i
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(rates[b], rates[a]) })
	return order[:min(2, len(order))], nil
}

func writeNumbers(path string, x []float64) error {
	raw := make([]byte, 0, 8*len(x))
	for _, v := range x {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
	}
	return os.WriteFile(path, raw, 0o600)
}

// difference is the largest between its last outputs and ours, relative to the
// largest of them.
func (p *peer) difference(ours []float64) (float64, error) {
	path := filepath.Join(p.dir, "answer")
	if _, err := p.ask("answer %s", path); err != nil {
		return 0, err
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	theirs := make([]float64, len(ours))
	if err := binary.Read(f, binary.LittleEndian, theirs); err != nil {
		return 0, fmt.Errorf("%s: %w", p.name, err)
	}
	miss, largest := 0.0, 0.0
	for i, v := range theirs {
		largest = math.Max(largest, math.Abs(v))
		if d := math.Abs(v - ours[i]); !(d <= miss) {
			miss = d
		}
	}
	return miss / largest, nil
}
