package basis

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// cellScan is what one set of rows shows of the columns.
type cellScan struct {
	*cellSpec
	most  int // combinations
	rows  int64
	seen  []cellLevels       // of each factor
	cells map[string][]int32 // combinations, by the levels' order of appearance

	ranges *ranges // of the numbers; nil: they are not looked at
}

// cellLevels numbers the levels of a factor in order of appearance.
type cellLevels struct {
	levelScan
	number map[string]int32
	of     []string // the levels of the batch before, and their numbers
	own    []int32
}

func (s *cellScan) NeedsScan() bool {
	return s.ranges != nil || slices.ContainsFunc(s.variables, func(p Variable) bool { return p.Factor })
}

func (s *cellScan) Scan(b *data.Batch) error {
	if err := s.check(); err != nil {
		return fmt.Errorf("term %s: %w", s.name, err)
	}
	s.rows += int64(b.Rows())
	if s.ranges != nil {
		if err := s.ranges.scan(b); err != nil {
			return fmt.Errorf("term %s: %w", s.name, err)
		}
	}
	if len(s.seen) == 0 {
		return nil
	}
	each := make([][]int32, len(s.seen))
	for i := range s.seen {
		var err error
		if err = s.seen[i].scan(s.name, b); err != nil {
			return err
		}
		if each[i], err = s.seen[i].codes(b); err != nil {
			return fmt.Errorf("term %s: %w", s.name, err)
		}
	}
	cell, key := make([]int32, len(each)), []byte(nil)
	for i := range b.Rows() {
		for l := range each {
			cell[l] = each[l][i]
		}
		if len(cell) == 1 && int(cell[0]) < len(s.cells) {
			continue // cells of one factor are numbered as they appear: this one was met before
		}
		key = cellKey(key, cell)
		if _, ok := s.cells[string(key)]; !ok {
			if len(s.cells) == s.most {
				return fmt.Errorf("term %s: data row %d: more than %d combinations of levels: is one of the columns a number rather than a category?", s.name, b.Row(i)+1, s.most)
			}
			s.cells[string(key)] = slices.Clone(cell)
		}
	}
	return nil
}

// numbered is the number of a level.
func (s *cellLevels) numbered(name string) int32 {
	at, ok := s.number[name]
	if !ok {
		at = int32(len(s.number))
		s.number[name] = at
	}
	return at
}

// codes numbers the levels of b's rows in order of appearance.
func (s *cellLevels) codes(b *data.Batch) ([]int32, error) {
	out := make([]int32, b.Rows())
	if !b.Categorical(s.column) {
		x, err := b.Numeric(s.column)
		if err != nil {
			return nil, err
		}
		known := map[float64]int32{}
		for i, v := range x {
			at, ok := known[v]
			if !ok {
				at = s.numbered(data.LevelText(v + 0)) // -0 is 0
				known[v] = at
			}
			out[i] = at
		}
		return out, nil
	}
	c, err := b.Codes(s.column)
	if err != nil {
		return nil, err
	}
	if !sameLevels(s.of, c.Levels) {
		s.of, s.own = c.Levels, slices.Repeat([]int32{-1}, len(c.Levels))
	}
	for i, code := range c.Index { // scan has checked the codes
		if s.own[code] < 0 {
			s.own[code] = s.numbered(c.Levels[code])
		}
		out[i] = s.own[code]
	}
	return out, nil
}

// Sums are the combinations of levels.
func (s *cellScan) Sums() (decompose.Sums, error) { return sumsOf(s.name, s.parts()) }

// Restore takes the combinations of all rows.
func (s *cellScan) Restore(sums decompose.Sums) error {
	return restore(s.name, s.parts(), sums)
}

// parts are what rows show of factors and of numbers.
func (s *cellScan) parts() (parts []part) {
	if len(s.seen) > 0 {
		parts = append(parts, s)
	}
	if s.ranges != nil {
		parts = append(parts, s.ranges)
	}
	return parts
}

func (s *cellScan) Build() ([]decompose.Block, error) {
	b, err := s.build()
	if err != nil {
		return nil, fmt.Errorf("term %s: %w", s.name, err)
	}
	return []decompose.Block{b}, nil
}

