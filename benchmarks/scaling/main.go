// Command scaling says what a decomposition over many machines takes: it measures the pieces on
// this machine, and simulates workers, stragglers, failures and merges with them. tables.md holds
// its output, docs/scaling.md the conclusions.
//
//	scaling -measure measured.json   the pieces, on one core; minutes
//	scaling                          tables of the simulation, from scaling/measured.json
//	scaling -check ../bin/pho        a small decomposition by the commands, next to the simulation
//	scaling -sparsity ../../shared/data
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "scaling:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	to := flag.String("measure", "", "file for what is measured")
	most := flag.Int("most", 4000, "with -measure: the most columns")
	only := flag.String("kind", "", "with -measure: dense, splines or factors alone")
	from := flag.String("from", "scaling/measured.json", "what was measured")
	real := flag.String("sparsity", "", "directory with real tables: how many cells of X'X of their factors are not zero")
	program := flag.String("check", "", "the program pho: a small decomposition by its commands, next to the simulation")
	rows := flag.Int("rows", 1<<20, "with -check")
	flag.Parse()
	switch {
	case *to != "":
		return measureInto(ctx, *to, kind(*only), *most)
	case *real != "":
		return sparsity(ctx, os.Stdout, *real)
	}
	m, err := readMeasured(*from)
	if err != nil {
		return err
	}
	if *program != "" {
		path, err := filepath.Abs(*program)
		if err != nil {
			return err
		}
		return check(ctx, os.Stdout, m, path, *rows)
	}
	return tables(os.Stdout, m)
}

// measureInto measures, and keeps the least of what the file has and of this sitting.
func measureInto(ctx context.Context, path string, only kind, most int) error {
	m, err := readMeasured(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if m == nil {
		m = new(Measured)
	}
	return measure(ctx, m, only, most, func() error {
		raw, err := json.MarshalIndent(m, "", "  ")
		if err != nil {
			return err
		}
		return os.WriteFile(path, append(raw, '\n'), 0o644)
	})
}

func readMeasured(path string) (*Measured, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := new(Measured)
	return m, json.Unmarshal(raw, m)
}
