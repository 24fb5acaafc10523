package main

import (
	"math"
	"testing"

	"github.com/pho-go/pho/benchmarks/internal/rate"
)

// TestFlops counts the network's multiplications layer by layer.
func TestFlops(t *testing.T) {
	for _, c := range boundedCases() {
		widths := []int{inputs, c.width, c.width, 1}
		want := c.linear
		for i, in := range widths[:len(widths)-1] {
			want += in * widths[i+1]
		}
		if got := c.flops(); got != float64(want) {
			t.Errorf("%s: %g multiplications, want %d", c.name, got, want)
		}
	}
}

// TestThrees: a table of three columns holds at most three pairs of columns, and each holds one that no other does.
func TestThrees(t *testing.T) {
	if pairs := inputs * (inputs - 1) / 2; 3*columnThrees < pairs || columnThrees > pairs {
		t.Errorf("%d tables of three columns for %d pairs", columnThrees, pairs)
	}
}

// TestParts: at rates of 1 the costs are counts, and equal the counts of loops over terms.
func TestParts(t *testing.T) {
	one := rate.Rates{FMA: 1, Copied: 1, Outer: 1, Form: 1, Product: 1, Spline: 1, Scale: 1, Beside: 1, Table: 1}
	const rows, writing = 1 << 20, 3
	for _, c := range boundedCases() {
		pairs := 0
		for i := range c.splines {
			pairs += c.splines - i
		}
		products := float64(pairs) + float64((c.linear+2)*(c.linear+2))/2
		switch {
		case c.splines > 0 && c.linear > 0:
			products += float64(2 * c.splines)
		case c.splines > 0:
			products += float64(c.splines)
		}
		want := map[string]float64{
			"rows kept, and read twice from memory": 3 * 8 * inputs,
			"bases, twice":                          float64(2 * c.splines),
			"moments: X'WX, X'WR":                   products,
			"default bands: X'WX again":             products,
			"contributions":                         float64(c.splines + c.linear),
			"ranking of pairs: tables":              columnThrees,
		}
		if !c.text {
			want["writing to the file system"] = float64(writing * (c.splines + c.linear + besides))
		}
		found := 0
		for _, p := range c.parts(one, rows, writing) {
			if n, ok := want[p.name]; ok {
				if found++; p.row != n {
					t.Errorf("%s: %s takes %g, want %g", c.name, p.name, p.row, n)
				}
			}
			if !(p.row >= 0) || math.IsInf(p.row, 0) {
				t.Errorf("%s: %s takes %g", c.name, p.name, p.row)
			}
		}
		if found != len(want) {
			t.Errorf("%s: %d parts of %d", c.name, found, len(want))
		}
	}
}
