package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/data/files"
)

// applied is one way of calling pho apply: rows in one format, contributions in another.
type applied struct {
	name, rows, out string
	errors          bool
}

func appliedCases() []applied {
	return []applied{
		{"Parquet in and out", "rows.parquet", ".parquet", false},
		{"Parquet in and out, standard errors", "rows.parquet", ".parquet", true},
		{"Arrow in, Parquet out", "rows.arrow", ".parquet", false},
		{"Arrow in, Parquet out, standard errors", "rows.arrow", ".parquet", true},
		{"CSV in and out", "rows.csv", ".csv", false},
		{"CSV in and out, standard errors", "rows.csv", ".csv", true},
	}
}

// compareApply takes turns: pho apply, pho decompose of the same rows with the same kind of
// contributions, and a process that only reads the rows and runs the network. Both
// commands have their own network, MLP 10-200-200-1, and ten splines.
func compareApply(pho, dir, only string, workers, rounds int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	network, fitted := filepath.Join(dir, "mlp.onnx"), filepath.Join(dir, "fitted")
	with := []string{"--model", network, "--input", binding, "--formula", terms(), "--workers", strconv.Itoa(workers)}
	fmt.Println("case\tours\tpeer\tratio\tanswer difference")
	for _, c := range appliedCases() {
		rows := filepath.Join(dir, c.rows)
		if _, err := os.Stat(rows); err != nil || !strings.Contains(c.name, only) {
			continue
		}
		kind := strings.TrimPrefix(c.out, ".")
		decompose := slices.Concat([]string{"decompose", "--data", rows, "--contributions", kind, "--out", fitted}, with)
		written := filepath.Join(dir, "applied"+c.out)
		apply := []string{"apply", "--decomposition", fitted, "--data", rows, "--out", written, "--workers", strconv.Itoa(workers)}
		if c.errors {
			apply = append(apply, "--se")
		}
		forward := []string{"-forward", network, "-data", rows, "-workers", strconv.Itoa(workers)}
		var took [3][]float64
		var toDecompose, toForward []float64
		for range rounds {
			var now [3]float64
			for i, call := range [][]string{slices.Concat([]string{pho}, decompose), slices.Concat([]string{pho}, apply), slices.Concat([]string{self}, forward)} {
				if now[i], err = seconds(call[0], call[1:]...); err != nil {
					return err
				}
				took[i] = append(took[i], now[i])
			}
			toDecompose, toForward = append(toDecompose, now[1]/now[0]), append(toForward, now[1]/now[2])
		}
		miss, err := apart(filepath.Join(fitted, "contributions"+c.out), written)
		if err != nil {
			return err
		}
		fmt.Printf("apply next to decompose, %s\t%.2f s\t%.2f s\t%.2f\t%.1e\n", c.name, median(took[1]), median(took[0]), median(toDecompose), miss)
		fmt.Printf("apply next to its network alone, %s\t%.2f s\t%.2f s\t%.2f\t-\n", c.name, median(took[1]), median(took[2]), median(toForward))
	}
	return nil
}

// apart is the largest distance between two files' columns of the first, over the largest value.
func apart(a, b string) (float64, error) {
	want, names, err := columnsOf(a, nil)
	if err != nil {
		return 0, err
	}
	got, _, err := columnsOf(b, names)
	if err != nil {
		return 0, err
	}
	var miss, largest float64
	for j := range want {
		if len(want[j]) != len(got[j]) {
			return 0, fmt.Errorf("column %q has %d rows in %q and %d in %q", names[j], len(want[j]), a, len(got[j]), b)
		}
		for i, v := range want[j] {
			miss, largest = math.Max(miss, math.Abs(v-got[j][i])), math.Max(largest, math.Abs(v))
		}
	}
	return miss / largest, nil
}

// columnsOf reads the named columns of a file; nil: all of them.
func columnsOf(path string, names []string) ([][]float64, []string, error) {
	src, err := files.Open([]string{path}, nil)
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	if names == nil {
		names = src.Schema().Names()
	}
	all := make([][]float64, len(names))
	for b, err := range src.Batches(context.Background(), names) {
		if err != nil {
			return nil, nil, err
		}
		for j, name := range names {
			x, err := b.Numeric(name)
			if err != nil {
				return nil, nil, err
			}
			all[j] = append(all[j], x...)
		}
	}
	return all, names, nil
}