func (s *cellScan) build() (decompose.Block, error) {
	if err := s.check(); err != nil {
		return decompose.Block{}, err
	}
	t, err := s.term()
	if err != nil {
		return decompose.Block{}, err
	}
	b := decompose.Block{Term: t, Coordinates: s.contrasts(t)}
	if s.selected {
		b.Penalty = ridge(t.Dim())
	}
	if o := s.random; o != nil && !o.Unpenalized {
		b.Penalty = ridge(t.Dim(), o.SP...)
		if o.By != "" { // penalties are scaled before by
			plain := *t
			plain.numbers = plain.numbers[:len(plain.numbers)-1]
			b.Coordinates = decompose.Raw(&plain)
		}
		if o.Link != "" {
			b.Penalty.Link = []string{o.Link + ".1"}
		}
	}
	return b, nil
}

func (s *cellScan) term() (*CellsTerm, error) {
	kind := decompose.Factor
	var numbers []string
	for _, p := range s.variables {
		if !p.Factor {
			numbers, kind = append(numbers, p.Column), decompose.Linear
		}
	}
	if s.random != nil {
		kind = decompose.Random
	}
	factors, level, err := s.factors()
	if err != nil {
		return nil, err
	}
	cells := [][]int32{{}}
	if len(factors) > 0 {
		cells = s.sorted(factors, level)
	}
	t, err := newCells(s.name, kind, factors, numbers, cells)
	if err == nil && s.ranges != nil {
		t.about = s.ranges.points()
	}
	return t, err
}

// factors gives the factors, and of each the level that has a number of appearance.
func (s *cellScan) factors() (factors []cellFactor, level [][]int32, err error) {
	for _, p := range s.variables {
		if !p.Factor {
			continue
		}
		if s.rows == 0 {
			return nil, nil, fmt.Errorf("no rows were scanned for the levels of column %q", p.Column)
		}
		seen := &s.seen[len(factors)]
		l, err := seen.levels()
		if err != nil {
			return nil, nil, err
		}
		if len(l.names) == 1 && s.random == nil {
			return nil, nil, fmt.Errorf("column %q has one level only, %q: leave it out", p.Column, l.names[0])
		}
		to := make([]int32, len(l.names))
		for name, at := range seen.number {
			to[at] = l.index[name]
		}
		factors, level = append(factors, cellFactor{levels: l}), append(level, to)
	}
	return factors, level, nil
}

// sorted are the combinations by their levels, the first factor changing fastest, as in
// R.
func (s *cellScan) sorted(factors []cellFactor, level [][]int32) (cells [][]int32) {
	for _, seen := range s.cells {
		cell := make([]int32, len(seen))
		for i, at := range seen {
			cell[i] = level[i][at]
		}
		cells = append(cells, cell)
	}
	slices.SortFunc(cells, func(a, b []int32) int {
		for i := len(a) - 1; i >= 0; i-- {
			if a[i] != b[i] {
				return int(a[i]) - int(b[i])
			}
		}
		return 0
	})
	return cells
}

// contrasts leave the coefficients of combinations with a reference level 0: such a
// combination has a column all the same, in which a hierarchical decomposition says what
// its interaction is.
func (s *cellScan) contrasts(t *CellsTerm) decompose.Coordinates {
	var coded []int // the factors that have contrasts
	at := 0
	for _, p := range s.variables {
		if !p.Factor {
			continue
		}
		if p.Contrast {
			coded = append(coded, at)
		}
		at++
	}
	if len(coded) == 0 {
		return decompose.Raw()
	}
	var free []int
	for j, cell := range t.cells {
		if !slices.ContainsFunc(coded, func(i int) bool { return cell[i] == 0 }) {
			free = append(free, j)
		}
	}
	if len(free) == 0 {
		return decompose.Raw()
	}
	m := mat.NewDense(len(t.cells), len(free), nil)
	for l, j := range free {
		m.Set(j, l, 1)
	}
	return decompose.Mapped(m)
}
