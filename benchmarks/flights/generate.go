package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/parquet"
)

const (
	seed      = 20130101
	blockRows = 50_000     // that one random stream draws
	fileRows  = 10_000_000 // a multiple of it
)

// columns are those of the real file, and the day of the year and the route, which
// follow from others.
func columns() []parquet.Column {
	var c []parquet.Column
	for _, name := range numbers {
		c = append(c, parquet.Column{Name: name, Stored: parquet.Int32})
	}
	for _, name := range categories {
		c = append(c, parquet.Column{Name: name, Stored: parquet.Text})
	}
	return c
}

var (
	numbers    = []string{"year", "month", "day", "day_of_week", "yearday", "distance", "sched_dep_min", "sched_arr_min", "arr_delay"}
	categories = []string{"carrier", "origin", "dest", "route"}
)

// block draws the rows of a block. They depend on nothing but the block's number, so a
// larger table begins with the rows of a smaller one.
func (w *world) block(index, rows int) (*data.Batch, error) {
	random := rand.New(rand.NewPCG(seed, 1+uint64(index)))
	number := make([][]float64, len(numbers))
	for j := range number {
		number[j] = make([]float64, rows)
	}
	code := make([][]int32, len(categories))
	for j := range code {
		code[j] = make([]int32, rows)
	}
	for i := range rows {
		k := w.pick.draw(random)
		r := &w.routes[k]
		u, c := random.Float64(), 0
		for u > r.until[c] && c < len(r.until)-1 {
			c++
		}
		d := &w.days[random.IntN(len(w.days))]
		dep := 5 * float64(w.slot.draw(random))
		if random.IntN(8) == 0 { // few times are not multiples of five
			dep += float64(random.IntN(5))
		}
		flight := 35 + r.distance/7.7 + r.shift/10 + 8*random.NormFloat64()
		arr := math.Mod(math.Round(dep+flight+r.shift)+1440, 1440)
		delay := 15*random.NormFloat64() + 20*(random.ExpFloat64()-1) // delays are skewed
		delay += 7 + byDeparture(dep) + byYearday(d.yearday) + byDistance(r.distance) + byArrival(arr) +
			w.effect.carrier[r.carriers[c]] + w.effect.origin[r.origin] + w.effect.dest[r.dest] + w.effect.route[k]
		for j, v := range [...]float64{d.year, d.month, d.day, d.weekday, d.yearday, r.distance, dep, arr, math.Round(delay)} {
			number[j][i] = v
		}
		for j, v := range [...]int32{r.carriers[c], r.origin, r.dest, k} {
			code[j][i] = v
		}
	}
	b := data.NewBatch(rows, int64(index)*blockRows)
	var err error
	for j, name := range numbers {
		err = errors.Join(err, b.SetNumeric(name, number[j]))
	}
	for j, levels := range [][]string{w.carrier, w.airport, w.airport, w.route} {
		err = errors.Join(err, b.SetCodes(categories[j], data.Codes{Index: code[j], Levels: levels}))
	}
	return b, err
}

// generate writes a table of the given number of rows to dir, as many files as
// processors at a time.
func generate(dir string, rows int) error {
	w := newWorld(seed)
	files := (rows + fileRows - 1) / fileRows
	faults := make([]error, files)
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for f := range files {
		places <- struct{}{}
		wait.Go(func() {
			faults[f] = w.file(filepath.Join(dir, fmt.Sprintf("flights_%04d.parquet", f)), f*fileRows, min(rows, (f+1)*fileRows))
			<-places
		})
	}
	wait.Wait()
	return errors.Join(faults...)
}

// file writes rows first to end-1.
func (w *world) file(path string, first, end int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	out, err := parquet.NewBatchWriter(f, columns())
	if err != nil {
		return err
	}
	for at := first; at < end; at += blockRows {
		b, err := w.block(at/blockRows, min(blockRows, end-at))
		if err != nil {
			return err
		}
		if err := out.WriteBatch(b); err != nil {
			return err
		}
	}
	return errors.Join(out.Close(), f.Close())
}

// integers writes the flights as little endian int32 columns of a block after the
// other, categories as positions from 1 on. Names and levels go to FILE.names, a
// line for each column.
func integers(path string, rows int) error {
	w := newWorld(seed)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	for at := 0; at < rows; at += blockRows {
		n := min(blockRows, rows-at)
		b, err := w.block(at/blockRows, n)
		if err != nil {
			return err
		}
		column := make([]int32, n)
		for _, name := range numbers {
			v, err := b.Numeric(name)
			if err != nil {
				return err
			}
			for i, x := range v {
				column[i] = int32(x)
			}
			if err := binary.Write(out, binary.LittleEndian, column); err != nil {
				return err
			}
		}
		for _, name := range categories {
			c, err := b.Codes(name)
			if err != nil {
				return err
			}
			for i, k := range c.Index {
				column[i] = k + 1
			}
			if err := binary.Write(out, binary.LittleEndian, column); err != nil {
				return err
			}
		}
	}
	if err := errors.Join(out.Flush(), f.Close()); err != nil {
		return err
	}
	lines := append([]string(nil), numbers...)
	for j, levels := range [][]string{w.carrier, w.airport, w.airport, w.route} {
		lines = append(lines, categories[j]+" "+strings.Join(levels, " "))
	}
	return os.WriteFile(path+".names", []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}
