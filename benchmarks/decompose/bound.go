package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/internal/kernel"
)

// The case that is bounded: MLP 10-200-200-1 and ten ps k=20.
const (
	splines    = inputs
	columns    = 20                          // of a spline's basis
	basisPairs = splines * (splines + 1) / 2 // a basis with itself among them
	columnPair = inputs * (inputs - 1) / 2
	written    = splines + 3 // columns of contributions
	// Of the ranking of pairs: rows and functions of its exact products (30 pairs of 4 x 4
	// functions, 12 of each column, 1).
	productRows, functions = 1 << 14, 30*16 + inputs*12 + 1
	blockRows              = 256 // rows at a time
)

// part is something that a decomposition computes, and what it must cost: nanoseconds for
// each row on one processor, or seconds whatever the processors.
type part struct {
	name    string
	row     float64
	seconds float64
}

// bound prints what the parts of a decomposition besides the network must cost at least on
// this machine, from the speed of each kernel on operands in the first cache, alone on a
// processor: nothing here waits for memory, for other goroutines or for the solution. The
// last line is the least ratio of all of it to reading the rows and running the network, as
// measured and, which other work on the machine disturbs less, at the kernels' speed.
func bound(dir string, workers, rows int) error {
	network, file := filepath.Join(dir, "mlp.onnx"), filepath.Join(dir, "rows.parquet")
	alone := func() (float64, error) {
		began := time.Now()
		_, err := forward(network, file, workers, nil)
		return time.Since(began).Seconds(), err
	}
	peer, err := fastest(5, alone)
	if err != nil {
		return err
	}
	reading, err := fastest(5, func() (float64, error) { return read(file) })
	if err != nil {
		return err
	}
	writing, err := fastest(3, func() (float64, error) { return writeBytes(dir, 8*written*rows) })
	if err != nil {
		return err
	}
	k := newKernels()
	fma := k.fma()
	fmt.Printf("one processor: %.1f GFLOP/s in float64, products of four by four values added in %.2f ns, forms of them in %.2f ns, memory copied at %.1f GB/s\n",
		2*fma, k.outer(), k.form(), copyRate())
	fmt.Printf("%d rows, network and reading alone with %d workers: %.3f s; reading alone, one goroutine: %.3f s\n", rows, workers, peer, reading)
	flops := float64(inputs*200 + 200*200 + 200)
	parts := []part{
		{"network (in both)", flops / fma, 0},
		{"reading twice more", 2 * reading * 1e9 / float64(rows), 0},
		{"bases, twice", 2 * splines * k.spline(), 0},
		{"moments: X'WX", basisPairs * k.outer(), 0},
		{"default bands: leverages", basisPairs * k.form(), 0},
		{"default bands: X'WX again", basisPairs * k.outer(), 0},
		{"contributions", splines * k.product(), 0},
		{"ranking of pairs: tables", columnPair * k.table(), 0},
		{"ranking of pairs: products", productRows * float64(functions) * float64(functions) / fma / float64(rows), 0},
		{"writing to the file system", 0, writing},
	}
	more, floor := 0.0, reading/float64(workers)
	for i, p := range parts {
		s := p.row*float64(rows)/1e9/float64(workers) + p.seconds/float64(workers)
		fmt.Printf("%-28s %7.1f ns a row  %.3f s with %d workers\n", p.name, p.row, s, workers)
		if i > 0 {
			more += s
		} else {
			floor += s
		}
	}
	fmt.Printf("least ratio: (%.3f + %.3f)/%.3f = %.2f; next to a network at the kernels' speed and shared reading: %.2f\n", peer, more, peer, 1+more/peer, 1+more/floor)
	return nil
}

func fastest(times int, run func() (float64, error)) (float64, error) {
	best := 0.0
	for i := range times {
		s, err := run()
		if err != nil {
			return 0, err
		}
		if i == 0 || s < best {
			best = s
		}
	}
	return best, nil
}

