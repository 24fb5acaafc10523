package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

func (c *coverage) header() string { return "sample;recipe;networks;band;held;outer;half width" }

func (c *coverage) lines(ctx context.Context, sample uint64) ([]string, error) {
	out, err := c.sample(ctx, sample)
	var lines []string
	for _, o := range out {
		lines = append(lines, fmt.Sprintf("%d;%s;%d;%s;%.4f;%.4f;%.4f", sample, o.recipe, o.networks, o.band, o.held, o.outer, o.width))
	}
	return lines, err
}

func (c *coverage) table(w io.Writer, rows [][]string) error {
	fmt.Fprintln(w, "| networks differ by | band | M | middle 95 % of the rows | beyond | mean half width |\n|---|---|---|---|---|---|")
	return grouped(rows, 1, 3, func(key []string, columns [][]float64) {
		held, e := meanAndError(columns[0])
		outer, eo := meanAndError(columns[1])
		width, _ := meanAndError(columns[2])
		fmt.Fprintf(w, "| %s | %s | %s | %.1f ± %.1f | %.1f ± %.1f | %.3f |\n", key[0], key[2], key[1], 100*held, 100*e, 100*outer, 100*eo, width)
	})
}

// grouped shows the numbers behind cells first to last by these cells, in the order in
// which they come in the first sample.
func grouped(rows [][]string, first, last int, show func(key []string, columns [][]float64)) error {
	values := map[string][][]float64{}
	var order []string
	for _, cells := range rows {
		key := strings.Join(cells[first:last+1], ";")
		if values[key] == nil {
			values[key] = make([][]float64, len(cells)-last-1)
			order = append(order, key)
		}
		for i, text := range cells[last+1:] {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return err
			}
			values[key][i] = append(values[key][i], v)
		}
	}
	for _, key := range order {
		show(strings.Split(key, ";"), values[key])
	}
	return nil
}

// meanAndError are the mean and its standard error.
func meanAndError(v []float64) (mean, e float64) {
	n := float64(len(v))
	for _, x := range v {
		mean += x / n
	}
	for _, x := range v {
		e += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(e / (n * math.Max(n-1, 1)))
}

// median is the middle of v.
func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}
