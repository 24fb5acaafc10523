package propose

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/pho-go/pho/basis/internal/distinct"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/wire"
)

// sumsKind is the kind of a scan as sums.
const sumsKind = "propose/1"

// Sums are what was seen.
func (s *scan) Sums() (decompose.Sums, error) { return s, nil }

// Restore takes what was seen of all rows.
func (s *scan) Restore(sums decompose.Sums) error { return s.Add(sums) }

// Kind is that of scans for a choice of terms.
func (s *scan) Kind() string { return sumsKind }

// Add adds what was seen of other rows.
func (s *scan) Add(next decompose.Sums) error {
	n, ok := next.(*scan)
	if !ok {
		return fmt.Errorf("propose: sums of %s do not add to those for a choice of terms", next.Kind())
	}
	if !slices.EqualFunc(s.columns, n.columns, (*column).alike) {
		return fmt.Errorf("propose: what was seen of other columns, or of columns of another type, does not add up")
	}
	for i, c := range s.columns {
		if err := c.add(n.columns[i]); err != nil {
			return fmt.Errorf("propose: column %q: %w", c.name, err)
		}
	}
	s.rows += n.rows
	s.addBoth(n)
	return nil
}

// addBoth adds the rows on which two columns are 1, of columns that have been 0 and 1 everywhere.
func (s *scan) addBoth(n *scan) {
	for i, c := range s.columns {
		if !c.binary {
			continue
		}
		for j, d := range s.columns[:i] {
			if d.binary {
				s.both[c.place][d.place] += n.both[n.columns[i].place][n.columns[j].place]
			}
		}
	}
}

// alike reports whether two columns are read alike.
func (c *column) alike(d *column) bool {
	return c.name == d.name && c.text == d.text && c.tensor == d.tensor
}

func (c *column) add(n *column) error {
	switch {
	case c.tensor:
		return nil
	case c.text:
		for name := range n.levels {
			c.addLevel(name)
		}
		if n.many {
			c.many = true
			clear(c.levels)
		}
		return nil
	}
	c.binary = c.binary && n.binary
	c.one += n.one
	c.low, c.high = min(c.low, n.low), max(c.high, n.high)
	return c.values.Merge(n.values)
}

// MarshalBinary writes the sums for DecodeSums.
func (s *scan) MarshalBinary() ([]byte, error) {
	b := wire.AppendInt(wire.AppendInt(nil, s.rows), len(s.columns))
	for _, c := range s.columns {
		b = c.write(b)
	}
	for i, c := range s.ones {
		for j, d := range s.ones[:i] {
			if c.binary && d.binary {
				b = wire.AppendInt(b, s.both[i][j])
			}
		}
	}
	return b, nil
}

func (c *column) write(b []byte) []byte {
	b = wire.AppendBool(wire.AppendBool(wire.AppendText(b, c.name), c.tensor), c.text)
	switch {
	case c.tensor:
		return b
	case c.text:
		return wire.AppendTexts(wire.AppendBool(b, c.many), slices.Sorted(maps.Keys(c.levels)))
	}
	b = c.values.Append(wire.AppendInt(wire.AppendBool(b, c.binary), c.one))
	if c.values.Rows > 0 {
		b = wire.AppendFloat(wire.AppendFloat(b, c.low), c.high)
	}
	return b
}

// DecodeSums reads what the look of TermsFrom has seen: see decompose.DecodeSums.
func DecodeSums(kind string, raw []byte) (decompose.Sums, error) {
	if kind != sumsKind {
		return nil, fmt.Errorf("propose: unknown sums %q: this version reads %q", kind, sumsKind)
	}
	r := wire.NewReader(raw)
	s := &scan{rows: int64(r.NonNegative())}
	for range r.Count(10) {
		c := readColumn(r)
		if r.Err() != nil {
			break
		}
		s.columns = append(s.columns, c)
		if c.binary { // others are in no pair any more
			c.place = len(s.ones)
			s.ones = append(s.ones, c)
		}
	}
	s.readPairs(r)
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("propose: the sums for a choice of terms are damaged: %w", err)
	}
	return s, nil
}

func readColumn(r *wire.Reader) *column {
	c := &column{name: r.Text(), tensor: r.Bool(), text: r.Bool()}
	switch {
	case c.tensor:
	case c.text:
		c.many, c.levels = r.Bool(), map[string]bool{}
		for _, name := range r.IncreasingTexts() {
			c.levels[name] = true
		}
		if len(c.levels) >= maxText || c.many && len(c.levels) > 0 {
			r.Fail("%d levels of column %q", len(c.levels), c.name)
		}
	default:
		c.binary, c.one, c.values = r.Bool(), int64(r.NonNegative()), distinct.ReadPoints(r)
		if c.values.D != 1 || c.values.Limit != sampled {
			r.Fail("column %q has points of %d columns, at most %d of them", c.name, c.values.D, c.values.Limit)
		}
		c.low, c.high = math.Inf(1), math.Inf(-1)
		if c.values.Rows > 0 {
			c.low, c.high = r.Float(), r.Float()
		}
	}
	return c
}

// readPairs reads the rows on which two columns of 0 and 1 are 1.
func (s *scan) readPairs(r *wire.Reader) {
	for i := range s.ones {
		var row []int64
		for range i {
			if r.Err() != nil {
				return
			}
			row = append(row, int64(r.NonNegative()))
		}
		s.both = append(s.both, row)
	}
}
