package main

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// crossed is a real design of factors: columns, or several joined to one, as "origin:dest".
type crossed struct {
	file    string
	factors []string
}

// realDesigns are what people fit to these tables: many levels, and interactions of factors.
var realDesigns = []crossed{
	{"adult.csv.gz", []string{"workclass", "education", "marital_status", "occupation", "relationship", "race", "native_country", "age", "hours_per_week"}},
	{"datacar.csv.gz", []string{"veh_body", "veh_age", "area", "agecat", "veh_body:area"}},
	{"bike_hour.csv.gz", []string{"hr", "weekday", "mnth", "weathersit", "hr:weekday"}},
	{"flights_nyc_2013_2017.csv.gz", []string{"carrier", "origin", "dest", "origin:dest", "carrier:dest", "month:day", "sched_dep_min"}},
	{"flights_asa_sample.csv.gz", []string{"carrier", "origin", "dest", "origin:dest", "carrier:origin"}},
	{"covid_us_county.csv.gz", []string{"fips", "day", "population"}},
}

// sparsity prints the share of nonzero cells of X'X for real designs, and the memory for
// storing only these: of every level a column, of every row one level of each factor.
func sparsity(ctx context.Context, w io.Writer, dir string) error {
	fmt.Fprintln(w, "| table | rows | factors | columns | X'X as it is stored | cells not zero | stored as those | of it |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
	for _, d := range realDesigns {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := d.count(filepath.Join(dir, d.file))
		if err != nil {
			return fmt.Errorf("%s: %w", d.file, err)
		}
		full, sparse := float64(c.columns)*float64(c.columns+1)/2*8, float64(c.cells)*12
		fmt.Fprintf(w, "| %s | %d | %s | %d | %s | %.2f %% | %s | %.1f %% |\n", strings.TrimSuffix(strings.TrimSuffix(d.file, ".gz"), ".csv"), c.rows,
			strings.Join(d.factors, ", "), c.columns, size(full), 100*2*float64(c.cells)/float64(c.columns)/float64(c.columns+1), size(sparse), 100*sparse/full)
	}
	return nil
}

// counted is a design counted.
type counted struct{ rows, columns, cells int } // cells of the upper triangle, the diagonal included

func (d crossed) count(path string) (*counted, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(z)
	header, err := r.Read()
	if err != nil {
		return nil, err
	}
	parts, err := d.places(header)
	if err != nil {
		return nil, err
	}
	c, level := &counted{}, map[string]int{}
	cells := map[[2]int32]struct{}{}
	codes := make([]int32, len(parts))
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			c.columns, c.cells = len(level), len(cells)
			return c, nil
		}
		if err != nil {
			return nil, err
		}
		c.rows++
		for i, places := range parts {
			key := d.factors[i]
			for _, p := range places {
				key += "\x00" + row[p]
			}
			code, ok := level[key]
			if !ok {
				code = len(level)
				level[key] = code
			}
			codes[i] = int32(code)
		}
		for i, a := range codes {
			for _, b := range codes[i:] {
				cells[[2]int32{min(a, b), max(a, b)}] = struct{}{}
			}
		}
	}
}

// places are the columns of each factor.
func (d crossed) places(header []string) ([][]int, error) {
	at := map[string]int{}
	for i, name := range header {
		at[name] = i
	}
	var parts [][]int
	for _, factor := range d.factors {
		var places []int
		for name := range strings.SplitSeq(factor, ":") {
			i, ok := at[name]
			if !ok {
				return nil, fmt.Errorf("no column %q", name)
			}
			places = append(places, i)
		}
		parts = append(parts, places)
	}
	return parts, nil
}

// size writes bytes as people read them.
func size(bytes float64) string {
	for _, unit := range []string{"B", "kB", "MB", "GB", "TB"} {
		if bytes < 999.5 {
			return fmt.Sprintf("%.3g %s", bytes, unit)
		}
		bytes /= 1000
	}
	return fmt.Sprintf("%.3g PB", bytes)
}
