package main

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/data/parquet"
)

// open makes one table of the files. Flights that are not in our own files lack
// what follows from other columns.
func open(paths []string) (data.Source, error) {
	paths, err := data.Expand(paths)
	if err != nil {
		return nil, err
	}
	format, err := files.DetectIn(context.Background(), nil, paths[0])
	if err != nil {
		return nil, err
	}
	o := &files.Options{}
	if format == files.CSV {
		o.Factors = []string{"carrier", "origin", "dest"}
	}
	src, err := files.Open(paths, o)
	if err != nil || format != files.CSV {
		return src, err
	}
	return &derived{Source: src, dates: map[[3]float64]float64{}}, nil
}

// derived adds the day of the year and the route.
type derived struct {
	data.Source
	dates map[[3]float64]float64
}

func (d *derived) Schema() data.Schema {
	s := d.Source.Schema()
	return append(s[:len(s):len(s)], data.Column{Name: "yearday", Numeric: true}, data.Column{Name: "route", Categorical: true})
}

func (d *derived) Batches(ctx context.Context, _ []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		codes, levels := map[[2]int32]int32{}, []string(nil)
		for b, err := range d.Source.Batches(ctx, d.Source.Schema().Names()) {
			if err == nil {
				levels, err = d.add(b, codes, levels)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

func (d *derived) add(b *data.Batch, codes map[[2]int32]int32, levels []string) ([]string, error) {
	year, err1 := b.Numeric("year")
	month, err2 := b.Numeric("month")
	monthday, err3 := b.Numeric("day")
	origin, err4 := b.Codes("origin")
	dest, err5 := b.Codes("dest")
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return nil, err
	}
	yearday, route := make([]float64, b.Rows()), make([]int32, b.Rows())
	for i := range b.Rows() {
		date := [3]float64{year[i], month[i], monthday[i]}
		if d.dates[date] == 0 {
			d.dates[date] = float64(time.Date(int(date[0]), time.Month(date[1]), int(date[2]), 0, 0, 0, 0, time.UTC).YearDay())
		}
		yearday[i] = d.dates[date]
		pair := [2]int32{origin.Index[i], dest.Index[i]}
		code, ok := codes[pair]
		if !ok {
			code = int32(len(levels))
			codes[pair] = code
			levels = append(levels, origin.Levels[pair[0]]+"-"+dest.Levels[pair[1]])
		}
		route[i] = code
	}
	return levels, errors.Join(b.SetNumeric("yearday", yearday), b.SetCodes("route", data.Codes{Index: route, Levels: levels}))
}

// convert writes the real flights as a Parquet file.
func convert(ctx context.Context, dir string, paths []string) error {
	src, err := open(paths)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, strings.SplitN(filepath.Base(paths[0]), ".", 2)[0]+".parquet"))
	if err != nil {
		return err
	}
	defer f.Close()
	out, err := parquet.NewBatchWriter(f, columns())
	if err != nil {
		return err
	}
	for b, err := range src.Batches(ctx, nil) {
		if err == nil {
			err = out.WriteBatch(b)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(out.Close(), f.Close())
}
