// Command forward times the engine of adapters/onnx next to ONNX Runtime and OpenVINO,
// in turns, and prints the ratio of rows per second: see benchmarks/forward.sh.
package main

import (
	"flag"
	"fmt"
	"log"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pho-go/pho/adapters/onnx"
)

func main() {
	dir := flag.String("dir", ".", "directory of mlp.onnx and nam.onnx, and for what peers answer")
	rounds := flag.Int("rounds", 7, "turns of each")
	seconds := flag.Float64("seconds", 0.5, "length of a turn")
	threads := flag.Int("threads", 2, "goroutines here, threads there")
	var commands [][]string
	flag.Func("peer", "command of a peer, its words separated by spaces; several may be given", func(s string) error {
		commands = append(commands, strings.Fields(s))
		return nil
	})
	flag.Parse()
	if err := run(*dir, commands, *rounds, *seconds, *threads); err != nil {
		log.Fatal(err)
	}
}

func run(dir string, commands [][]string, rounds int, seconds float64, threads int) error {
	var peers []*peer
	for _, command := range commands {
		p, err := startPeer(dir, command)
		if err != nil {
			return err
		}
		defer p.close()
		fmt.Printf("version\t%s\n", p.name)
		peers = append(peers, p)
	}
	fmt.Println("case\tours\tpeer\tratio\tanswer difference")
	for _, c := range cases {
		for _, p := range c.runs(peers) {
			if err := compare(c, dir, p, rounds, seconds, threads); err != nil {
				return err
			}
		}
	}
	for _, c := range cases {
		if !c.row {
			continue
		}
		if err := compareRow(c, dir, c.runs(peers)); err != nil {
			return err
		}
	}
	return nil
}

// network is a file that networks.py writes.
type network struct {
	name, file string
	inputs     int
	row        bool   // one row to contributions is timed, too
	splines    bool   // by a spline of each input, not by its own terms
	lacks      string // the peer that cannot run it
}

var cases = []network{
	{name: "MLP 10-200-200-1", file: "mlp.onnx", inputs: 10, row: true, splines: true},
	{name: "NAM 8 x (1-64-64-32-1)", file: "nam.onnx", inputs: 8, row: true},
	{name: "LSTM 16 x 8, 32 units", file: "lstm.onnx", inputs: 128},
	{name: "transformer of 10 features, width 16, 4 heads", file: "transformer.onnx", inputs: 10},
	{name: "MLP 10-200-200-1 in QDQ form", file: "quantised.onnx", inputs: 10},
	{name: "100 trees of depth 6, 28 features", file: "trees_6.onnx", inputs: 28, lacks: "OpenVINO"},
	{name: "1,000 trees of depth 3, 28 features", file: "trees_3.onnx", inputs: 28, lacks: "OpenVINO"},
}

// runs lists the peers that can run c.
func (c *network) runs(peers []*peer) []*peer {
	return slices.DeleteFunc(slices.Clone(peers), func(p *peer) bool { return c.lacks != "" && strings.HasPrefix(p.name, c.lacks) })
}

const batch = 8192

// compare takes turns with a peer on one network, in both of our precisions; the peer
// has float32. Of the peer's two best settings the one with the better median counts.
func compare(c network, dir string, p *peer, rounds int, seconds float64, threads int) error {
	path := filepath.Join(dir, c.file)
	g, err := onnx.LoadFile(path, nil)
	if err != nil {
		return err
	}
	best, err := p.fastest(path, c.inputs, threads, seconds)
	if err != nil {
		return err
	}
	x := make([]float64, batch*c.inputs)
	for i := range x {
		x[i] = float64(float32(wave(i/c.inputs, i%c.inputs)))
	}
	for _, precision := range []onnx.Precision{onnx.Single, onnx.Double} {
		runner, err := onnx.GoEngine{Precision: precision}.Prepare(g, []string{g.Outputs()[0].Name})
		if err != nil {
			return err
		}
		y := make([]float64, batch)
		var ours []float64
		theirs := make([][]float64, len(best))
		for range rounds {
			time.Sleep(pause)
			rate, err := forward(runner, x, y, c.inputs, threads, seconds)
			if err != nil {
				return err
			}
			ours = append(ours, rate)
			for i, setting := range best {
				if rate, err = p.run(setting, seconds); err != nil {
					return err
				}
				theirs[i] = append(theirs[i], rate)
			}
		}
		miss, err := p.difference(y)
		if err != nil {
			return err
		}
		won := 0
		for i := range best {
			if median(theirs[i]) > median(theirs[won]) {
				won = i
			}
		}
		ratios := make([]float64, rounds)
		for i := range ratios {
			ratios[i] = ours[i] / theirs[won][i]
		}
		name := c.name
		if precision == onnx.Double {
			name = "in float64 here: " + name
		}
		fmt.Printf("%s, %d rows, %d threads: %s\t%.3g million rows/s\t%.3g million rows/s (%s)\t%.2f\t%.1e\n", name, batch, threads,
			strings.TrimRight(p.name, " 0123456789."), median(ours)/1e6, median(theirs[won])/1e6, p.settings[best[won]], median(ratios), miss)
	}
	return nil
}

// wave is input j of row i, here and in the peers. It has no period: a processor learns
// the way of rows that come again, and walks down trees three times as fast.
func wave(i, j int) float64 { return math.Sin(float64(i*i)*0.37 + float64((i+1)*j)*1.3) }

// blockRows is the number of rows that decompose sends through at once.
const blockRows = 256

// forward runs the rows of x again and again for so many seconds: each goroutine
// takes the next block of rows, as decompose's workers do.
func forward(r onnx.Evaluator, x, y []float64, inputs, workers int, seconds float64) (rowsPerSecond float64, err error) {
	rows := len(y)
	deadline := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	started := time.Now()
	done := 0
	for time.Now().Before(deadline) {
		var wait sync.WaitGroup
		var next atomic.Int64
		errs := make([]error, workers)
		work := func(w int) {
			for errs[w] == nil {
				i := int(next.Add(blockRows)) - blockRows
				if i >= rows {
					return
				}
				n := min(blockRows, rows-i)
				errs[w] = r.Run([][]float64{y[i : i+n]}, [][]float64{x[i*inputs : (i+n)*inputs]}, n)
			}
		}
		for w := 1; w < workers; w++ {
			wait.Go(func() { work(w) })
		}
		work(0)
		wait.Wait()
		for _, err := range errs {
			if err != nil {
				return 0, err
			}
		}
		done += rows
	}
	return float64(done) / time.Since(started).Seconds(), nil
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}
