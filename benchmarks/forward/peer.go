package main

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pho-go/pho/benchmarks/internal/dialog"
)

// peer is another program that runs networks: forward/ort, which says what it is asked, or
// one of the programs in Python.
type peer struct {
	*dialog.Program
	name     string // with its version
	dir      string // for answers
	settings []string
}

// withPeers starts all peers, has f ask them and ends them. Every network and number of rows has
// processes of its own: OpenVINO 2026.4 ends with a segmentation fault when it is given one row of
// the residual network.
func withPeers(dir string, commands [][]string, f func([]*peer) error) error {
	var peers []*peer
	for _, command := range commands {
		p, err := startPeer(dir, command)
		if err != nil {
			return err
		}
		defer p.Close()
		peers = append(peers, p)
	}
	return f(peers)
}

func startPeer(dir string, command []string) (*peer, error) {
	program, err := dialog.Start(command)
	if err != nil {
		return nil, err
	}
	program.Limit = patience
	p := &peer{Program: program, dir: dir}
	if p.name, err = p.Line(); err != nil {
		return nil, fmt.Errorf("it does not start: %w", err)
	}
	return p, nil
}

// run is the rate of a setting, in rows/s, after a pause in which threads of others
// that wait for work by spinning go to sleep.
func (p *peer) run(setting int, seconds float64) (float64, error) {
	time.Sleep(pause)
	return p.Number("run %d %g", setting, seconds)
}

const pause = 20 * time.Millisecond

// patience is how long a peer may take for an answer: of the largest networks some take
// seconds to compile. Of OpenVINO 2026.4 a process is left that waits for ever.
const patience = time.Minute

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
	l, err := p.Ask("settings %s %s %s %d %d %d %d", t.path, rows, t.kind, t.network.columns, max(1, t.network.outputs), t.rows, s.threads)
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
	if _, err := p.Ask("answer %s", path); err != nil {
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
