// Command forward times the engine of adapters/onnx next to ONNX Runtime, OpenVINO and
// LightGBM, in turns, and prints the ratio of rows per second: see benchmarks/forward.sh.
package main

import (
	"flag"
	"fmt"
	"log"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/internal/base/kernel"
)

// settings of a run of this program.
type settings struct {
	dir     string
	rounds  int
	seconds float64
	threads int
	cases   *regexp.Regexp
	rows    []int
	types   []string
}

func main() {
	var s settings
	flag.StringVar(&s.dir, "dir", ".", "directory of what networks.py wrote, and for what peers are given and answer")
	flag.IntVar(&s.rounds, "rounds", 7, "turns of each")
	flag.Float64Var(&s.seconds, "seconds", 0.2, "length of a turn")
	flag.IntVar(&s.threads, "threads", 2, "goroutines here, threads there")
	only := flag.String("case", "", "regular expression for the names of cases to run")
	rows := flag.String("rows", "1,32,1024,65536", "numbers of rows")
	types := flag.String("types", "f32,f32 on matrix units,f64,f32 there and f64 here", "types of networks")
	bounds := flag.Bool("bound", false, "print what rows must cost on this machine, and what they do")
	var commands [][]string
	flag.Func("peer", "command of a peer, its words separated by spaces; several may be given", func(s string) error {
		commands = append(commands, strings.Fields(s))
		return nil
	})
	flag.Parse()
	if err := s.parse(*only, *rows, *types); err != nil {
		log.Fatal(err)
	}
	run := func() error { return s.run(commands) }
	if *bounds {
		run = s.bound
	}
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func (s *settings) parse(only, rows, types string) (err error) {
	if s.cases, err = regexp.Compile(only); err != nil {
		return err
	}
	for _, n := range strings.Split(rows, ",") {
		k, err := strconv.Atoi(n)
		if err != nil || k < 1 {
			return fmt.Errorf("forward: %q is no number of rows", n)
		}
		s.rows = append(s.rows, k)
	}
	s.types = strings.Split(types, ",")
	return nil
}

func (s *settings) run(commands [][]string) error {
	fmt.Println("case\tours\tpeer\tratio\tanswer difference")
	if err := withPeers(s.dir, commands, printVersions); err != nil {
		return err
	}
	for _, c := range cases {
		if !s.cases.MatchString(c.name) {
			continue
		}
		for _, rows := range s.rows {
			if err := withPeers(s.dir, commands, func(peers []*peer) error { return s.compareTypes(c, rows, peers) }); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
		if c.row {
			if err := withPeers(s.dir, commands, func(peers []*peer) error { return s.compareRow(c, peers) }); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	return nil
}

func printVersions(peers []*peer) error {
	for _, p := range peers {
		fmt.Printf("version\t%s\n", p.name)
	}
	return nil
}

// compareTypes compares one network with all peers in every type.
func (s *settings) compareTypes(c network, rows int, peers []*peer) error {
	for _, k := range c.kinds(rows) {
		if !slices.Contains(s.types, k.name) {
			continue
		}
		if k.units && !kernel.MatrixUnits() {
			fmt.Printf("%s, %d rows, %s: skipped, this processor has none that can be used (AMX with bfloat16, on Linux)\n", c.name, rows, k.name)
			continue
		}
		if err := s.compare(c, k, rows, peers); err != nil {
			return err
		}
	}
	return nil
}

// compare takes turns with each peer on one network. A peer that fails has no row.
func (s *settings) compare(c network, k kind, rows int, peers []*peer) error {
	path := filepath.Join(s.dir, c.file+k.suffix+".onnx")
	g, err := onnx.LoadFile(path, nil)
	if err != nil {
		return err
	}
	us, err := newOurs(g, k, rows, c)
	if err != nil {
		return err
	}
	if _, err := us.run(s.threads, 0); err != nil {
		return err
	}
	for _, p := range peers {
		if !c.has(p, k) {
			continue
		}
		if err := s.comparePeer(c, k, task{path, k.there, c, rows}, us, p); err != nil {
			fmt.Printf("%s, %d rows, %s: no row next to %s: %v\n", c.name, rows, k.name, p.name, err)
		}
	}
	return nil
}

// comparePeer takes turns with a peer. Of its two best settings the one with the better median counts.
func (s *settings) comparePeer(c network, k kind, t task, us *ours, p *peer) error {
	best, err := p.fastest(s, t, us.x)
	if err != nil {
		return err
	}
	ours, theirs, won, err := s.turns(us, p, best)
	if err != nil {
		return err
	}
	miss, err := p.difference(us.y)
	if err != nil {
		return err
	}
	ratios := make([]float64, s.rounds)
	for i := range ratios {
		ratios[i] = ours[i] / theirs[i]
	}
	fmt.Printf("%s, %d rows, %s, %d threads: %s\t%s\t%s (%s)\t%.2f\t%.1e\n", c.name, t.rows, k.name, s.threads,
		p.plain(), rateText(median(ours), t.rows), rateText(median(theirs), t.rows), p.settings[won], median(ratios), miss)
	return nil
}

// turns are the rates of both in each round.
func (s *settings) turns(us *ours, p *peer, best []int) (ours, theirs []float64, won int, err error) {
	all := make([][]float64, len(best))
	for range s.rounds {
		time.Sleep(pause)
		rate, err := us.run(s.threads, s.seconds)
		if err != nil {
			return nil, nil, 0, err
		}
		ours = append(ours, rate)
		for i, setting := range best {
			if rate, err = p.run(setting, s.seconds); err != nil {
				return nil, nil, 0, err
			}
			all[i] = append(all[i], rate)
		}
	}
	first := 0
	for i := range best {
		if median(all[i]) > median(all[first]) {
			first = i
		}
	}
	return ours, all[first], best[first], nil
}

// rateText is a rate of many rows, and the time of a call with few.
func rateText(rate float64, rows int) string {
	if rows <= 32 {
		return fmt.Sprintf("%.3g us", float64(rows)/rate*1e6)
	}
	return fmt.Sprintf("%.3g million rows/s", rate/1e6)
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}
