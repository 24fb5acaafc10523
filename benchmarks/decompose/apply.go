package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pho-go/pho/data/files"
)

// applied is one way of calling pho apply: rows in one format, contributions in another.
type applied struct {
	name, rows, out string
	errors          bool
	place           string // directory to write to
}

// appliedCases are the cases that write to dir, and cases of CSV that write to memory, a
// directory of a file system without a disk; "": none.
func appliedCases(dir, memory string) []applied {
	cases := []applied{
		{"Parquet in and out", "rows.parquet", ".parquet", false, dir},
		{"Parquet in and out, standard errors", "rows.parquet", ".parquet", true, dir},
		{"Arrow in, Parquet out", "rows.arrow", ".parquet", false, dir},
		{"Arrow in, Parquet out, standard errors", "rows.arrow", ".parquet", true, dir},
		{"CSV in and out", "rows.csv", ".csv", false, dir},
		{"CSV in and out, standard errors", "rows.csv", ".csv", true, dir},
	}
	if memory != "" {
		cases = append(cases, applied{"CSV in and out, standard errors, written to memory", "rows.csv", ".csv", true, memory})
	}
	return cases
}

// compareApply takes turns: pho apply, pho decompose of the same rows with the same kind of
// contributions, a process that only reads the rows and runs the network, and a plain write of
// as many bytes as apply's to the same place. Both commands have their own network, MLP
// 10-200-200-1, and ten splines.
func compareApply(pho, dir, memory, only string, workers, rounds int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	network := filepath.Join(dir, "mlp.onnx")
	with := []string{"--model", network, "--input", binding, "--formula", terms(), "--workers", strconv.Itoa(workers)}
	fmt.Println("case\tours\tpeer\tratio\tanswer difference")
	for _, c := range appliedCases(dir, memory) {
		rows := filepath.Join(dir, c.rows)
		if _, err := os.Stat(rows); err != nil || !strings.Contains(c.name, only) {
			continue
		}
		kind, fitted := strings.TrimPrefix(c.out, "."), filepath.Join(c.place, "fitted")
		decompose := slices.Concat([]string{"decompose", "--data", rows, "--contributions", kind, "--out", fitted}, with)
		written := filepath.Join(c.place, "applied"+c.out)
		apply := []string{"apply", "--decomposition", fitted, "--data", rows, "--out", written, "--workers", strconv.Itoa(workers)}
		if c.errors {
			apply = append(apply, "--se")
		}
		forward := []string{"-forward", network, "-data", rows, "-workers", strconv.Itoa(workers)}
		var took [4][]float64
		var toDecompose, toForward, toWrite []float64
		var bytes int64
		for range rounds {
			var now [4]float64
			for i, call := range [][]string{slices.Concat([]string{pho}, decompose), slices.Concat([]string{pho}, apply), slices.Concat([]string{self}, forward)} {
				if now[i], err = seconds(call[0], call[1:]...); err != nil {
					return err
				}
			}
			if bytes, now[3], err = plainWrite(written); err != nil {
				return err
			}
			for i, s := range now {
				took[i] = append(took[i], s)
			}
			toDecompose, toForward, toWrite = append(toDecompose, now[1]/now[0]), append(toForward, now[1]/now[2]), append(toWrite, now[1]/now[3])
		}
		miss, err := apart(filepath.Join(fitted, "contributions"+c.out), written)
		if err != nil {
			return err
		}
		ours, plain := median(took[1]), median(took[3])
		fmt.Printf("apply next to decompose, %s\t%.2f s\t%.2f s\t%.2f\t%.1e\n", c.name, ours, median(took[0]), median(toDecompose), miss)
		fmt.Printf("apply next to its network alone, %s\t%.2f s\t%.2f s\t%.2f\t-\n", c.name, ours, median(took[2]), median(toForward))
		fmt.Printf("apply next to a plain write of its bytes, %s\t%.2f s\t%.2f s: %.0f MB, %.0f MB/s\t%.2f\t-\n", c.name, ours, plain, float64(bytes)/1e6, float64(bytes)/1e6/plain, median(toWrite))
	}
	return nil
}

// plainWrite takes the time to write the beginning of a file, again and again, until there is
// another of as many bytes, and to bring that to the disk.
func plainWrite(path string) (bytes int64, took float64, err error) {
	source, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return 0, 0, err
	}
	block := make([]byte, min(info.Size(), 4<<20))
	if _, err := io.ReadFull(source, block); err != nil {
		return 0, 0, err
	}
	f, err := os.Create(path + ".plain")
	if err != nil {
		return 0, 0, err
	}
	defer os.Remove(f.Name())
	started := time.Now()
	for left := info.Size(); left > 0 && err == nil; left -= int64(len(block)) {
		_, err = f.Write(block[:min(left, int64(len(block)))])
	}
	err = errors.Join(err, f.Sync(), f.Close())
	return info.Size(), time.Since(started).Seconds(), err
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
