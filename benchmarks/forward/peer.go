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

// peer is another program that runs networks: forward/ort or forward/peer.py,
// which say what they are asked.
type peer struct {
	name     string // with its version
	dir      string // for answers
	in       io.WriteCloser
	out      *bufio.Reader
	cmd      *exec.Cmd
	settings []string
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

const pause = 50 * time.Millisecond

// fastest tries the settings of a peer for a network, in turns, and returns the best
// two: what is measured later decides between them.
func (p *peer) fastest(path string, inputs, threads int, seconds float64) ([]int, error) {
	l, err := p.ask("settings %s %d %d %d", path, inputs, batch, threads)
	if err != nil {
		return nil, err
	}
	p.settings = strings.Split(l, "\t")
	rates := make([]float64, len(p.settings))
	order := make([]int, len(p.settings))
	for range 3 {
		for i := range p.settings {
			rate, err := p.run(i, seconds/2)
			if err != nil {
				return nil, err
			}
			rates[i], order[i] = max(rates[i], rate), i
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(rates[b], rates[a]) })
	for _, i := range order {
		fmt.Printf("%s, %s: %.3g million rows/s\n", p.name, p.settings[i], rates[i]/1e6)
	}
	return order[:min(2, len(order))], nil
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
	theirs := make([]float32, len(ours))
	if err := binary.Read(f, binary.LittleEndian, theirs); err != nil {
		return 0, fmt.Errorf("%s: %w", p.name, err)
	}
	miss, largest := 0.0, 0.0
	for i, v := range theirs {
		largest = math.Max(largest, math.Abs(float64(v)))
		if d := math.Abs(float64(v) - ours[i]); !(d <= miss) {
			miss = d
		}
	}
	return miss / largest, nil
}
