package basis

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/wire"
)

// NoLevel is the level that a OneHotTerm has on rows that have 0 in all of its columns.
const NoLevel = "(none)"

// OneHot is the spec of one factor that data hold as a column of 0 and 1 for each level,
// two columns or more: onehot(a,b,c). A row has at most one 1; rows without any are a
// level of their own, the first, if they occur. Of o, SumToZero, AllLevels and Select count, and
// Label, the term's name; empty: onehot() of the columns, of many the first and the last.
func OneHot(columns []string, o *FactorOptions) decompose.Spec {
	s := &oneHotSpec{columns: slices.Clone(columns)}
	if o != nil {
		s.options = *o
	}
	if s.options.Label == "" {
		s.options.Label = namedColumns("onehot", columns)
	}
	return s
}

type oneHotSpec struct {
	columns []string
	options FactorOptions
}

func (s *oneHotSpec) Columns() []string { return s.columns }

func (s *oneHotSpec) Scanner() decompose.Scanner { return &oneHotScan{oneHotSpec: s} }

// oneHotScan looks which levels occur.
type oneHotScan struct {
	*oneHotSpec
	indicators
}

func (s *oneHotScan) NeedsScan() bool { return true }

func (s *oneHotScan) Scan(b *data.Batch) error {
	if s.seen == nil {
		s.seen = make([]bool, len(s.columns)+1)
	}
	codes, err := oneHotCodes(s.options.Label, s.columns, b)
	if err != nil {
		return err
	}
	for _, c := range codes {
		if c < 0 {
			c = int32(len(s.columns))
		}
		s.seen[c] = true
	}
	return nil
}

// Sums are the columns that are 1 on a row.
func (s *oneHotScan) Sums() (decompose.Sums, error) {
	return sumsOf(s.options.Label, []part{&s.indicators})
}

// Restore takes those of all rows.
func (s *oneHotScan) Restore(sums decompose.Sums) error {
	return restore(s.options.Label, []part{&s.indicators}, sums)
}

// Build leaves out columns that are 0 on every row.
func (s *oneHotScan) Build() ([]decompose.Block, error) {
	if s.seen == nil {
		return nil, fmt.Errorf("term %s: no rows were scanned", s.options.Label)
	}
	if len(s.seen) != len(s.columns)+1 {
		return nil, fmt.Errorf("term %s: what was seen of the rows is of %d columns, not %d", s.options.Label, len(s.seen)-1, len(s.columns))
	}
	var columns []string
	for j, c := range s.columns {
		if s.seen[j] {
			columns = append(columns, c)
		}
	}
	t, err := newOneHot(s.options.Label, columns, s.seen[len(s.columns)])
	if err != nil {
		return nil, fmt.Errorf("term %s: %w", s.options.Label, err)
	}
	b := decompose.Block{Term: t, Constraint: decompose.Treatment()}
	switch {
	case s.options.Select:
		b.Constraint, b.Penalty = decompose.Free(), ridge(t.Dim())
	case s.options.AllLevels:
		b.Constraint = decompose.Free()
	case s.options.SumToZero:
		b.Constraint = decompose.Orthogonal(slices.Repeat([]float64{1}, t.Dim()))
	}
	return []decompose.Block{b}, nil
}

// OneHotTerm is the indicator basis of a factor that data hold as columns of 0 and 1.
type OneHotTerm struct {
	name    string
	columns []string
	none    bool // rows without a 1 are the first level
}

func newOneHot(name string, columns []string, none bool) (*OneHotTerm, error) {
	t := &OneHotTerm{name, columns, none}
	if name == "" {
		return nil, errors.New("it has no name")
	}
	for i, c := range columns {
		if err := checkColumn(c); err != nil {
			return nil, err
		}
		if slices.Contains(columns[:i], c) {
			return nil, fmt.Errorf("column %q is there twice", c)
		}
	}
	if t.Dim() < 2 {
		return nil, fmt.Errorf("one level only, %q: leave the term out", t.Levels())
	}
	return t, nil
}

// Name is onehot(a,b,c), or onehot(a..z) of many columns.
func (t *OneHotTerm) Name() string { return t.name }

