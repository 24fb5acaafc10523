// Command forward times the engine of adapters/onnx next to ONNX Runtime, in
// turns, and prints the ratio of rows per second: see benchmarks/forward.sh.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pho-go/pho/adapters/onnx"
)

func main() {
	dir := flag.String("dir", ".", "directory of mlp.onnx and nam.onnx")
	python := flag.String("python", "python3", "Python with onnxruntime")
	peer := flag.String("peer", "benchmarks/forward/peer.py", "the peer's script")
	rounds := flag.Int("rounds", 7, "turns of each")
	seconds := flag.Float64("seconds", 0.5, "length of a turn")
	threads := flag.Int("threads", 2, "goroutines here, threads there")
	flag.Parse()
	if err := run(*dir, *python, *peer, *rounds, *seconds, *threads); err != nil {
		log.Fatal(err)
	}
}

func run(dir, python, script string, rounds int, seconds float64, threads int) error {
	cmd := exec.Command(python, script)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { in.Close(); _ = cmd.Wait() }()
	answers := bufio.NewReader(pipe)
	release, err := answers.ReadString('\n')
	if err != nil {
		return fmt.Errorf("the peer does not start: %w", err)
	}
	fmt.Printf("version\tONNX Runtime %s\n", strings.TrimSpace(release))
	fmt.Println("case\tours\tpeer\tratio\tanswer difference")
	for _, c := range cases {
		path := filepath.Join(dir, c.file)
		for _, precision := range []onnx.Precision{onnx.Single, onnx.Double} {
			if err := compare(c, path, precision, rounds, seconds, threads, in, answers); err != nil {
				return err
			}
		}
	}
	for _, c := range cases {
		if err := compareRow(c, filepath.Join(dir, c.file), in, answers); err != nil {
			return err
		}
	}
	return nil
}

// network is a file that networks.py writes.
type network struct {
	name, file string
	inputs     int
	splines    bool // its rows are also split into a spline of each input
}

var cases = []network{
	{"MLP 10-200-200-1", "mlp.onnx", 10, true},
	{"NAM 8 x (1-64-64-32-1)", "nam.onnx", 8, false},
}

const batch = 8192

// compare takes turns with the peer on one network. The ratio is the median over
// turns.
func compare(c network, path string, precision onnx.Precision, rounds int, seconds float64, threads int, in io.Writer, answers *bufio.Reader) error {
	inputs := c.inputs
	g, err := onnx.LoadFile(path, nil)
	if err != nil {
		return err
	}
	runner, err := onnx.NewRunner(g, g.Outputs, onnx.RunOptions{Precision: precision})
	if err != nil {
		return err
	}
	x := make([]float64, batch*inputs)
	for i := range batch {
		for j := range inputs {
			x[i*inputs+j] = math.Sin(float64(i)*0.37 + float64(j)*1.3)
		}
	}
	y := make([]float64, batch)
	var ours, peers, ratios []float64
	var sum, peerSum float64
	for range rounds {
		rate, err := forward(runner, x, y, inputs, threads, seconds)
		if err != nil {
			return err
		}
		sum = 0
		for _, v := range y {
			sum += v
		}
		fmt.Fprintf(in, "%s %d %d %g %d\n", path, inputs, batch, seconds, threads)
		var peer float64
		if _, err := fmt.Fscan(answers, &peer, &peerSum); err != nil {
			return err
		}
		ours, peers, ratios = append(ours, rate), append(peers, peer), append(ratios, rate/peer)
	}
	name := c.name
	if precision == onnx.Double {
		name = "in float64 here: " + name
	}
	fmt.Printf("%s, %d rows, %d threads\t%.3g million rows/s\t%.3g million rows/s\t%.2f\t%.1e\n", name, batch, threads,
		median(ours)/1e6, median(peers)/1e6, median(ratios), math.Abs(sum-peerSum)/math.Max(math.Abs(peerSum), 1))
	return nil
}

// blockRows is the number of rows that decompose sends through at once.
const blockRows = 256

// forward runs the rows of x again and again for so many seconds: each goroutine
// takes the next block of rows, as decompose's workers do.
func forward(r *onnx.Runner, x, y []float64, inputs, workers int, seconds float64) (rowsPerSecond float64, err error) {
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
