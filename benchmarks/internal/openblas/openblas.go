//go:build linux

// Package openblas runs OpenBLAS as a process beside the one that is compared with it:
// benchmarks/blas/peer/openblas.c, told what to do by lines.
package openblas

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pho-go/pho/benchmarks/internal/dialog"
)

// Peer is a running OpenBLAS that uses the code of one processor.
type Peer struct {
	Version string // of the library
	Core    string // whose code it uses

	program *dialog.Program
}

// Start runs the compiled peer at path; core is a value of OPENBLAS_CORETYPE, or "" to leave
// the choice to the library.
func Start(path, core string) (*Peer, error) {
	var variables []string
	if core != "" {
		variables = append(variables, "OPENBLAS_CORETYPE="+core)
	}
	program, err := dialog.Start([]string{path}, variables...)
	if err != nil {
		return nil, err
	}
	p := &Peer{program: program}
	version, err := p.Answer("version")
	if err != nil {
		return nil, err
	}
	p.Core = version[strings.LastIndexByte(version, ' ')+1:]
	p.Version = strings.TrimSpace(strings.TrimSuffix(version, p.Core))
	return p, nil
}

// StartAll starts a peer for the library's own choice and for each of some cores.
func StartAll(path string, cores []string) (peers []*Peer, err error) {
	for _, core := range append([]string{""}, cores...) {
		if core == "" && len(peers) > 0 {
			continue
		}
		p, err := Start(path, core)
		if err != nil {
			Close(peers)
			return nil, err
		}
		peers = append(peers, p)
	}
	return peers, nil
}

// Close ends peers.
func Close(peers []*Peer) {
	for _, p := range peers {
		p.awake(true)
		p.program.Close()
	}
}

// awake stops the peer between its turns: threads of OpenBLAS that wait for work
// yield in a loop, some without end, and whoever is measured meanwhile has half
// of a core.
func (p *Peer) awake(yes bool) {
	signal := unix.SIGSTOP
	if yes {
		signal = unix.SIGCONT
	}
	p.program.Signal(signal)
}

// Answer is the line that the peer answers a command with.
func (p *Peer) Answer(command string) (string, error) {
	p.awake(true)
	defer p.awake(false)
	line, err := p.program.Ask("%s", command)
	return strings.TrimSpace(line), err
}

// Ask gives commands whose answers say nothing.
func (p *Peer) Ask(commands ...string) error {
	for _, c := range commands {
		if _, err := p.Answer(c); err != nil {
			return err
		}
	}
	return nil
}

// Time is the seconds of one of some calls.
func (p *Peer) Time(calls int) (float64, error) {
	p.awake(true)
	defer p.awake(false)
	s, err := p.program.Number("run %d", calls)
	return s / float64(calls), err
}

// Dump fills raw with the result's bytes.
func (p *Peer) Dump(raw []byte) error {
	p.awake(true)
	defer p.awake(false)
	if err := p.program.Tell("dump"); err != nil {
		return err
	}
	return p.program.Read(raw)
}

// Fastest tries each peer on the problem that a command makes, some calls three times, and
// keeps the fastest two.
func Fastest(peers []*Peer, command string, threads, calls int) ([]*Peer, error) {
	took := map[*Peer]float64{}
	for _, p := range peers {
		if err := p.Ask(command, fmt.Sprintf("threads %d", threads), "run 1"); err != nil {
			return nil, err
		}
		took[p] = math.Inf(1)
		for range 3 {
			t, err := p.Time(calls)
			if err != nil {
				return nil, err
			}
			took[p] = min(took[p], t)
		}
	}
	peers = slices.Clone(peers)
	slices.SortFunc(peers, func(p, q *Peer) int { return cmp.Compare(took[p], took[q]) })
	return peers[:min(2, len(peers))], nil
}
