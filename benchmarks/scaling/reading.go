package main

import (
	"bufio"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/data/parquet"
)

const (
	readRows    = 1 << 18
	readColumns = 20
)

// reading measures a Parquet file of float64 without repetition, the page cache warm: seconds
// and bytes of a number.
func reading(ctx context.Context) (seconds, bytes float64, err error) {
	dir, err := os.MkdirTemp("", "scaling")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "rows.parquet")
	names := strings.Split("abcdefghijklmnopqrst", "")[:readColumns]
	size, err := writeParquet(path, names)
	if err != nil {
		return 0, 0, err
	}
	took, err := least(func() error {
		src, err := files.Open([]string{path}, nil)
		if err != nil {
			return err
		}
		defer src.Close()
		for b, err := range src.Batches(ctx, names) {
			if err != nil {
				return err
			}
			for _, name := range names {
				if _, err := b.Numeric(name); err != nil {
					return err
				}
			}
		}
		return nil
	})
	cells := float64(readRows * readColumns)
	return took / cells, float64(size) / cells, err
}

func writeParquet(path string, names []string) (size int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	w, err := parquet.NewWriter(f, names)
	if err != nil {
		return 0, err
	}
	random := rand.New(rand.NewPCG(1, 2))
	columns := make([][]float64, len(names))
	for range readRows >> 16 {
		for j := range columns {
			columns[j] = make([]float64, 1<<16)
			for i := range columns[j] {
				columns[j][i] = random.NormFloat64()
			}
		}
		if err := w.Write(columns); err != nil {
			return 0, err
		}
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// processor is the name that Linux gives it; "unknown" elsewhere.
func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
