package basis

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/pho-go/pho/basis/internal/knot"
	"github.com/pho-go/pho/data"
)

// maxLevels bounds the levels of a factor, and maxByLevels those of a factor by,
// which make a smooth each.
const (
	maxLevels   = 100_000
	maxByLevels = 1_000
)

// levels are the categories of a column, and the way from its cells to them.
type levels struct {
	column string
	names  []string
	index  map[string]int32
	number map[float64]int32 // for columns held as numbers
	last   atomic.Pointer[translation]
}

// translation are the codes of a source's levels. A code keeps its meaning, and
// batches share their levels, so one serves many batches.
type translation struct {
	levels []string
	own    []int32 // the batch's code -> ours; unknown: not one of ours
}

const unknown = -1

// translate finds the codes of a batch's levels. Looking them up may cost more than the
// rows of a small batch, so the last result is kept: most batches have the levels of the
// one before.
func (l *levels) translate(batch []string) []int32 {
	last := l.last.Load()
	if last != nil && sameLevels(last.levels, batch) {
		return last.own
	}
	own := make([]int32, len(batch))
	for i, name := range batch {
		code, ok := l.index[name]
		if !ok {
			code = unknown
		}
		own[i] = code
	}
	l.last.Store(&translation{batch, own})
	return own
}

// sameLevels reports whether two lists of levels are the same memory.
func sameLevels(a, b []string) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// newLevels checks and indexes level names; the order of names is the order of
// codes.
func newLevels(column string, names []string) (*levels, error) {
	if err := checkColumn(column); err != nil {
		return nil, err
	}
	if len(names) > maxLevels {
		return nil, fmt.Errorf("column %q has %d levels, at most %d are possible", column, len(names), maxLevels)
	}
	l := &levels{column: column, names: names, index: make(map[string]int32, len(names)), number: map[float64]int32{}}
	for i, name := range names {
		if !utf8.ValidString(name) {
			return nil, fmt.Errorf("level %q of column %q is not UTF-8: convert the data", name, column)
		}
		if _, twice := l.index[name]; twice {
			return nil, fmt.Errorf("level %q of column %q is listed twice", name, column)
		}
		l.index[name] = int32(i)
		if v, err := strconv.ParseFloat(name, 64); err == nil && data.LevelText(v) == name {
			l.number[v] = int32(i)
		}
	}
	return l, nil
}

// codes returns the level of each row, as positions in l.names, in the memory of old if it is large enough. A level
// the term was not made with is an error.
func (l *levels) codes(old []int32, term string, b *data.Batch) ([]int32, error) {
	out := slices.Grow(old[:0], b.Rows())[:b.Rows()]
	if !b.Categorical(l.column) {
		x, err := b.Numeric(l.column)
		if err != nil {
			return nil, fmt.Errorf("term %s: %w", term, err)
		}
		for i, v := range x {
			code, ok := l.number[v]
			if !ok {
				return nil, l.unseen(term, data.LevelText(v), b.Row(i))
			}
			out[i] = code
		}
		return out, nil
	}
	c, err := b.Codes(l.column)
	if err != nil {
		return nil, fmt.Errorf("term %s: %w", term, err)
	}
	own := l.translate(c.Levels)
	for i, code := range c.Index {
		if code < 0 || int(code) >= len(own) {
			return nil, fmt.Errorf("term %s: data row %d: column %q has code %d, outside its %d levels", term, b.Row(i)+1, l.column, code, len(own))
		}
		if out[i] = own[code]; out[i] == unknown {
			return nil, l.unseen(term, c.Levels[code], b.Row(i))
		}
	}
	return out, nil
}

// rowsOf are the rows of a level. Errors are those of codes.
func (l *levels) rowsOf(level int32, term string, b *data.Batch) ([]int32, error) {
	codes, err := l.codes(nil, term, b)
	if err != nil {
		return nil, err
	}
	rows, n := codes, 0 // no row number is written before the code there is read
	for i, code := range codes {
		rows[n] = int32(i)
		if code == level {
			n++
		}
	}
	return rows[:n], nil
}

// unseen is the error for a level that did not occur when the term was made.
func (l *levels) unseen(term, level string, row int64) error {
	known := make([]string, 0, 6)
	for _, name := range l.names {
		if len(known) == 5 {
			known = append(known, fmt.Sprintf("... (%d in all)", len(l.names)))
			break
		}
		known = append(known, strconv.Quote(name))
	}
	return fmt.Errorf("term %s: %w", term, &data.UnseenLevelError{Column: l.column, Level: level, Row: row, Known: l.names, Reason: fmt.Sprintf(
		"did not occur in the data the term was made from (%s): leave such rows out, or decompose again on data that have this level", strings.Join(known, ", "))})
}

// levelScan collects the levels that occur in a column.
type levelScan struct {
	column  string
	limit   int
	advice  string // what to do when there are more than limit
	texts   map[string]struct{}
	numbers map[float64]struct{}
	rows    int64
	orders  [][]string // that are declared, none part of another, sorted
	last    []string   // the levels of the batch before,
	seen    []bool     // and which of them have occurred
}

