// Command members measures what several networks of one task say of a decomposition: how
// often bands hold the projection of the truth (-study coverage), and how far curves differ
// between networks before and after the projection (-study stability). Both go on where
// they were interrupted: samples that are in the file are not repeated.
//
//	go run -C benchmarks ./members -study coverage -samples 200 -out members/coverage.csv
//	go run -C benchmarks ./members -study stability -samples 20 -out members/stability.csv
//	go run -C benchmarks ./members -study coverage -table -out members/coverage.csv
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "members:", err)
		os.Exit(1)
	}
}

// study makes the lines of one sample; its table sums them up.
type study interface {
	header() string
	lines(ctx context.Context, sample uint64) ([]string, error)
	table(w io.Writer, rows [][]string) error
}

func run(ctx context.Context) error {
	kind := flag.String("study", "coverage", "coverage or stability")
	samples := flag.Int("samples", 200, "samples of rows")
	out := flag.String("out", "", "CSV `FILE` of the samples' outcomes, which is gone on with")
	workers := flag.Int("workers", 2, "samples at a time")
	table := flag.Bool("table", false, "print the table of the file alone")
	flag.Parse()
	var s study
	var err error
	switch *kind {
	case "coverage":
		s, err = newCoverage(ctx)
	case "stability":
		s = newStability()
	default:
		err = fmt.Errorf("-study %q: it is coverage or stability", *kind)
	}
	if err != nil {
		return err
	}
	if *out == "" {
		return fmt.Errorf("-out is missing: name the file of the outcomes")
	}
	done, rows, err := read(*out)
	if err != nil {
		return err
	}
	if !*table {
		if err := goOn(ctx, s, *out, *samples, *workers, done); err != nil {
			return err
		}
		if _, rows, err = read(*out); err != nil {
			return err
		}
	}
	return s.table(os.Stdout, rows)
}

// read gives the samples that are there whole, and their cells.
func read(path string) (done map[uint64]bool, rows [][]string, err error) {
	done = map[uint64]bool{}
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return done, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for first := true; lines.Scan(); first = false {
		if first {
			continue
		}
		cells := strings.Split(lines.Text(), ";")
		sample, err := strconv.ParseUint(cells[0], 10, 64)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		done[sample] = true
		rows = append(rows, cells)
	}
	return done, rows, lines.Err()
}

// goOn adds the samples that are missing; all lines of one are written at once.
func goOn(ctx context.Context, s study, path string, samples, workers int, done map[uint64]bool) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	if len(done) == 0 {
		if _, err := fmt.Fprintln(f, s.header()); err != nil {
			return err
		}
	}
	var todo []uint64
	for i := range samples {
		if !done[uint64(i)] {
			todo = append(todo, uint64(i))
		}
	}
	var mutex sync.Mutex
	var wait sync.WaitGroup
	var first error
	for w := range workers {
		wait.Go(func() {
			for i := w; i < len(todo); i += workers {
				lines, err := s.lines(ctx, todo[i])
				mutex.Lock()
				if err == nil && first == nil {
					_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
				}
				if err != nil && first == nil {
					first = err
				}
				stop := first != nil
				mutex.Unlock()
				if stop {
					return
				}
			}
		})
	}
	wait.Wait()
	return first
}
