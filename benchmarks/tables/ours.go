package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
)

// table is a file in memory.
type table struct {
	schema  data.Schema
	batches []*data.Batch
}

// batchRows is as many as the passes of a decomposition take at a time.
const batchRows = 1 << 15

// summedRows is as many as the record batches of the files have.
const summedRows = 1 << 16

func inMemory(path string, workers int) (*table, error) {
	src, err := files.Open([]string{path}, &files.Options{Workers: workers, BatchRows: batchRows})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	t := &table{schema: src.Schema()}
	for b, err := range src.Batches(context.Background(), t.schema.Names()) {
		if err != nil {
			return nil, err
		}
		t.batches = append(t.batches, b)
	}
	return t, nil
}

// summed adds up every column of a file, columns by any worker. No batch is kept.
func summed(path string, workers int) ([]float64, error) {
	src, err := files.Open([]string{path}, &files.Options{Workers: workers, BatchRows: summedRows, Reuse: true})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	names := src.Schema().Names()
	all := make([]float64, len(names))
	for b, err := range src.Batches(context.Background(), names) {
		if err != nil {
			return nil, err
		}
		if err := addSums(all, b, names, workers); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// addSums adds those of the columns of a batch.
func addSums(all []float64, b *data.Batch, names []string, workers int) error {
	faults := make([]error, len(names))
	var taken atomic.Int64
	work := func() {
		for j := int(taken.Add(1)) - 1; j < len(names); j = int(taken.Add(1)) - 1 {
			v, err := b.Numeric(names[j])
			all[j], faults[j] = all[j]+floats.Sum(v), err
		}
	}
	var others sync.WaitGroup
	for range workers - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return errors.Join(faults...)
}

// difference is the largest between the numbers of t and those of want, column by column.
func (t *table) difference(want []byte) (float64, error) {
	worst := 0.0
	for _, c := range t.schema {
		if !c.Numeric {
			continue
		}
		for _, b := range t.batches {
			v, err := b.Numeric(c.Name)
			if err != nil {
				return 0, err
			}
			if len(want) < 8*len(v) {
				return 0, errors.New("there are more numbers than the peer has read")
			}
			for i, x := range v {
				worst = max(worst, math.Abs(x-math.Float64frombits(binary.LittleEndian.Uint64(want[8*i:]))))
			}
			want = want[8*len(v):]
		}
	}
	if len(want) > 0 {
		return 0, fmt.Errorf("%d numbers fewer than the peer has read", len(want)/8)
	}
	return worst, nil
}

// betweenFiles compares two CSV files cell by cell, as packages encoding/csv and strconv read
// them: the largest difference of numbers. Texts must be equal.
func betweenFiles(a, b string) (float64, error) {
	f, err := os.Open(a)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	g, err := os.Open(b)
	if err != nil {
		return 0, err
	}
	defer g.Close()
	ours, theirs := csv.NewReader(bufio.NewReaderSize(f, 1<<20)), csv.NewReader(bufio.NewReaderSize(g, 1<<20))
	ours.ReuseRecord, theirs.ReuseRecord = true, true
	worst := 0.0
	for row := 1; ; row++ {
		x, errX := ours.Read()
		y, errY := theirs.Read()
		if errX == io.EOF && errY == io.EOF {
			return worst, nil
		}
		if errX != nil || errY != nil || len(x) != len(y) {
			return 0, fmt.Errorf("line %d: %w", row, errors.Join(errX, errY, fmt.Errorf("%d and %d cells", len(x), len(y))))
		}
		for j := range x {
			if x[j] == y[j] {
				continue
			}
			u, errU := strconv.ParseFloat(x[j], 64)
			v, errV := strconv.ParseFloat(y[j], 64)
			if errU != nil || errV != nil {
				return 0, fmt.Errorf("line %d: %q here, %q there", row, x[j], y[j])
			}
			worst = max(worst, math.Abs(u-v))
		}
	}
}
