package basis

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/basis/internal/distinct"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Sample is what a scan of the rows has found of the d columns of a smooth: their
// distinct points, or of more than the smooth's Limit a sample chosen by hash, which
// stands for the rows.
type Sample struct {
	Columns []string
	Rows    int64     // all that were scanned
	Points  []float64 // n x d, row by row, all different, in increasing order
	Count   []int64   // n: how many of the rows each point stands for; they add up to Rows if no sample was drawn
	// Min and Max (d each) are the range of all rows, whether the points are a sample or
	// not.
	Min, Max []float64
}

// sampleOf puts together what was collected.
func sampleOf(columns []string, p *distinct.Points, lo, hi []float64) *Sample {
	p.Sort()
	return &Sample{Columns: columns, Rows: p.Rows, Points: p.X, Count: p.Count, Min: lo, Max: hi}
}

// collected is the sample for the packages below.
func (s *Sample) collected() *distinct.Points {
	return &distinct.Points{D: len(s.Columns), Limit: len(s.Count), Rows: s.Rows, X: s.Points, Count: s.Count}
}

// enough refuses data with fewer distinct points than k, the least k possible being
// lowest.
func (s *Sample) enough(k, lowest int) error {
	names, d, n := s.Columns, len(s.Columns), len(s.Count)
	if s.Rows == 0 {
		return fmt.Errorf("no rows of %s were scanned", quoted(names))
	}
	for j, name := range names {
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := range n {
			lo, hi = min(lo, s.Points[i*d+j]), max(hi, s.Points[i*d+j])
		}
		if lo == hi {
			advice := "leave it out of the term"
			if d == 1 {
				advice = "leave the term out"
			}
			return fmt.Errorf("column %q has 1 distinct value, %v: %s", name, lo, advice)
		}
	}
	what := "distinct values"
	if d > 1 {
		what = "distinct points"
	}
	switch {
	case n >= k:
		return nil
	case n >= lowest:
		return fmt.Errorf("%s has %d %s, fewer than k = %d: set k = %d or less", quoted(names), n, what, k, n)
	case d == 1:
		return fmt.Errorf("%s has %d %s, fewer than k = %d (and this basis needs %d at least): use the column itself or factor(%s)", quoted(names), n, what, k, lowest, names[0])
	}
	return fmt.Errorf("%s have %d %s, fewer than k = %d (and this basis needs %d at least): use the columns themselves", quoted(names), n, what, k, lowest)
}

func quoted(names []string) string {
	if len(names) == 1 {
		return fmt.Sprintf("column %q", names[0])
	}
	return fmt.Sprintf("columns %q", names)
}

func columns(d int) string {
	if d == 1 {
		return "1 column"
	}
	return fmt.Sprintf("%d columns", d)
}

// pointScan collects the points of columns, unless their limit is 0, and their range.
type pointScan struct {
	*distinct.Points
	columns  []string
	min, max []float64
}

func newPointScan(columns []string, limit int) pointScan {
	s := pointScan{Points: distinct.NewPoints(len(columns), max(limit, 0)), columns: columns}
	for range columns {
		s.min, s.max = append(s.min, math.Inf(1)), append(s.max, math.Inf(-1))
	}
	return s
}

func (s *pointScan) scan(term string, b *data.Batch) error {
	x, err := numeric(term, s.columns, b)
	if err != nil {
		return err
	}
	if err := s.widen(b); err != nil {
		return err
	}
	if s.Limit == 0 {
		s.Rows += int64(b.Rows())
		return nil
	}
	for d := len(s.columns); len(x) > 0; x = x[d:] {
		s.Add(x[:d]...)
	}
	return nil
}

// widen takes the finite columns of b into the range.
func (s *pointScan) widen(b *data.Batch) error {
	for j, name := range s.columns {
		x, err := b.Numeric(name)
		if err != nil {
			return err
		}
		if lo, hi, ok := kernel.Bounds(x); ok {
			s.min[j], s.max[j] = min(s.min[j], lo)+0, max(s.max[j], hi)+0 // -0 is 0
		}
	}
	return nil
}

func (s *pointScan) sample() *Sample { return sampleOf(s.columns, s.Points, s.min, s.max) }

// numeric gathers finite columns, row by row; one column is the batch's own memory, to be read only.
func numeric(term string, columns []string, b *data.Batch) ([]float64, error) {
	d := len(columns)
	var out []float64
	for j, name := range columns {
		x, err := b.Numeric(name)
		if err != nil {
			return nil, fmt.Errorf("term %s: %w", term, err)
		}
		if i := firstNotFinite(x); i >= 0 {
			return nil, notFinite(term, name, x[i], b.Row(i))
		}
		if d == 1 {
			return x, nil
		}
		if out == nil {
			out = make([]float64, b.Rows()*d)
		}
		for i, v := range x {
			out[i*d+j] = v
		}
	}
	return out, nil
}

// firstNotFinite is where x has its first NaN or infinity; -1: nowhere.
func firstNotFinite(x []float64) int {
	if _, _, ok := kernel.Bounds(x); ok {
		return -1
	}
	return slices.IndexFunc(x, func(v float64) bool { return !finite(v) })
}
