package nam

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/wire"
)

// valueScan counts the distinct values of columns: a decompose.SummingScanner that makes no blocks, and its
// own sums.
type valueScan struct {
	most    int // that are counted
	columns []*valueCount
}

type valueCount struct {
	name   string
	text   bool             // it holds levels, or no numbers: nothing is counted
	full   bool             // there are most values or more: values holds none
	values map[float64]bool // NaN left out
}

func (c *valueCount) count(most int) int {
	switch {
	case c.text:
		return 0
	case c.full:
		return most
	}
	return len(c.values)
}

func (c *valueCount) take(x float64, most int) {
	if c.full || math.IsNaN(x) {
		return
	}
	c.values[x+0] = true // -0 is 0
	if c.full = len(c.values) >= most; c.full {
		clear(c.values)
	}
}

// over reports whether further rows change nothing.
func (s *valueScan) over() bool {
	return !slices.ContainsFunc(s.columns, func(c *valueCount) bool { return !c.text && !c.full })
}

// NeedsScan is true: it is all about the rows.
func (s *valueScan) NeedsScan() bool { return true }

// Build makes no blocks.
func (s *valueScan) Build() ([]decompose.Block, error) { return nil, nil }

// Scan takes in rows.
func (s *valueScan) Scan(b *data.Batch) error {
	for _, c := range s.columns {
		if c.full || c.text {
			continue
		}
		x, err := b.Numeric(c.name)
		if c.text = b.Categorical(c.name) || err != nil; c.text {
			clear(c.values)
			continue
		}
		for _, v := range x {
			c.take(v, s.most)
		}
	}
	return nil
}

// sumsKind is the kind of the counts as sums.
const sumsKind = "nam/1"

// Sums are the values.
func (s *valueScan) Sums() (decompose.Sums, error) { return s, nil }

// Restore takes the values of all rows.
func (s *valueScan) Restore(sums decompose.Sums) error { return s.Add(sums) }

// Kind is that of counts of values.
func (s *valueScan) Kind() string { return sumsKind }

// Add adds the values of other rows.
func (s *valueScan) Add(next decompose.Sums) error {
	n, ok := next.(*valueScan)
	if !ok || n.most != s.most || !slices.EqualFunc(s.columns, n.columns, func(c, d *valueCount) bool { return c.name == d.name }) {
		return fmt.Errorf("nam: counts of the values of other columns, or sums of %s, do not add up", next.Kind())
	}
	for i, c := range s.columns {
		d := n.columns[i]
		for _, x := range slices.Collect(maps.Keys(d.values)) {
			c.take(x, s.most)
		}
		c.text, c.full = c.text || d.text, c.full || d.full
		if c.text {
			c.full = false
		}
		if c.text || c.full {
			clear(c.values)
		}
	}
	return nil
}

// MarshalBinary writes the counts for DecodeSums.
func (s *valueScan) MarshalBinary() ([]byte, error) {
	b := wire.AppendInt(wire.AppendInt(nil, s.most), len(s.columns))
	for _, c := range s.columns {
		b = wire.AppendBool(wire.AppendBool(wire.AppendText(b, c.name), c.text), c.full)
		b = wire.AppendFloats(b, slices.Sorted(maps.Keys(c.values)))
	}
	return b, nil
}

// DecodeSums reads what the first look of Prepare has seen: see decompose.DecodeSums.
func DecodeSums(kind string, raw []byte) (decompose.Sums, error) {
	if kind != sumsKind {
		return nil, fmt.Errorf("nam: unknown sums %q: this version reads %q", kind, sumsKind)
	}
	r := wire.NewReader(raw)
	s := &valueScan{most: r.NonNegative()}
	for range r.Count(18) {
		c := &valueCount{name: r.Text(), text: r.Bool(), full: r.Bool(), values: map[float64]bool{}}
		for _, x := range r.Increasing() {
			if c.text || c.full {
				r.Fail("column %.80q has values that are not counted", c.name)
				break
			}
			c.values[x] = true
		}
		if r.Err() != nil {
			break
		}
		s.columns = append(s.columns, c)
	}
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("nam: the counts of values are damaged: %w", err)
	}
	return s, nil
}
