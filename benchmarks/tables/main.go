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
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/pho-go/pho/benchmarks/internal/dialog"
	"github.com/pho-go/pho/benchmarks/internal/tocsv"
)

// task is what is timed: a file read into memory (read), read and written as CSV (copy), or read
// with the sum of every column (sum), so that a file that is mapped to memory is read, too.
type task struct{ name, file, what string }

var tasks = []task{
	{"CSV, 12 columns of numbers, read and written", "normal.csv", "copy"},
	{"CSV, numbers and text, read and written", "mixed.csv", "copy"},
	{"CSV, 12 columns of numbers, read", "normal.csv", "read"},
	{"CSV, numbers and text, read", "mixed.csv", "read"},
	{"Parquet, plain, read and summed", "plain.none.parquet", "sum"},
	{"Parquet, plain, Snappy, read and summed", "plain.snappy.parquet", "sum"},
	{"Parquet, plain, Zstandard, read and summed", "plain.zstd.parquet", "sum"},
	{"Parquet, dictionaries, read and summed", "dictionary.none.parquet", "sum"},
	{"Parquet, dictionaries, Snappy, read and summed", "dictionary.snappy.parquet", "sum"},
	{"Parquet, dictionaries, Zstandard, read and summed", "dictionary.zstd.parquet", "sum"},
	{"Arrow, read and summed", "uncompressed.arrow", "sum"},
	{"Arrow, LZ4, read and summed", "lz4.arrow", "sum"},
	{"Arrow, Zstandard, read and summed", "zstd.arrow", "sum"},
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
	debug.SetGCPercent(-1) // memory goes round below this limit, and not back to the system:
	debug.SetMemoryLimit(2 << 30)
	p, err := dialog.Start(command)
	if err != nil {
		return err
	}
	defer p.Close()
	versions, err := p.Ask("make\t%s\t%d\t%d", dir, rows, workers)
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

// compare takes turns with all settings of all peers, and prints a line for each
// peer. Of each setting the fastest turn counts.
func (t task) compare(p *dialog.Program, dir string, rounds, workers int) error {
	path, ours, theirs := filepath.Join(dir, t.file), filepath.Join(dir, "ours.csv"), filepath.Join(dir, "theirs.csv")
	settings, err := t.settings(p)
	if err != nil {
		return err
	}
	least, err := t.limit(p, dir, workers)
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
			seconds, err := p.Number("%s\t%s\t%s\t%s", t.what, setting, path, theirs)
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
		at := -1
		for i, setting := range settings {
			if !strings.HasPrefix(setting, name) {
				continue
			}
			fmt.Printf("%s, %s: %.4f s\n", t.name, setting, them[i])
			if at < 0 || them[i] < them[at] {
				at = i
			}
		}
		if at < 0 {
			continue
		}
		ratio := them[at] / us // of rates
		if t.what == "copy" {
			ratio = us / them[at] // of seconds
		}
		with := strings.TrimPrefix(strings.TrimPrefix(settings[at], name), ", ")
		fmt.Printf("row\t%s: %s\t%.4f s (at least %.4f s)\t%.4f s: %s\t%.2f\t%.1e\n", t.name, name, us, least, them[at], with, ratio, slices.Max(differ))
	}
	return nil
}

func (t task) settings(p *dialog.Program) ([]string, error) {
	names, err := p.Ask("settings\t%s%s", t.what, filepath.Ext(t.file))
	return strings.Split(names, "\t"), err
}

// ours is the seconds that we take. What was read before has been freed by then, as peers free
// theirs, and as they do the process keeps the memory: see run.
func (t task) ours(path, out string, workers int) (float64, error) {
	runtime.GC()
	started := time.Now()
	var err error
	switch t.what {
	case "copy":
		err = tocsv.Write(out, path, workers)
	case "sum":
		_, err = summed(path, workers)
	default:
		_, err = inMemory(path, workers)
	}
	return time.Since(started).Seconds(), err
}

// difference is the largest between both files written, or between our numbers and a peer's of the
// same file.
func (t task) difference(p *dialog.Program, path, ours, theirs, dir string) (float64, error) {
	if t.what == "copy" {
		return betweenFiles(ours, theirs)
	}
	numbers := filepath.Join(dir, "numbers")
	if _, err := p.Ask("dump\t%s\t%s", path, numbers); err != nil {
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
