package interaction

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/rowhash"
)

// sampleRows is how many rows a Sample keeps, and wideRows how many a wide one: means of these are a third as far from those of
// all rows.
const (
	sampleRows = 2048
	wideRows   = 1 << 14
)

// Sample is how the values of some columns are spread: the values in the rows with the
// smallest hashes of their numbers (a bottom-k sample). So it depends on the rows alone,
// not on their order or on batches, and samples of shards merge. It is a decompose.Spec
// without a term: prepared along with those of a formula it costs no pass of its own where
// they need one.
type Sample struct {
	columns []string
	weights string
	rows    int // that are kept
	kept    []sampledRow
	limit   uint64 // no row of a greater hash is among the first rows
}

// sampledRow holds the values of one row, one for each column of the sample.
type sampledRow struct {
	hash   uint64
	row    int64
	values []value
}

// value is a number (NaN: missing) or, of a categorical column, a level.
type value struct {
	number float64
	level  *string // nil: a number
}

// NewSample samples the columns, which hold numbers or levels. Rows whose weight is 0 are
// left out; weights "": there are none.
func NewSample(columns []string, weights string) *Sample {
	return &Sample{columns: slices.Clone(columns), weights: weights, rows: sampleRows}
}

// NewWideSample is NewSample of eight times the rows.
func NewWideSample(columns []string, weights string) *Sample {
	s := NewSample(columns, weights)
	s.rows = wideRows
	return s
}

// Columns are the columns, and that of the weights.
func (s *Sample) Columns() []string {
	if s.weights == "" {
		return s.columns
	}
	return append(slices.Clone(s.columns), s.weights)
}

// Scanner begins the sample anew: a Sample is of one set of rows.
func (s *Sample) Scanner() decompose.Scanner {
	s.begin()
	return (*sampleScan)(s)
}

func (s *Sample) begin() { s.kept, s.limit = nil, math.MaxUint64 }

// sampleScan fills its Sample.
type sampleScan Sample

// NeedsScan is true: it is all about the rows.
func (s *sampleScan) NeedsScan() bool { return true }

// Build makes no blocks.
func (s *sampleScan) Build() ([]decompose.Block, error) {
	(*Sample)(s).prune()
	return nil, nil
}

// Scan takes in rows.
func (s *sampleScan) Scan(b *data.Batch) error {
	var w []float64
	if s.weights != "" {
		var err error
		if w, err = b.Numeric(s.weights); err != nil {
			return fmt.Errorf("interaction: %w", err)
		}
	}
	readers, err := readersOf(b, s.columns)
	if err != nil {
		return err
	}
	for i := range b.Rows() {
		if w != nil && !(w[i] > 0) {
			continue
		}
		hash := rowhash.Of(b.Row(i))
		if hash > s.limit {
			continue
		}
		r := sampledRow{hash: hash, row: b.Row(i), values: make([]value, len(readers))}
		for j, read := range readers {
			r.values[j] = read(i)
		}
		s.kept = append(s.kept, r)
		if len(s.kept) >= 2*s.rows {
			(*Sample)(s).prune()
		}
	}
	return nil
}

// Cuts part the values of a column of the sample into at most so many bins of equally many rows, of at least rows each,
// as far as ties allow: a bin begins at each. nil: it is no column of numbers in the sample, or there are too few.
func (s *Sample) Cuts(column string, bins, rows int) []float64 {
	j := slices.Index(s.columns, column)
	if j < 0 {
		return nil
	}
	var x []float64
	for _, r := range s.kept {
		if v := r.values[j]; v.level == nil && v.number == v.number {
			x = append(x, v.number)
		}
	}
	slices.Sort(x)
	var cuts []float64
	bins = min(bins, len(x)/rows)
	for b := 1; b < bins; b++ {
		if v := x[b*len(x)/bins]; v > x[0] && (len(cuts) == 0 || v > cuts[len(cuts)-1]) {
			cuts = append(cuts, v)
		}
	}
	return cuts
}

// readersOf give the values of each column in row i of b.
func readersOf(b *data.Batch, columns []string) ([]func(i int) value, error) {
	readers := make([]func(int) value, len(columns))
	for j, name := range columns {
		if b.Categorical(name) {
			c, err := b.Codes(name)
			if err != nil {
				return nil, fmt.Errorf("interaction: %w", err)
			}
			readers[j] = func(i int) value { return value{level: &c.Levels[c.Index[i]]} }
			continue
		}
		x, err := b.Numeric(name)
		if err != nil {
			return nil, fmt.Errorf("interaction: %w", err)
		}
		readers[j] = func(i int) value { return value{number: x[i]} }
	}
	return readers, nil
}

// prune leaves the rows of the smallest hash, in order of these.
func (s *Sample) prune() {
	slices.SortFunc(s.kept, compareRows)
	if len(s.kept) >= s.rows {
		clear(s.kept[s.rows:])
		s.kept = s.kept[:s.rows]
		s.limit = s.kept[s.rows-1].hash
	}
}

// Merge adds the sample of further rows, of the same columns.
func (s *Sample) Merge(o *Sample) error {
	if !slices.Equal(s.columns, o.columns) || s.weights != o.weights || s.rows != o.rows {
		return fmt.Errorf("interaction: samples of %d rows of the columns %q and of %d of %q, with weights %q and %q, do not merge", s.rows, s.columns, o.rows, o.columns, s.weights, o.weights)
	}
	s.kept = append(s.kept, o.kept...)
	s.prune()
	return nil
}
