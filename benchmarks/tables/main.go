// Command tables reads and writes files of rows next to other programs: see
// benchmarks/tables.sh.
package main

import (
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// task is what is timed: a file read into memory, or read and written as CSV.
type task struct {
	name, file string
	copied     bool
}

var tasks = []task{
	{"CSV, 12 columns of numbers, read and written", "normal.csv", true},
	{"CSV, numbers and text, read and written", "mixed.csv", true},
	{"CSV, 12 columns of numbers, read", "normal.csv", false},
	{"CSV, numbers and text, read", "mixed.csv", false},
	{"Parquet, plain, read", "plain.none.parquet", false},
	{"Parquet, plain, Snappy, read", "plain.snappy.parquet", false},
	{"Parquet, plain, Zstandard, read", "plain.zstd.parquet", false},
	{"Parquet, dictionaries, read", "dictionary.none.parquet", false},
	{"Parquet, dictionaries, Snappy, read", "dictionary.snappy.parquet", false},
	{"Parquet, dictionaries, Zstandard, read", "dictionary.zstd.parquet", false},
	{"Arrow, read", "uncompressed.arrow", false},
	{"Arrow, LZ4, read", "lz4.arrow", false},
	{"Arrow, Zstandard, read", "zstd.arrow", false},
}

func main() {
	dir := flag.String("dir", "", "directory for files")
	command := flag.String("peer", "", "command that answers as tables/peer.py does")
	rows := flag.Int("rows", 1_000_000, "rows of the tables")
	rounds := flag.Int("rounds", 9, "turns of each")
	workers := flag.Int("workers", 2, "goroutines, and threads of the peers")
	only := flag.String("case", "", "text in the names of the cases to run")
	flag.Parse()
	if err := run(*dir, strings.Fields(*command), *only, *rows, *rounds, *workers); err != nil {
		log.Fatal(err)
	}
}

func run(dir string, command []string, only string, rows, rounds, workers int) error {
	p, err := start(command)
	if err != nil {
		return err
	}
	defer p.close()
	versions, err := p.ask("make", dir, fmt.Sprint(rows), fmt.Sprint(workers))
	if err != nil {
		return err
	}
	for _, version := range strings.Split(versions, "\t") {
		fmt.Printf("version\t%s\n", version)
	}
	fmt.Println("case\tours\tpeer\tratio\tanswer difference")
	for _, t := range tasks {
		if !strings.Contains(t.name, only) {
			continue
		}
		if err := t.compare(p, dir, rounds, workers); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}

// compare takes turns with all settings of all peers, and prints a line for each peer. Of each
// setting the fastest turn counts.
func (t task) compare(p *peer, dir string, rounds, workers int) error {
	path, ours, theirs := filepath.Join(dir, t.file), filepath.Join(dir, "ours.csv"), filepath.Join(dir, "theirs.csv")
	settings, err := t.settings(p)
	if err != nil {
		return err
	}
	us, them := math.Inf(1), slices.Repeat([]float64{math.Inf(1)}, len(settings))
	differ := make([]float64, len(settings))
	for round := range rounds {
		seconds, err := t.ours(path, ours, workers)
		if err != nil {
			return err
		}
		us = min(us, seconds)
		for i, setting := range settings {
			seconds, err := t.theirs(p, setting, path, theirs)
			if err == nil && round == 0 {
				differ[i], err = t.difference(p, path, ours, theirs, dir)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", setting, err)
			}
			them[i] = min(them[i], seconds)
		}
	}
	for _, name := range []string{"DuckDB", "Polars", "pyarrow"} {
		best, miss := math.Inf(1), 0.0
		for i, setting := range settings {
			if strings.HasPrefix(setting, name) {
				fmt.Printf("%s, %s: %.3f s\n", t.name, setting, them[i])
				best, miss = min(best, them[i]), max(miss, differ[i])
			}
		}
		if math.IsInf(best, 1) {
			continue
		}
		ratio := best / us // of rates
		if t.copied {
			ratio = us / best // of seconds
		}
		fmt.Printf("row\t%s: %s\t%.3f s\t%.3f s\t%.2f\t%.1e\n", t.name, name, us, best, ratio, miss)
	}
	return nil
}

func (t task) settings(p *peer) ([]string, error) {
	what := "read"
	if t.copied {
		what = "copy"
	}
	names, err := p.ask("settings", what+filepath.Ext(t.file))
	return strings.Split(names, "\t"), err
}

func (t task) theirs(p *peer, setting, path, out string) (float64, error) {
	if t.copied {
		return p.seconds("copy", setting, path, out)
	}
	return p.seconds("read", setting, path)
}

func (t task) ours(path, out string, workers int) (float64, error) {
	started := time.Now()
	var err error
	if t.copied {
		err = written(path, out, workers)
	} else {
		_, err = inMemory(path, workers)
	}
	return time.Since(started).Seconds(), err
}

// difference is the largest between what both have written, or between what is read and what
// a peer makes of the same file.
func (t task) difference(p *peer, path, ours, theirs, dir string) (float64, error) {
	if t.copied {
		return betweenFiles(ours, theirs)
	}
	numbers := filepath.Join(dir, "numbers")
	if _, err := p.ask("dump", path, numbers); err != nil {
		return 0, err
	}
	want, err := os.ReadFile(numbers)
	if err != nil {
		return 0, err
	}
	got, err := inMemory(path, 2)
	if err != nil {
		return 0, err
	}
	return got.difference(want)
}
