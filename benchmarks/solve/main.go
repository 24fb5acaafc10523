//go:build linux

// Command solve compares the solution of a penalised problem with one product of OpenBLAS:
// decompose.Solve for p columns, as the command calls it (default bands, concurvity and
// verdicts), next to C = A B of p x p matrices, in turns. benchmarks/solve.sh builds the
// peer and runs it.
//
// A case is three lines between tabs. The first: its name; our seconds; those of the peer; how many of its
// products the solution takes; and the largest correlation of a column with what least squares
// leaves, "-" with penalties. Times are the least of the turns. The last is of the p x p
// matrices that are held: the peak of resident memory while solving less what the process held
// with the rows alone, so that statistics count. It is measured in a turn of its own, in which
// the collector leaves no more garbage than a tenth of what is held; beside it stands the peak
// with the collector's default, which lets garbage double it. Between them stands the limit: the time
// of as many of the peer's products as the solution needs at least, and how near it comes.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/pho-go/pho/benchmarks/internal/openblas"
	"github.com/pho-go/pho/decompose"
)

func main() {
	path := flag.String("peer", "", "path of the compiled benchmarks/blas/peer/openblas.c")
	cores := flag.String("cores", "", "values of OPENBLAS_CORETYPE to try, separated by commas; its own choice is always tried")
	columns := flag.Int("columns", 1000, "p, a multiple of 20")
	method := flag.String("method", "", "least-squares, reml-few (10 smoothing parameters, 11 for 10000 columns), reml-many (p/20), aliased (least squares with a term twice)")
	rounds := flag.Int("rounds", 3, "turns for time; 0: the turn for memory serves for it, too")
	profile := flag.String("profile", "", "file for a profile of our turns")
	flag.Parse()
	if err := run(*path, strings.Split(*cores, ","), *columns, *method, *rounds, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "solve:", err)
		os.Exit(1)
	}
}

func run(path string, cores []string, p int, method string, rounds int, profile string) error {
	ctx := context.Background()
	c, err := newCase(method, p)
	if err != nil {
		return err
	}
	rows, m, err := c.design(ctx)
	if err != nil {
		return err
	}
	before := resident("VmRSS")
	stats, err := decompose.Accumulate(ctx, m, rows, &decompose.Options{Resources: decompose.Resources{Workers: 1}})
	if err != nil {
		return err
	}
	peers, err := startPeers(path, cores, p)
	if err != nil {
		return err
	}
	defer openblas.Close(peers)
	ours, theirs, peak, held := math.Inf(1), math.Inf(1), 0.0, 0.0
	var core string
	var result *decompose.Result
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close()
		defer pprof.StopCPUProfile()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
	}
	for round := range rounds + 1 {
		result = nil
		debug.SetGCPercent(100)
		if round == rounds {
			debug.SetGCPercent(10)
		}
		debug.FreeOSMemory()
		if err := forgetPeak(); err != nil {
			return err
		}
		started := time.Now()
		if result, err = decompose.Solve(ctx, m, stats, c.options); err != nil {
			return err
		}
		took := time.Since(started).Seconds()
		matrices := (resident("VmHWM") - before) / (8 * float64(p) * float64(p))
		peak = max(peak, matrices)
		if round == rounds {
			held = matrices
			if rounds > 0 {
				break
			}
		}
		ours = min(ours, took)
		for _, peer := range peers {
			took, err := peer.Time(c.calls())
			if err != nil {
				return err
			}
			if took < theirs {
				theirs, core = took, peer.Core
			}
		}
	}
	accuracy := "-"
	if c.leastSquares {
		accuracy = fmt.Sprintf("%.1e", result.Predictors[0].Orthogonality)
	}
	d := &result.Predictors[0]
	fmt.Fprintf(os.Stderr, "%s: rank %d of %d columns, %s after %d iterations\n", c.name, d.Rank, d.Columns, d.Status, d.Iterations)
	fmt.Printf("row\t%s\t%.3g s\t%.3g s (code of %s)\t%.1f\t%s\n", c.name, ours, theirs, core, ours/theirs, accuracy)
	least := c.products(d.Iterations)
	fmt.Printf("row\t%s: next to its limit\t%.3g s\t%.3g s (%d evaluations: %.1f products)\t%.1f\t-\n", c.name, ours, least*theirs, d.Iterations, least, ours/(least*theirs))
	fmt.Printf("row\t%s: matrices held\t%.1f (%.1f with garbage)\t8\t%.2f\t-\n", c.name, held, peak, held/8)
	return nil
}

// startPeers leaves those peers running that are the fastest at the product.
func startPeers(path string, cores []string, p int) ([]*openblas.Peer, error) {
	peers, err := openblas.StartAll(path, cores)
	if err != nil {
		return nil, err
	}
	small := min(p, 1000)
	fast, err := openblas.Fastest(peers, fmt.Sprintf("gemm d %d %d %d", small, small, small), 2, 5)
	if err != nil {
		return nil, err
	}
	if p > 4000 { // memory for one of them
		fast = fast[:1]
	}
	var others []*openblas.Peer
	for _, peer := range peers {
		if peer != fast[0] && peer != fast[len(fast)-1] {
			others = append(others, peer)
		}
	}
	openblas.Close(others)
	for _, peer := range fast {
		if err := peer.Ask(fmt.Sprintf("gemm d %d %d %d", p, p, p), "threads 2", "run 1"); err != nil {
			return nil, err
		}
	}
	return fast, nil
}

// resident is a line of /proc/self/status, in bytes.
func resident(name string) float64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, name+":"); ok {
			var kilobytes float64
			fmt.Sscan(text, &kilobytes)
			return 1024 * kilobytes
		}
	}
	return math.NaN()
}

// forgetPeak lets VmHWM begin anew.
func forgetPeak() error { return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }
