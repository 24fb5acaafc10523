//go:build linux

// Command blas compares package kernel with OpenBLAS on the products that decide
// the speed of forward passes and moments: short rounds in turn, so that another
// load on the machine hits both. benchmarks/blas.sh builds the peer and runs it.
//
// Each line is one case, between tabs: its name, our rate and the peer's, ours/peer,
// and the largest difference between two results relative to the largest value.
// Rates are those of the best round of each.
// One thread is timed by the processor time it took, which another load on the
// machine leaves alone, two threads by the clock on the wall. Two threads are two callers with half of the rows each, and a peer told to use
// two.
// Of several peers (OpenBLAS made to use the code of one processor or another)
// the fastest counts.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pho-go/pho/benchmarks/internal/openblas"
	"github.com/pho-go/pho/internal/base/kernel"
)

func main() {
	peer := flag.String("peer", "", "path of the compiled peer/openblas.c")
	cores := flag.String("cores", "", "values of OPENBLAS_CORETYPE to try, separated by commas; its own choice is always tried")
	rounds := flag.Int("rounds", 15, "rounds per case")
	threads := flag.Int("threads", 2, "the largest number of threads; from 1 on")
	flag.Parse()
	if err := run(*peer, strings.Split(*cores, ","), *rounds, *threads); err != nil {
		fmt.Fprintln(os.Stderr, "blas:", err)
		os.Exit(1)
	}
}

