package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pho-go/pho/benchmarks/internal/rate"
	"github.com/pho-go/pho/data/files"
)

const (
	columnThrees = 19      // tables of three columns that hold the 45 pairs of ten
	besides      = 3       // columns of contributions that are no term's
	productRows  = 1 << 14 // of the ranking of pairs: rows of its exact products
	// Sums of the products of two functions that are formed, in one triangle, and not copied or derived from others; as in these cases.
	productSums = 112_000
)

// bounded is one of the cases that have a target.
type bounded struct {
	name, network string
	width         int // of the network's layers
	splines       int // terms s(x, bs="ps", k=20)
	linear        int // terms of the network's own
	text          bool
}

func boundedCases() []bounded {
	return []bounded{
		{"MLP 10-200-200-1, ten ps k=20", "mlp.onnx", 200, inputs, 0, false},
		{"MLP 10-400-400-1, ten ps k=20", "wide.onnx", 400, inputs, 0, false},
		{"SSN 10 linear + MLP, its own terms", "ssn.onnx", 200, 0, inputs, false},
		{"SSN 10 linear + MLP, and ten ps k=20", "ssn.onnx", 200, inputs, inputs, false},
		{"MLP 10-200-200-1, ten ps k=20, CSV in and out", "mlp.onnx", 200, inputs, 0, true},
	}
}

// part is something that a decomposition computes, and what it must cost: nanoseconds for
// each row on one processor.
type part struct {
	name string
	row  float64
}

// bound prints what the parts of each case besides reading and the network (of CSV: and writing) must cost
// at least on this machine, from the speed of each kernel on operands in the first cache, alone on a
// processor: nothing here waits for memory, for the disk, for other goroutines or for the solution. The
// last line of a case is the least ratio of all of it to the other program: as measured and,
// which other work on the machine disturbs less, with the network at the kernels' speed.
func bound(dir string, workers, rows int) error {
	reading, err := fastest(5, func() (float64, error) { return read(filepath.Join(dir, "rows.parquet")) })
	if err != nil {
		return err
	}
	writing, err := fastest(3, func() (float64, error) { return writeBytes(dir, 8*rows) })
	if err != nil {
		return err
	}
	r := rate.Measure(inputs)
	fmt.Printf("one processor: %.1f GFLOP/s in float64, products of four by four values added in %.2f ns, forms of them in %.2f ns, memory copied at %.1f GB/s\n",
		2*r.FMA, r.Outer, r.Form, r.Copied)
	fmt.Printf("%d rows of Parquet, one goroutine: read in %.3f s, a column written in %.4f s\n", rows, reading, writing)
	for _, c := range boundedCases() {
		peer, err := fastest(5, func() (float64, error) { return c.peer(dir, workers) })
		if err != nil {
			return err
		}
		share := float64(rows) / 1e9 / float64(workers)
		network, more := c.flops()/r.FMA*share, 0.0
		fmt.Printf("%s\n  %-40s %7.1f ns a row  %.3f s with %d workers (all of the other program: %.3f s)\n", c.name, "network (in both)", c.flops()/r.FMA, network, workers, peer)
		for _, p := range c.parts(r, rows, writing*1e9/float64(rows)) {
			fmt.Printf("  %-40s %7.1f ns a row  %.3f s\n", p.name, p.row, p.row*share)
			more += p.row * share
		}
		fmt.Printf("  least ratio: (%.3f + %.3f)/%.3f = %.2f", peer, more, peer, 1+more/peer)
		if !c.text {
			fmt.Printf("; with network and shared reading at the kernels' speed: %.2f", 1+more/(network+reading/float64(workers)))
		}
		fmt.Println()
	}
	return nil
}

// peer is how long the other program takes.
func (c bounded) peer(dir string, workers int) (float64, error) {
	network, began := filepath.Join(dir, c.network), time.Now()
	var err error
	if c.text {
		out := filepath.Join(dir, "copied.csv")
		defer os.Remove(out)
		err = copied(network, filepath.Join(dir, "rows.csv"), out, workers)
	} else {
		_, err = forward(network, filepath.Join(dir, "rows.parquet"), workers, nil)
	}
	return time.Since(began).Seconds(), err
}

// flops are the network's multiplications with an addition in a row.
func (c bounded) flops() float64 {
	return float64(inputs*c.width + c.width*c.width + c.width + c.linear)
}

// parts are what a decomposition does besides; writing is that of a number. Rows are decoded once, kept, and
// taken from memory in the two passes.
func (c bounded) parts(r rate.Rates, rows int, writing float64) []part {
	splines, linear := float64(c.splines), float64(c.linear)
	pairs := splines * (splines + 1) / 2
	products := pairs*r.Outer + (linear+2)*(linear+2)/2/r.FMA // with the response and 1
	if c.splines > 0 {
		products += splines * r.Scale
		if c.linear > 0 {
			products += splines * r.Beside
		}
	}
	all := []part{
		{"rows kept, and read twice from memory", 3 * 8 * inputs / r.Copied},
		{"bases, twice", 2 * splines * r.Spline},
		{"moments: X'WX, X'WR", products},
		{"default bands: leverages", pairs*r.Form + splines*r.Product + (linear*splines*rate.Columns+linear*linear/2)/r.FMA},
		{"default bands: X'WX again", products},
		{"contributions", splines*r.Product + linear/r.FMA},
		{"ranking of pairs: tables", columnThrees * r.Table},
		{"ranking of pairs: products", productRows * 2 * productSums / r.FMA / float64(rows)}, // two matrices
	}
	if !c.text {
		all = append(all, part{"writing to the file system", float64(c.splines+c.linear+besides) * writing})
	}
	return all
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
