package basis

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/penalty"
)

// Variable is a column of a product: a factor or a number.
type Variable struct {
	Column string
	Factor bool
	// Contrast leaves out the rows of a factor's first level (treatment contrasts),
	// as R does where the product without this factor is a term of the model too.
	Contrast bool
}

const (
	maxFactors = 10
	maxRandom  = 5_000 // columns with a dense penalty
)

// Interaction is the spec of a product of columns, such as origin:dest, dow:x or
// x:z: a coefficient for each combination of levels that occurs (times the
// numbers), unpenalised and not centred; what other terms span too is left to the
// projection, which names it. Label is the term's name; empty: the columns joined
// by colons.
func Interaction(label string, variables ...Variable) decompose.Spec {
	return newCellSpec(label, ":", variables)
}

// RandomEffect is the spec of s(g, bs="re"), s(g, x, bs="re") or s(g, h, bs="re"):
// a coefficient for each combination of levels that occurs, times the numbers,
// under a ridge penalty and without a constraint (Wood 2017, 5.8). Of o, SP, Link,
// Unpenalized and a numeric By (one more number) count.
func RandomEffect(o *SmoothOptions, variables ...Variable) decompose.Spec {
	var columns []string
	for _, p := range variables {
		columns = append(columns, p.Column)
	}
	s := newCellSpec("s("+strings.Join(columns, ",")+")", ",", variables)
	s.random = &SmoothOptions{}
	if o != nil {
		*s.random = *o
	}
	if s.random.By != "" {
		s.name += ":" + s.random.By
		s.variables = append(slices.Clip(s.variables), Variable{Column: s.random.By})
	}
	return s
}

func newCellSpec(label, join string, variables []Variable) *cellSpec {
	s := &cellSpec{name: label, variables: slices.Clone(variables)}
	var columns []string
	for _, p := range variables {
		columns = append(columns, p.Column)
	}
	if label == "" {
		s.name = strings.Join(columns, join)
	}
	return s
}

type cellSpec struct {
	name      string
	variables []Variable
	random    *SmoothOptions // nil: an interaction
}

func (s *cellSpec) Scanner() decompose.Scanner {
	scan := &cellScan{cellSpec: s, cells: map[string][]int32{}}
	for _, p := range s.variables {
		if p.Factor {
			scan.seen = append(scan.seen, cellLevels{
				levelScan: levelScan{column: p.Column, limit: maxLevels, advice: "is it a number rather than a category?"},
				number:    map[string]int32{},
			})
		}
	}
	return scan
}

// cellScan is what one set of rows shows of the columns.
type cellScan struct {
	*cellSpec
	rows  int64
	seen  []cellLevels       // of each factor
	cells map[string][]int32 // combinations, by the levels' order of appearance
}

// cellLevels numbers the levels of a factor in order of appearance.
type cellLevels struct {
	levelScan
	number map[string]int32
	of     []string // the levels of the batch before, and their numbers
	own    []int32
}

func (s *cellSpec) label() string { return s.name }

func (s *cellSpec) check() error {
	if len(s.variables) == 0 {
		return errors.New("it has no columns")
	}
	if len(s.variables) > maxFactors {
		return fmt.Errorf("a product of %d columns: at most %d are possible", len(s.variables), maxFactors)
	}
	for i, p := range s.variables {
		if err := checkColumn(p.Column); err != nil {
			return err
		}
		for _, q := range s.variables[:i] {
			if p.Column == q.Column && (p.Factor || q.Factor) {
				return fmt.Errorf("column %q is there twice", p.Column)
			}
		}
	}
	if o := s.random; o != nil {
		if err := o.checkFor(0, 1); err != nil {
			return err
		}
		if o.ByFactor || o.ByOrdered {
			return fmt.Errorf("by = %s is a factor: write s(..., %s, bs = \"re\") for an effect of each combination of levels", o.By, o.By)
		}
	}
	return nil
}

