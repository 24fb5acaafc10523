package basis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/pho-go/pho/internal/base/wire"
)

func (s *levelScan) tag() partTag { return levelsTag }

func (s *levelScan) add(next part) error {
	n := next.(*levelScan)
	if s.column != n.column || s.limit != n.limit {
		return fmt.Errorf("levels of the columns %q and %q do not add up", s.column, n.column)
	}
	s.begin()
	s.rows += n.rows
	for _, order := range n.orders {
		s.declare(order)
	}
	maps.Copy(s.texts, n.texts)
	maps.Copy(s.numbers, n.numbers)
	return s.few()
}

func (s *levelScan) write(b []byte) []byte {
	limit := s.limit
	if len(s.orders) > 0 {
		limit = -limit // says that orders follow: files of columns without one are as they were
	}
	b = wire.AppendInt(wire.AppendInt(wire.AppendText(b, s.column), limit), s.rows)
	if len(s.orders) > 0 {
		b = wire.AppendInt(b, len(s.orders))
		for _, order := range s.orders {
			b = wire.AppendTexts(b, order)
		}
	}
	b = wire.AppendTexts(b, slices.Sorted(maps.Keys(s.texts)))
	return wire.AppendFloats(b, slices.Sorted(maps.Keys(s.numbers)))
}

func readLevels(r *wire.Reader) *levelScan {
	s := &levelScan{column: r.Text()}
	limit := r.Int()
	s.limit, s.rows = int(max(limit, -limit)), int64(r.NonNegative())
	s.begin()
	if limit < 0 {
		for range r.Count(8) {
			s.declare(r.Texts())
		}
	}
	for _, t := range r.IncreasingTexts() {
		s.texts[t] = struct{}{}
	}
	for _, v := range r.Increasing() {
		if !finite(v) {
			r.Fail("column %q has the level %v", s.column, v)
		}
		s.numbers[v] = struct{}{}
	}
	if err := s.few(); err != nil {
		r.Fail("%w", err)
	}
	return s
}

func (s *cellScan) tag() partTag { return cellsTag }

// Add adds combinations of levels, which have other numbers in n.
func (s *cellScan) add(next part) error {
	n := next.(*cellScan)
	if len(s.seen) != len(n.seen) || s.most != n.most {
		return fmt.Errorf("combinations of the levels of %d and %d columns do not add up", len(s.seen), len(n.seen))
	}
	to := make([][]int32, len(s.seen)) // of n's numbers
	for i := range s.seen {
		if err := s.seen[i].add(&n.seen[i].levelScan); err != nil {
			return err
		}
		to[i] = make([]int32, len(n.seen[i].number))
		for name, at := range n.seen[i].number {
			to[i][at] = s.seen[i].numbered(name)
		}
	}
	s.rows += n.rows
	var key []byte
	for _, cell := range n.cells {
		own := make([]int32, len(cell))
		for i, at := range cell {
			own[i] = to[i][at]
		}
		key = cellKey(key, own)
		s.cells[string(key)] = own
	}
	if len(s.cells) > s.most {
		return fmt.Errorf("more than %d combinations of levels: is one of the columns a number rather than a category?", s.most)
	}
	return nil
}

// write numbers the levels by their names, and writes the combinations in order.
func (s *cellScan) write(b []byte) []byte {
	b = wire.AppendInt(wire.AppendInt(wire.AppendInt(b, s.most), s.rows), len(s.seen))
	to := make([][]int32, len(s.seen))
	for i := range s.seen {
		c := &s.seen[i]
		names := slices.Sorted(maps.Keys(c.number))
		to[i] = make([]int32, len(names))
		for rank, name := range names {
			to[i][c.number[name]] = int32(rank)
		}
		b = wire.AppendTexts(c.write(b), names)
	}
	cells := make([][]int32, 0, len(s.cells))
	for _, cell := range s.cells {
		own := make([]int32, len(cell))
		for i, at := range cell {
			own[i] = to[i][at]
		}
		cells = append(cells, own)
	}
	slices.SortFunc(cells, slices.Compare)
	b = wire.AppendInt(b, len(cells))
	for _, cell := range cells {
		for _, rank := range cell {
			b = wire.AppendInt(b, rank)
		}
	}
	return b
}

