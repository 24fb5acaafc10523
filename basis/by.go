package basis

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// byVariable is what a smooth is multiplied with in each row: nothing, a numeric column,
// or the indicator of one level of a factor.
type byVariable struct {
	column string
	levels *levels // nil: numeric
	level  int32
}

// suffix is what by adds to mgcv's label of the smooth.
func (y *byVariable) suffix() string {
	switch {
	case y.levels != nil:
		return ":" + y.column + y.levels.names[y.level]
	case y.column != "":
		return ":" + y.column
	}
	return ""
}

// names are the column, and the level if it is a factor.
func (y *byVariable) names() (column, level string) {
	if y.levels != nil {
		level = y.levels.names[y.level]
	}
	return y.column, level
}

// withBy adds a by column, if there is one, to the columns of a smooth.
func withBy(columns []string, by string) []string {
	out := slices.Clone(columns)
	if by != "" && !slices.Contains(out, by) {
		out = append(out, by)
	}
	return out
}

// factors are the multipliers of b's rows; nil without by.
func (y *byVariable) factors(term string, b *data.Batch) ([]float64, error) {
	if y.column == "" {
		return nil, nil
	}
	if y.levels != nil {
		codes, err := y.levels.codes(nil, term, b)
		if err != nil {
			return nil, err
		}
		out := make([]float64, len(codes))
		for i, c := range codes {
			if c == y.level {
				out[i] = 1
			}
		}
		return out, nil
	}
	z, err := b.Numeric(y.column)
	if err != nil {
		return nil, fmt.Errorf("term %s: %w", term, err)
	}
	for i, v := range z {
		if !finite(v) {
			return nil, notFinite(term, y.column, v, b.Row(i))
		}
	}
	return z, nil
}

// rows are those of b that are not multiplied with 0 (nil: all), and the multipliers of all (nil: 1 in these rows).
func (y *byVariable) rows(term string, b *data.Batch) (rows []int32, factors []float64, err error) {
	if y.levels != nil {
		rows, err = y.levels.rowsOf(y.level, term, b)
		return rows, nil, err
	}
	if factors, err = y.factors(term, b); factors == nil {
		return nil, nil, err
	}
	rows = make([]int32, 0, len(factors))
	for i, f := range factors {
		if f != 0 {
			rows = append(rows, int32(i))
		}
	}
	return rows, factors, nil
}

func (y *byVariable) json() *byJSON {
	switch {
	case y.levels != nil:
		return &byJSON{Column: y.column, Level: &y.levels.names[y.level], Levels: y.levels.names}
	case y.column != "":
		return &byJSON{Column: y.column}
	}
	return nil
}

func decodeBy(j *byJSON) (byVariable, error) {
	if j == nil {
		return byVariable{}, nil
	}
	if err := checkColumn(j.Column); err != nil {
		return byVariable{}, err
	}
	if j.Level == nil {
		if len(j.Levels) > 0 {
			return byVariable{}, fmt.Errorf("by has levels, but none is this term's")
		}
		return byVariable{column: j.Column}, nil
	}
	l, err := newLevels(j.Column, j.Levels)
	if err != nil {
		return byVariable{}, err
	}
	level, ok := l.index[*j.Level]
	if !ok {
		return byVariable{}, fmt.Errorf("level %q is not among the levels of column %q", *j.Level, j.Column)
	}
	return byVariable{j.Column, l, level}, nil
}

// byScan looks at a by column: its levels, or whether its number varies.
type byScan struct {
	column   string
	asFactor bool // categories even if batches hold numbers
	levels   levelScan
	factor   bool
	min, max float64
	rows     int64
}

// byScan begins to look at the By column.
func (o *SmoothOptions) byScan() byScan {
	return byScan{column: o.By, asFactor: o.ByFactor || o.ByOrdered, levels: levelScan{column: o.By, limit: maxByLevels, advice: "each would have a smooth of its own"}}
}

// parts are those given and, if there is one, the by column.
func (s *byScan) parts(others ...part) []part {
	if s.column == "" {
		return others
	}
	return append(others, s)
}

func (s *byScan) scan(term string, b *data.Batch) error {
	if s.column == "" {
		return nil
	}
	if s.asFactor || b.Categorical(s.column) {
		s.factor = true
		return s.levels.scan(term, b)
	}
	z, err := (&byVariable{column: s.column}).factors(term, b)
	if err != nil {
		return err
	}
	if s.rows == 0 {
		s.min, s.max = math.Inf(1), math.Inf(-1)
	}
	for _, v := range z {
		s.min, s.max = min(s.min, v), max(s.max, v)
	}
	s.min, s.max = s.min+0, s.max+0 // -0 is 0
	s.rows += int64(len(z))
	return nil
}

// blocks makes the blocks of a smooth: term makes the term for a by variable, common
// holds what all blocks share. Without by there is one, constrained; with a numeric by
// there is one, centred only if by is constant; with a factor there is one for each
// level, centred over all rows, but none for the first level if the levels are ordered.
func (s *byScan) blocks(common decompose.Block, ordered bool, term func(byVariable) decompose.Term) ([]decompose.Block, error) {
	switch {
	case s.column == "":
		common.Term = term(byVariable{})
		return []decompose.Block{common}, nil
	case !s.factor && s.rows > 0 && s.min == 0 && s.max == 0:
		return nil, fmt.Errorf("column %q is 0 in every row, so that by leaves nothing of the smooth: leave the term out", s.column)
	case !s.factor:
		common.Term, common.Base = term(byVariable{column: s.column}), []decompose.Term{term(byVariable{})}
		if s.min != s.max && common.Constraint.Equal(decompose.SumToZero()) {
			common.Constraint = decompose.Free() // but a point stays one
		}
		return []decompose.Block{common}, nil
	}
	l, err := s.levels.levels()
	if err != nil {
		return nil, err
	}
	if len(l.names) == 1 && !ordered {
		return nil, fmt.Errorf("column %q has one level only, %q, so that by has nothing to tell apart: leave by out", s.column, l.names[0])
	}
	siblings := make([]decompose.Term, len(l.names))
	for i := range siblings {
		siblings[i] = term(byVariable{s.column, l, int32(i)})
	}
	first := 0
	if ordered {
		if first = 1; len(siblings) == 1 {
			return nil, fmt.Errorf("column %q has one level only, %q, and as an ordered by the first level has no smooth: leave the term out", s.column, l.names[0])
		}
	}
	var blocks []decompose.Block
	for _, t := range siblings[first:] {
		b := common
		b.Term, b.Base = t, siblings
		blocks = append(blocks, b)
	}
	return blocks, nil
}