func (s *cellSpec) Columns() []string {
	var out, numbers []string
	for _, p := range s.variables {
		if p.Factor {
			out = append(out, p.Column)
		} else {
			numbers = append(numbers, p.Column)
		}
	}
	for _, n := range numbers {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func (s *cellScan) NeedsScan() bool {
	return slices.ContainsFunc(s.variables, func(p Variable) bool { return p.Factor })
}

func (s *cellScan) Scan(b *data.Batch) error {
	if err := s.check(); err != nil {
		return fmt.Errorf("term %s: %w", s.name, err)
	}
	s.rows += int64(b.Rows())
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
			continue // of one factor cells are met in the order of their numbers
		}
		key = cellKey(key, cell)
		if _, ok := s.cells[string(key)]; !ok {
			if limit := s.limit(); len(s.cells) == limit {
				return fmt.Errorf("term %s: data row %d: more than %d combinations of levels: is one of the columns a number rather than a category?", s.name, b.Row(i)+1, limit)
			}
			s.cells[string(key)] = slices.Clone(cell)
		}
	}
	return nil
}

// limit is the most columns: a ridge is a dense matrix.
func (s *cellSpec) limit() int {
	if s.random != nil {
		return maxRandom
	}
	return maxLevels
}

// codes numbers the levels of b's rows in order of appearance.
func (s *cellLevels) codes(b *data.Batch) ([]int32, error) {
	out := make([]int32, b.Rows())
	numbered := func(name string) int32 {
		at, ok := s.number[name]
		if !ok {
			at = int32(len(s.number))
			s.number[name] = at
		}
		return at
	}
	if !b.Categorical(s.column) {
		x, err := b.Numeric(s.column)
		if err != nil {
			return nil, err
		}
		known := map[float64]int32{}
		for i, v := range x {
			at, ok := known[v]
			if !ok {
				at = numbered(data.LevelText(v + 0)) // -0 is 0
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
			s.own[code] = numbered(c.Levels[code])
		}
		out[i] = s.own[code]
	}
	return out, nil
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
	b := decompose.Block{Term: t}
	if o := s.random; o != nil && !o.Unpenalized {
		b.Penalty = penalty.Penalty{S: []*mat.SymDense{penalty.Ridge(t.Dim())}, SP: o.SP}
		if o.By != "" { // penalties are scaled before by
			plain := *t
			plain.numbers = plain.numbers[:len(plain.numbers)-1]
			b.Norm = []decompose.Term{&plain}
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
	var factors []cellFactor
	var place [][]int32 // of each factor: number of appearance -> level
	for _, p := range s.variables {
		if !p.Factor {
			numbers, kind = append(numbers, p.Column), decompose.Linear
			continue
		}
		if s.rows == 0 {
			return nil, fmt.Errorf("no rows were scanned for the levels of column %q", p.Column)
		}
		seen := &s.seen[len(factors)]
		l, err := newLevels(p.Column, seen.names())
		if err != nil {
			return nil, err
		}
		if len(l.names) == 1 && s.random == nil {
			return nil, fmt.Errorf("column %q has one level only, %q: leave it out", p.Column, l.names[0])
		}
		to := make([]int32, len(l.names))
		for name, at := range seen.number {
			to[at] = l.index[name]
		}
		factors, place = append(factors, cellFactor{l, p.Contrast}), append(place, to)
	}
	if s.random != nil {
		kind = decompose.Random
	}
	if len(factors) == 0 {
		return newCells(s.name, kind, nil, numbers, [][]int32{{}})
	}
	var cells [][]int32
	for _, seen := range s.cells {
		cell, reference := make([]int32, len(seen)), false
		for i, at := range seen {
			cell[i] = place[i][at]
			reference = reference || factors[i].contrast && cell[i] == 0
		}
		if !reference {
			cells = append(cells, cell)
		}
	}
	slices.SortFunc(cells, func(a, b []int32) int { // the first factor changes fastest, as in R
		for i := len(a) - 1; i >= 0; i-- {
			if a[i] != b[i] {
				return int(a[i]) - int(b[i])
			}
		}
		return 0
	})
	return newCells(s.name, kind, factors, numbers, cells)
}