func run(path string, cores []string, rounds, most int) error {
	peers, err := openblas.StartAll(path, cores)
	if err != nil {
		return err
	}
	defer openblas.Close(peers)
	fmt.Printf("version\t%s\n", peers[0].Version)
	fmt.Println("case\tours\tpeer\tratio\tanswer difference")
	var cases []problem
	for _, shape := range [][3]int{{1024, 200, 200}, {512, 512, 512}} {
		for _, packed := range []bool{true, false} {
			cases = append(cases, newGemm[float64](shape, packed), newGemm[float32](shape, packed))
		}
	}
	cases = append(cases, newGram(100_000, 200))
	for _, c := range cases {
		for threads := 1; threads <= most; threads++ {
			if err := compare(c, peers, threads, rounds); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	return nil
}

// problem is one product, ours and how the peer is told of it.
type problem struct {
	name, command string
	flops         float64
	single        bool
	run           func(threads, calls int) // each thread does its share of the rows, calls times
	result        func() []float64
}

func compare(c problem, peers []*openblas.Peer, threads, rounds int) error {
	c.run(threads, 1)
	begin := now(threads)
	c.run(threads, 1)
	// About 30 ms each.
	calls := max(1, int(30*time.Millisecond/max(now(threads)-begin, time.Microsecond)))
	peers, err := openblas.Fastest(peers, c.command, threads, calls)
	if err != nil {
		return err
	}
	ours := math.Inf(1)
	theirs := make([]float64, len(peers))
	for i := range theirs {
		theirs[i] = math.Inf(1)
	}
	for range rounds {
		begin := now(threads)
		c.run(threads, calls)
		ours = min(ours, (now(threads)-begin).Seconds()/float64(calls))
		for i, p := range peers {
			took, err := p.Time(calls)
			if err != nil {
				return err
			}
			theirs[i] = min(theirs[i], took)
		}
	}
	best := 0
	for i := range theirs {
		if theirs[i] < theirs[best] {
			best = i
		}
	}
	difference, err := difference(peers[best], c)
	if err != nil {
		return err
	}
	unit := "thread"
	if threads > 1 {
		unit = "threads"
	}
	fmt.Printf("%s, %d %s\t%.1f GFLOP/s\t%.1f GFLOP/s (code of %s)\t%.2f\t%.1e\n", c.name, threads, unit, c.flops/ours/1e9,
		c.flops/theirs[best]/1e9, peers[best].Core, theirs[best]/ours, difference)
	return nil
}

// now reads the clock that so many threads are timed by.
func now(threads int) time.Duration {
	var t unix.Timespec
	clock := int32(unix.CLOCK_MONOTONIC)
	if threads == 1 {
		clock = unix.CLOCK_PROCESS_CPUTIME_ID
	}
	if err := unix.ClockGettime(clock, &t); err != nil {
		panic(err) // both clocks exist on Linux
	}
	return time.Duration(t.Nano())
}

// fill is fill of peer/openblas.c.
func fill[T kernel.Float](v []T, state uint64) {
	for i := range v {
		state = state*6364136223846793005 + 1442695040888963407
		v[i] = T(float64(state>>11)/(1<<53) - 0.5)
	}
}

func newGemm[T kernel.Float](shape [3]int, packed bool) problem {
	m, n, k := shape[0], shape[1], shape[2]
	a, b, c := make([]T, m*k), make([]T, k*n), make([]T, m*n)
	fill(a, 1)
	fill(b, 2)
	_, single := any(a).([]float32)
	p := problem{flops: 2 * float64(m) * float64(n) * float64(k), single: single, result: func() []float64 { return widened(c) }}
	precision := 'd'
	p.name = "GEMM f64"
	if single {
		p.name, precision = "GEMM f32", 's'
	}
	p.name = fmt.Sprintf("%s %dx%dx%d", p.name, m, n, k)
	p.command = fmt.Sprintf("gemm %c %d %d %d", precision, m, n, k)
	w := kernel.Pack(k, n, b, false)
	rows := func(from, to int) { kernel.Gemm(c[from*n:to*n], a[from*k:to*k], b, to-from, n, k) }
	if packed {
		p.name += ", weights packed once"
		rows = func(from, to int) { w.Mul(c[from*n:to*n], n, a[from*k:to*k], k, to-from, nil) }
	}
	p.run = func(threads, calls int) {
		parts(threads, func(i int) {
			for range calls {
				rows(i*m/threads, (i+1)*m/threads)
			}
		})
	}
	return p
}

// newGram adds panels of rows as moments does; every thread has its own sums.
func newGram(n, p int) problem {
	const panel = 256
	a := make([]float64, n*p)
	fill(a, 1)
	var sums [][]float64
	return problem{
		name:    fmt.Sprintf("X'WX f64 %dx%d, W = 1", n, p),
		command: fmt.Sprintf("syrk d %d %d 0", n, p),
		flops:   float64(n) * float64(p) * float64(p+1),
		run: func(threads, calls int) {
			for len(sums) < threads {
				sums = append(sums, make([]float64, p*p))
			}
			parts(threads, func(t int) {
				for range calls {
					clear(sums[t])
					for i := t * n / threads; i < (t+1)*n/threads; i += panel {
						rows := min(panel, (t+1)*n/threads-i)
						kernel.AddGram(sums[t], p, a[i*p:], p, p, rows, nil)
					}
				}
			})
			for t := 1; t < threads; t++ {
				kernel.Add(sums[0], sums[0], sums[t])
			}
		},
		result: func() []float64 {
			upper := make([]float64, p*p) // the peer leaves the rest 0
			for i := range p {
				copy(upper[i*p+i:(i+1)*p], sums[0][i*p+i:(i+1)*p])
			}
			return upper
		},
	}
}

// parts runs f(0) to f(threads-1) side by side.
func parts(threads int, f func(i int)) {
	var all sync.WaitGroup
	for i := 1; i < threads; i++ {
		all.Go(func() { f(i) })
	}
	f(0)
	all.Wait()
}

func widened[T kernel.Float](v []T) []float64 {
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = float64(x)
	}
	return w
}

// difference is the largest between our result and the peer's, relative to the largest value.
func difference(p *openblas.Peer, c problem) (float64, error) {
	ours := c.result()
	size := 8
	if c.single {
		size = 4
	}
	raw := make([]byte, size*len(ours))
	if err := p.Dump(raw); err != nil {
		return 0, err
	}
	largest, difference := 0.0, 0.0
	for i, x := range ours {
		var y float64
		if c.single {
			y = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
		} else {
			y = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
		}
		largest, difference = max(largest, math.Abs(y)), max(difference, math.Abs(x-y))
	}
	return difference / largest, nil
}
