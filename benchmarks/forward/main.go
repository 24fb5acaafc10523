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
	fmt.Printf("ONNX Runtime %s; rows/s, median of %d turns; ratio: median (least, largest) over turns\n", strings.TrimSpace(release), rounds)
	fmt.Printf("%-34s %12s %12s %24s %10s\n", "case", "ours", "peer", "ratio", "difference")
	for _, c := range []struct {
		name      string
		inputs    int
		batch     int
		precision onnx.Precision
	}{
		{"mlp", 10, 8192, onnx.Single}, {"mlp", 10, 8192, onnx.Double},
		{"nam", 8, 8192, onnx.Single}, {"nam", 8, 8192, onnx.Double},
		{"mlp", 10, 1, onnx.Single}, {"nam", 8, 1, onnx.Single},
	} {
		if err := compare(c.name, filepath.Join(dir, c.name+".onnx"), c.inputs, c.batch, c.precision, rounds, seconds, threads, in, answers); err != nil {
			return err
		}
	}
	return nil
}

// compare takes turns with the peer on one network.
func compare(name, path string, inputs, batch int, precision onnx.Precision, rounds int, seconds float64, threads int, in io.Writer, answers *bufio.Reader) error {
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
	if batch == 1 {
		threads = 1
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
	kind := "float32"
	if precision == onnx.Double {
		kind = "float64"
	}
	slices.Sort(ratios)
	fmt.Printf("%-34s %12.0f %12.0f %8.2f (%.2f, %.2f) %14.1e\n", fmt.Sprintf("%s, %d rows, ours in %s", name, batch, kind),
		median(ours), median(peers), median(ratios), ratios[0], ratios[len(ratios)-1], math.Abs(sum-peerSum)/math.Max(math.Abs(peerSum), 1))
	return nil
}

// blockRows is the number of rows that decompose sends through at once.
const blockRows = 256

// forward runs the rows of x again and again for so many seconds: each goroutine
// takes blocks of rows, as decompose's workers do.
func forward(r *onnx.Runner, x, y []float64, inputs, workers int, seconds float64) (rowsPerSecond float64, err error) {
	rows := len(y)
	deadline := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	started := time.Now()
	done := 0
	for time.Now().Before(deadline) {
		var wait sync.WaitGroup
		errs := make([]error, workers)
		for w := range workers {
			work := func() {
				for i := w * blockRows; i < rows; i += workers * blockRows {
					n := min(blockRows, rows-i)
					if err := r.Run([][]float64{y[i : i+n]}, [][]float64{x[i*inputs : (i+n)*inputs]}, n); err != nil {
						errs[w] = err
						return
					}
				}
			}
			if workers == 1 {
				work()
				continue
			}
			wait.Go(work)
		}
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