func read(file string) (float64, error) {
	began := time.Now()
	src, err := files.Open([]string{file}, nil)
	if err != nil {
		return 0, err
	}
	defer src.Close()
	for _, err := range src.Batches(context.Background(), src.Schema().Names()[:inputs]) {
		if err != nil {
			return 0, err
		}
	}
	return time.Since(began).Seconds(), nil
}

// writeBytes writes so many to a file, a megabyte at a time.
func writeBytes(dir string, n int) (float64, error) {
	path := filepath.Join(dir, "bytes")
	defer os.Remove(path)
	memory := make([]byte, 1<<20)
	began := time.Now()
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	for ; n > 0; n -= len(memory) {
		if _, err := f.Write(memory[:min(n, len(memory))]); err != nil {
			return 0, err
		}
	}
	return time.Since(began).Seconds(), f.Close()
}

// copyRate is how many GB/s go from memory to memory, read and written.
func copyRate() float64 {
	from, to := make([]byte, 256<<20), make([]byte, 256<<20)
	s, _ := fastest(5, func() (float64, error) {
		began := time.Now()
		copy(to, from)
		return time.Since(began).Seconds(), nil
	})
	return 2 * float64(len(from)) / s / 1e9
}

// kernels are operands of a block of rows.
type kernels struct {
	first, second []int32
	values, x     []float64
	dst, cells    []float64
	coef, matrix  []float64
	bins          []uint8
}

func newKernels() *kernels {
	r := rand.New(rand.NewPCG(1, 2))
	k := &kernels{first: make([]int32, blockRows), second: make([]int32, blockRows), values: make([]float64, 4*blockRows), x: make([]float64, blockRows), bins: make([]uint8, blockRows),
		dst: make([]float64, blockRows), cells: kernel.Aligned((columns - 3) * (columns - 3) * 16), coef: make([]float64, columns), matrix: make([]float64, columns*columns)}
	for i := range k.first {
		k.first[i], k.second[i], k.x[i], k.bins[i] = int32(r.IntN(columns-3)), int32(r.IntN(columns-3)), r.Float64(), uint8(r.IntN(8))
	}
	for _, v := range [][]float64{k.values, k.coef, k.matrix} {
		for i := range v {
			v[i] = r.NormFloat64() * 1e-6
		}
	}
	return k
}

// each is the nanoseconds that run takes for each of so many, the fastest of many times.
func each(many int, run func()) float64 {
	best := time.Hour
	for range 3000 {
		began := time.Now()
		run()
		best = min(best, time.Since(began))
	}
	return float64(best.Nanoseconds()) / float64(many)
}

func (k *kernels) outer() float64 {
	return each(blockRows, func() {
		kernel.AddOuter(k.cells, columns-3, columns-3, k.first, k.values, k.second, k.values, k.x)
	})
}

func (k *kernels) form() float64 {
	return each(blockRows, func() {
		kernel.AddBilinear(k.dst, k.matrix, columns, columns, columns, k.first, k.values, k.second, k.values)
	})
}

func (k *kernels) product() float64 {
	return each(blockRows, func() { kernel.MulBand(k.dst, k.first, k.values, k.coef) })
}

func (k *kernels) spline() float64 {
	first, values := make([]int32, blockRows), make([]float64, 4*blockRows)
	return each(blockRows, func() { kernel.Splines(first, values, k.x, 0, 1, columns-3, columns-3) })
}

// table is the time of two sums of a cell of a table of bins.
func (k *kernels) table() float64 {
	a, b := make([]float64, 81), make([]float64, 81)
	return each(blockRows, func() {
		for i, bin := range k.bins {
			c := 9*int(bin) + int(k.bins[blockRows-1-i])
			a[c] += k.x[i]
			b[c] += k.x[i]
		}
	})
}

// fma is how many multiplications with an addition there are in a nanosecond, of a product
// of matrices in the first caches.
func (k *kernels) fma() float64 {
	const n = 128
	a, c := make([]float64, n*n), make([]float64, n*n)
	for i := range a {
		a[i] = 1e-3
	}
	w := kernel.Pack(n, n, a, false)
	return 1 / each(n*n*n, func() { w.Mul(c, n, a, n, n, nil) })
}