func readCells(r *wire.Reader) *cellScan {
	s := &cellScan{most: r.NonNegative(), rows: int64(r.NonNegative()), cells: map[string][]int32{}}
	for range r.AtMost(maxFactors) {
		c := cellLevels{levelScan: *readLevels(r), number: map[string]int32{}}
		names := r.IncreasingTexts()
		for _, name := range names {
			c.numbered(name)
		}
		if own, err := c.names(); err == nil && len(own) != len(names) || slices.ContainsFunc(own, func(name string) bool { _, ok := c.number[name]; return !ok }) {
			r.Fail("the combinations' levels of column %q are others than the column's", c.column)
		}
		s.seen = append(s.seen, c)
	}
	if len(s.seen) == 0 {
		r.Fail("combinations of the levels of no column")
		return s
	}
	var key []byte
	var before []int32
	for range r.Count(8 * len(s.seen)) {
		cell := make([]int32, len(s.seen))
		for i := range cell {
			levels := len(s.seen[i].number)
			if levels == 0 {
				r.Fail("a combination of levels of a column without any")
				return s
			}
			cell[i] = int32(r.AtMost(levels - 1))
		}
		if before != nil && slices.Compare(before, cell) >= 0 {
			r.Fail("the combinations of levels are not in order")
		}
		if r.Err() != nil {
			return s
		}
		before = cell
		key = cellKey(key, cell)
		s.cells[string(key)] = cell
	}
	return s
}

// indicators are which columns of 0 and 1 are 1 on a row, the last entry: whether a row has none.
type indicators struct{ seen []bool } // nil: there were no rows

func (s *indicators) tag() partTag { return indicatorsTag }

func (s *indicators) add(next part) error {
	n := next.(*indicators)
	switch {
	case n.seen == nil:
		return nil
	case s.seen == nil:
		s.seen = slices.Clone(n.seen)
		return nil
	case len(s.seen) != len(n.seen):
		return fmt.Errorf("factors of %d and %d columns do not add up", len(s.seen)-1, len(n.seen)-1)
	}
	for i, seen := range n.seen {
		s.seen[i] = s.seen[i] || seen
	}
	return nil
}

func (s *indicators) write(b []byte) []byte {
	b = wire.AppendInt(b, len(s.seen))
	for _, seen := range s.seen {
		b = wire.AppendBool(b, seen)
	}
	return b
}

func readIndicators(r *wire.Reader) *indicators {
	s := new(indicators)
	for range r.Count(1) {
		s.seen = append(s.seen, r.Bool())
	}
	return s
}

func (s *byScan) tag() partTag { return byTag }

func (s *byScan) add(next part) error {
	n := next.(*byScan)
	if s.column != n.column || s.asFactor != n.asFactor {
		return fmt.Errorf("by columns %q and %q do not add up", s.column, n.column)
	}
	if n.rows > 0 {
		if s.rows == 0 {
			s.min, s.max = n.min, n.max
		}
		s.min, s.max = min(s.min, n.min), max(s.max, n.max)
	}
	s.rows += n.rows
	s.factor = s.factor || n.factor
	return s.levels.add(&n.levels)
}

func (s *byScan) write(b []byte) []byte {
	b = wire.AppendBool(wire.AppendBool(wire.AppendText(b, s.column), s.asFactor), s.factor)
	b = wire.AppendInt(b, s.rows)
	if s.rows > 0 {
		b = wire.AppendFloat(wire.AppendFloat(b, s.min), s.max)
	}
	return s.levels.write(b)
}

func readBy(r *wire.Reader) *byScan {
	s := &byScan{column: r.Text(), asFactor: r.Bool(), factor: r.Bool(), rows: int64(r.NonNegative())}
	if s.rows > 0 {
		s.min, s.max = readRange(r)
	}
	s.levels = *readLevels(r)
	return s
}

// readRange reads a least and a greatest number.
func readRange(r *wire.Reader) (lo, hi float64) {
	lo, hi = r.Float(), r.Float()
	if !finite(lo) || !finite(hi) || cmp.Compare(lo, hi) > 0 {
		r.Fail("a range from %v to %v", lo, hi)
	}
	return lo, hi
}