// Kind is decompose.Factor.
func (t *OneHotTerm) Kind() decompose.Kind { return decompose.Factor }

// Columns are those of the levels.
func (t *OneHotTerm) Columns() []string { return slices.Clone(t.columns) }

// Dim is the number of levels d, NoLevel among them if it occurred.
func (t *OneHotTerm) Dim() int { return len(t.columns) + t.first() }

// first is the position of the first column's level.
func (t *OneHotTerm) first() int {
	if t.none {
		return 1
	}
	return 0
}

// Levels names the levels in column order, each by its column.
func (t *OneHotTerm) Levels() []string {
	levels := slices.Clone(t.columns)
	if t.none {
		levels = slices.Insert(levels, 0, NoLevel)
	}
	return levels
}

// SetLevels writes the columns of t into b so that row i has level[i], a position in
// Levels.
func (t *OneHotTerm) SetLevels(b *data.Batch, level []int) error {
	for j, c := range t.columns {
		x := make([]float64, len(level))
		for i, l := range level {
			if l == j+t.first() {
				x[i] = 1
			}
		}
		if err := b.SetNumeric(c, x); err != nil {
			return err
		}
	}
	return nil
}

// Eval writes 1 in the column of each row's level, 0 elsewhere (n x d).
func (t *OneHotTerm) Eval(dst *mat.Dense, b *data.Batch) error {
	if err := checkShape(t, dst, b); err != nil {
		return err
	}
	codes, err := t.codes(b)
	if err != nil {
		return err
	}
	indicate(dst, codes)
	return nil
}

// EvalSparse gives each row's level as a code.
func (t *OneHotTerm) EvalSparse(b *data.Batch) (design.Columns, error) {
	codes, err := t.codes(b)
	if err != nil {
		return nil, err
	}
	return &design.Codes{D: t.Dim(), Code: codes}, nil
}

func (t *OneHotTerm) codes(b *data.Batch) ([]int32, error) {
	codes, err := oneHotCodes(t.name, t.columns, b)
	if err != nil {
		return nil, err
	}
	for i, c := range codes {
		if c < 0 && !t.none {
			return nil, fmt.Errorf("term %s: data row %d: none of its columns is 1, which did not occur in the data the term was made from: leave such rows out, or decompose again on data that have them", t.name, b.Row(i)+1)
		}
		codes[i] = c + int32(t.first())
	}
	return codes, nil
}

// oneHotCodes is the column that is 1 on each row, -1 for none.
func oneHotCodes(term string, columns []string, b *data.Batch) ([]int32, error) {
	out := slices.Repeat([]int32{-1}, b.Rows())
	for j, c := range columns {
		x, err := b.Numeric(c)
		if err != nil {
			return nil, fmt.Errorf("term %s: %w", term, err)
		}
		for i, v := range x {
			switch {
			case v == 0:
			case v != 1:
				return nil, fmt.Errorf("term %s: data row %d: column %q is %v; the columns of a factor hold 0 and 1", term, b.Row(i)+1, c, v)
			case out[i] >= 0:
				return nil, fmt.Errorf("term %s: data row %d: columns %q and %q are both 1: they are not levels of one factor", term, b.Row(i)+1, columns[out[i]], c)
			default:
				out[i] = int32(j)
			}
		}
	}
	return out, nil
}

type oneHotJSON struct {
	OneHot []string `json:"onehot"`
	Name   string   `json:"name"`
	None   bool     `json:"none,omitempty"`
}

// MarshalJSON writes the term's spec for Decode.
func (t *OneHotTerm) MarshalJSON() ([]byte, error) {
	return json.Marshal(oneHotJSON{t.columns, t.name, t.none})
}

// isOneHot tells whether a spec is of a OneHotTerm.
func isOneHot(spec []byte) bool {
	var j struct{ OneHot json.RawMessage }
	return json.Unmarshal(spec, &j) == nil && j.OneHot != nil
}

func decodeOneHot(spec []byte) (decompose.Term, error) {
	var j oneHotJSON
	if err := wire.JSON(spec, &j); err != nil {
		return nil, err
	}
	return newOneHot(j.Name, j.OneHot, j.None)
}
