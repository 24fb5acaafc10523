package propose

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/basis/internal/distinct"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// sampled is how many distinct values of a column are kept, at most: beyond that a sample
// of them, chosen by their hash.
const sampled = 4096

// scan is what one pass shows of the columns: a decompose.SummingScanner that makes no blocks.
type scan struct {
	lenient bool // a column with cells that are no finite number gets no term, and is no error
	rows    int64
	columns []*column
	ones    []*column // those that hold 0 and 1 alone so far
	both    [][]int64 // [i][j], j < i: rows on which ones[i] and ones[j] are both 1
}

// column is what a pass shows of one of them.
type column struct {
	name         string
	text, tensor bool
	values       *distinct.Points // of numbers
	levels       map[string]bool  // of text, fewer than maxText
	many         bool             // maxText levels or more: levels holds none any more
	place        int              // in scan.ones, of numbers
	binary       bool             // 0 and 1 are all its numbers
	one          int64            // rows on which it is 1
	low, high    float64          // of the numbers less their rows' numbers
}

func newScan(schema data.Schema, columns, factors []string) (*scan, error) {
	s := &scan{}
	for _, name := range columns {
		info, ok := schema.Lookup(name)
		if !ok {
			return nil, fmt.Errorf("propose: %w", &data.MissingColumnError{Column: name, Where: "the data", Columns: schema.Names()})
		}
		c := &column{name: name, tensor: info.Width > 0, text: !info.Numeric || info.Categorical || slices.Contains(factors, name)}
		s.columns = append(s.columns, c)
		switch {
		case c.tensor:
		case c.text:
			c.levels = map[string]bool{}
		default:
			c.values, c.place, c.binary = distinct.NewPoints(1, sampled), len(s.ones), true
			c.low, c.high = math.Inf(1), math.Inf(-1)
			s.ones, s.both = append(s.ones, c), append(s.both, make([]int64, len(s.ones)))
		}
	}
	return s, nil
}

// NeedsScan is true: it is all about the rows.
func (s *scan) NeedsScan() bool { return true }

// Build makes no blocks.
func (s *scan) Build() ([]decompose.Block, error) { return nil, nil }

// Scan takes in rows.
func (s *scan) Scan(b *data.Batch) error {
	for _, c := range s.columns {
		switch {
		case c.tensor:
		case c.text:
			if err := c.addText(b); err != nil {
				return err
			}
		default:
			if err := c.addNumbers(b, s.lenient); err != nil {
				return err
			}
		}
	}
	s.rows += int64(b.Rows())
	return s.addPairs(b)
}

// maxText bounds the levels that are told apart: more are an identifier's, or belong to
// no factor.
const maxText = 1 << 16

func (c *column) addText(b *data.Batch) error {
	if !b.Categorical(c.name) {
		x, err := b.Numeric(c.name)
		if err != nil {
			return err
		}
		for _, v := range x {
			c.addLevel(data.LevelText(v))
		}
		return nil
	}
	codes, err := b.Codes(c.name)
	if err != nil {
		return err
	}
	seen := make([]bool, len(codes.Levels))
	for _, i := range codes.Index {
		if i >= 0 && !seen[i] {
			seen[i] = true
			c.addLevel(codes.Levels[i])
		}
	}
	return nil
}

func (c *column) addLevel(name string) {
	if c.many {
		return
	}
	c.levels[name] = true
	if c.many = len(c.levels) >= maxText; c.many {
		clear(c.levels)
	}
}

// bad says that v, in the row counted from 0, is no number that a term could take.
func (c *column) bad(row int64, v float64) error {
	if math.IsNaN(v) {
		name := formula.Value{Kind: formula.Identifier, Text: c.name}
		return fmt.Errorf("column %q, data row %d: %w, and a term of the column would need it; leave the column out by the formula \"~ . - %s\", fill it in, or leave such rows out",
			c.name, row+1, data.ErrMissingValue, name)
	}
	return fmt.Errorf("column %q, data row %d: %v is no number that a term could take; leave the row out or fill in a number", c.name, row+1, v)
}

func (c *column) addNumbers(b *data.Batch, lenient bool) error {
	x, err := b.Numeric(c.name)
	if err != nil {
		return err
	}
	unfit := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
	some := false
	for i, v := range x {
		if unfit(v) {
			if !lenient {
				return c.bad(b.Row(i), v)
			}
			some, c.binary = true, false
			continue
		}
		if v != 0 && v != 1 {
			c.binary = false
		} else {
			c.one += int64(v)
		}
		less := v - float64(b.Row(i))
		c.low, c.high = min(c.low, less)+0, max(c.high, less)+0 // -0 is 0
	}
	if some {
		x = slices.DeleteFunc(slices.Clone(x), unfit)
	}
	c.values.AddColumn(x)
	return nil
}

// addPairs counts rows on which two columns of 0 and 1 are both 1.
func (s *scan) addPairs(b *data.Batch) error {
	var cells [][]float64
	for _, c := range s.ones {
		var x []float64
		if c.binary {
			var err error
			if x, err = b.Numeric(c.name); err != nil {
				return err
			}
		}
		cells = append(cells, x)
	}
	var on []int
	for r := range b.Rows() {
		on = on[:0]
		for i, x := range cells {
			if x != nil && x[r] == 1 {
				on = append(on, i)
			}
		}
		for k, i := range on {
			for _, j := range on[:k] {
				s.both[i][j]++
			}
		}
	}
	return nil
}

// whole reports whether all cells of the column, of so many rows, are finite numbers.
func (c *column) whole(rows int64) bool { return c.values == nil || int64(c.values.Rows) == rows }

// distinct is the number of distinct values, or at least sampled of them.
func (c *column) distinct() int {
	switch {
	case c.many:
		return maxText
	case c.text:
		return len(c.levels)
	}
	if c.values == nil {
		return 0
	}
	return c.values.N()
}

// counts reports whether the column counts the rows: what it is more than the row's number is
// the same on all rows.
func (c *column) counts() bool { return c.values.Rows > 2 && c.low == c.high }

// identifies reports whether the column is named as an identifier and holds whole numbers
// that occur once each.
func (c *column) identifies() bool {
	words := strings.FieldsFunc(c.name, func(r rune) bool { return !unicode.IsLetter(r) })
	named := slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"id", "key", "index", "uuid", "nr"}, strings.ToLower(w)) || strings.HasSuffix(w, "Id") || strings.HasSuffix(w, "ID")
	})
	if !named {
		return false
	}
	c.values.Sort()
	for i, x := range c.values.X {
		if x != math.Trunc(x) || c.values.Count[i] != 1 {
			return false
		}
	}
	return true
}