// begin makes room for levels.
func (s *levelScan) begin() {
	if s.texts == nil {
		s.texts, s.numbers = map[string]struct{}{}, map[float64]struct{}{}
	}
}

// few refuses more levels than the limit.
func (s *levelScan) few() error {
	if len(s.texts)+len(s.numbers) > s.limit {
		advice := ""
		switch {
		case len(s.texts) > len(s.numbers): // not numbers that somebody took for categories
			advice = ": does it name single rows? Leave it out, or put rare levels together"
		case s.advice != "":
			advice = ": " + s.advice
		}
		return fmt.Errorf("column %q has more than %d levels%s", s.column, s.limit, advice)
	}
	return nil
}

func (s *levelScan) scan(term string, b *data.Batch) error {
	s.begin()
	s.rows += int64(b.Rows())
	if b.Categorical(s.column) {
		c, err := b.Codes(s.column)
		if err != nil {
			return fmt.Errorf("term %s: %w", term, err)
		}
		for _, order := range c.Declared {
			s.declare(order)
		}
		if !sameLevels(s.last, c.Levels) {
			s.last, s.seen = c.Levels, make([]bool, len(c.Levels))
		}
		for i, code := range c.Index {
			if code < 0 || int(code) >= len(s.seen) {
				return fmt.Errorf("term %s: data row %d: column %q has code %d, outside its %d levels", term, b.Row(i)+1, s.column, code, len(s.seen))
			}
			if !s.seen[code] {
				s.seen[code] = true
				s.texts[c.Levels[code]] = struct{}{}
			}
		}
	} else {
		x, err := b.Numeric(s.column)
		if err != nil {
			return fmt.Errorf("term %s: %w", term, err)
		}
		for i, v := range x {
			if !finite(v) {
				return notFinite(term, s.column, v, b.Row(i))
			}
			if len(s.numbers) > s.limit {
				break
			}
			s.numbers[v+0] = struct{}{} // -0 is 0
		}
	}
	if err := s.few(); err != nil {
		return fmt.Errorf("term %s: %w", term, err)
	}
	return nil
}

// declare notes an order that is declared, unless another one has it.
func (s *levelScan) declare(order []string) {
	if slices.ContainsFunc(s.orders, func(other []string) bool { return partOf(order, other) }) {
		return
	}
	s.orders = append(slices.DeleteFunc(s.orders, func(other []string) bool { return partOf(other, order) }), order)
	slices.SortFunc(s.orders, slices.Compare)
}

// partOf tells whether b has the levels of a in the order of a.
func partOf(a, b []string) bool {
	if sameLevels(a, b) {
		return true
	}
	at := 0
	for _, level := range b {
		if at < len(a) && a[at] == level {
			at++
		}
	}
	return at == len(a)
}

// names are the levels in the order that is declared, and then in R's order: by value if all are
// numbers, else by bytes. Error: two orders are declared, and neither is part of the other.
func (s *levelScan) names() ([]string, error) {
	if len(s.orders) > 1 {
		return nil, fmt.Errorf("the levels of column %q have two orders, %.200q and %.200q, and neither is part of the other: give all files one order, or write the column as plain text", s.column, s.orders[0], s.orders[1])
	}
	place := map[string]int{}
	if len(s.orders) == 1 {
		for i, level := range s.orders[0] {
			place[level] = i + 1 // 0: not declared
		}
	}
	set := make(map[string]struct{}, len(s.texts)+len(s.numbers))
	for name := range s.texts {
		set[name] = struct{}{}
	}
	for v := range s.numbers {
		set[data.LevelText(v)] = struct{}{}
	}
	names := make([]string, 0, len(set))
	values := make(map[string]float64, len(set))
	for name := range set {
		names = append(names, name)
		if v, err := strconv.ParseFloat(name, 64); err == nil && finite(v) {
			values[name] = v
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		switch i, j := place[a], place[b]; {
		case i > 0 && j > 0:
			return cmp.Compare(i, j)
		case i > 0:
			return -1
		case j > 0:
			return 1
		}
		if len(values) == len(names) && values[a] != values[b] {
			return cmp.Compare(values[a], values[b])
		}
		return strings.Compare(a, b)
	})
	return names, nil
}

// levels are the names, indexed.
func (s *levelScan) levels() (*levels, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	return newLevels(s.column, names)
}

func finite(v float64) bool { return knot.Finite(v) }

func notFinite(term, column string, v float64, row int64) error {
	return fmt.Errorf("term %s: data row %d: column %q is %v: leave the row out or fill in a number", term, row+1, column, v)
}

// checkColumn refuses names that a JSON artifact cannot hold.
func checkColumn(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the column's name is empty")
	case !utf8.ValidString(name):
		return fmt.Errorf("the column's name %q is not UTF-8: rename it", name)
	}
	return nil
}
