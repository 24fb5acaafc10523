package basis

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/wire"
)

// FactorOptions are the choices for Factor; nil and the zero value are the
// defaults.
type FactorOptions struct {
	Label     string // the term's name; empty: the column's name
	AllLevels bool   // every level has a free coefficient; false: the first level's is 0
	// SumToZero: the coefficients sum to 0 over the levels (R's contr.sum) in place of
	// the first being 0. AllLevels goes before it.
	SumToZero bool
	// Select penalises the coefficients of all levels together, so that the whole term can
	// be taken out: no contrasts then, a random effect that is called a factor.
	Select bool
}

// Factor is the spec of a categorical term: one raw column per level that occurs
// in the scan, in the order that the data declare or in R's (by value if all levels are numbers, else by bytes),
// under treatment contrasts or, if asked for, sum contrasts. A numeric column's levels are its distinct values.
// It is an error at Build if fewer than 2 levels occur.
func Factor(column string, o *FactorOptions) decompose.Spec {
	s := &factorSpec{column: column, name: column}
	if o != nil {
		s.allLevels, s.sumToZero, s.selected = o.AllLevels, o.SumToZero, o.Select
		if o.Label != "" {
			s.name = o.Label
		}
	}
	return s
}

type factorSpec struct {
	column, name string
	allLevels    bool
	sumToZero    bool
	selected     bool
}

func (s *factorSpec) Columns() []string { return []string{s.column} }

func (s *factorSpec) Scanner() decompose.Scanner {
	return &factorScan{factorSpec: s, scanned: levelScan{
		column: s.column, limit: maxLevels,
		advice: "is it a number rather than a category? Use the column itself or a smooth of it",
	}}
}

// factorScan is what one set of rows shows of a factor.
type factorScan struct {
	*factorSpec
	scanned levelScan
}

func (s *factorScan) NeedsScan() bool          { return true }
func (s *factorScan) Scan(b *data.Batch) error { return s.scanned.scan(s.name, b) }

// Sums are the levels.
func (s *factorScan) Sums() (decompose.Sums, error) { return sumsOf(s.name, []part{&s.scanned}) }

// Restore takes the levels of all rows.
func (s *factorScan) Restore(sums decompose.Sums) error {
	return restore(s.name, []part{&s.scanned}, sums)
}

func (s *factorScan) Build() ([]decompose.Block, error) {
	if s.scanned.rows == 0 {
		return nil, fmt.Errorf("term %s: no rows were scanned for the levels of column %q", s.name, s.column)
	}
	names, err := s.scanned.names()
	if err != nil {
		return nil, fmt.Errorf("term %s: %w", s.name, err)
	}
	t, err := newFactor(s.column, s.name, names)
	if err != nil {
		return nil, fmt.Errorf("term %s: %w", s.name, err)
	}
	t.ordered = len(s.scanned.orders) > 0
	b := decompose.Block{Term: t, Constraint: decompose.Treatment()}
	switch {
	case s.selected:
		if t.Dim() > maxRandomLevels {
			return nil, fmt.Errorf("term %s: %d levels: at most %d are penalised together", s.name, t.Dim(), maxRandomLevels)
		}
		b.Constraint, b.Penalty = decompose.Free(), ridge(t.Dim())
	case s.allLevels:
		b.Constraint = decompose.Free()
	case s.sumToZero:
		b.Constraint = decompose.Orthogonal(slices.Repeat([]float64{1}, t.Dim()))
	}
	return []decompose.Block{b}, nil
}

// FactorTerm is the indicator basis of a categorical column: d levels.
type FactorTerm struct {
	name    string
	levels  *levels
	ordered bool
}

func newFactor(column, name string, names []string) (*FactorTerm, error) {
	if !utf8.ValidString(name) || name == "" {
		return nil, fmt.Errorf("the label %q is empty or not UTF-8", name)
	}
	switch len(names) {
	case 0:
		return nil, fmt.Errorf("column %q has no levels", column)
	case 1:
		return nil, fmt.Errorf("column %q has one level only, %q: leave the term out", column, names[0])
	}
	l, err := newLevels(column, names)
	if err != nil {
		return nil, err
	}
	return &FactorTerm{name: name, levels: l}, nil
}

// FactorOf is the categorical term of columns whose levels are known: a raw column for each
// level, or for each combination of the levels of several columns, those of the last column
// changing fastest. levels[i] are those of columns[i].
func FactorOf(name string, columns []string, levels [][]string) (decompose.Term, error) {
	if len(columns) == 1 {
		return newFactor(columns[0], name, levels[0])
	}
	factors, cells := make([]cellFactor, len(columns)), [][]int32{nil}
	for i, column := range columns {
		l, err := newLevels(column, levels[i])
		if err != nil {
			return nil, err
		}
		factors[i].levels = l
		var longer [][]int32
		for _, cell := range cells {
			for level := range levels[i] {
				longer = append(longer, append(slices.Clone(cell), int32(level)))
			}
		}
		cells = longer
	}
	return newCells(name, decompose.Factor, factors, nil, cells)
}

// Name is the column's name, or factor(column) if it was written so.
func (t *FactorTerm) Name() string { return t.name }

// Kind is decompose.Factor.
func (t *FactorTerm) Kind() decompose.Kind { return decompose.Factor }

// Columns is the one column.
func (t *FactorTerm) Columns() []string { return []string{t.levels.column} }

// Dim is the number of levels d.
func (t *FactorTerm) Dim() int { return len(t.levels.names) }

// Levels names the levels in column order.
func (t *FactorTerm) Levels() []string { return slices.Clone(t.levels.names) }

// Ordered tells whether the data declared the order of the levels.
func (t *FactorTerm) Ordered() bool { return t.ordered }

// Eval writes 1 in the column of each row's level, 0 elsewhere (n x d). A level
// the term was not made with is an error.
func (t *FactorTerm) Eval(dst *mat.Dense, b *data.Batch) error {
	if err := checkShape(t, dst, b); err != nil {
		return err
	}
	codes, err := t.levels.codes(nil, t.name, b)
	if err != nil {
		return err
	}
	indicate(dst, codes)
	return nil
}

// indicate writes 1 in the column of each row's code, 0 elsewhere.
func indicate(dst *mat.Dense, codes []int32) {
	for i, code := range codes {
		row := dst.RawRowView(i)
		clear(row)
		row[code] = 1
	}
}

// EvalSparse gives each row's level as a code.
func (t *FactorTerm) EvalSparse(b *data.Batch) (design.Columns, error) {
	return t.EvalSparseInto(nil, b)
}

// EvalSparseInto is EvalSparse in the memory of old, if it is large enough.
func (t *FactorTerm) EvalSparseInto(old design.Columns, b *data.Batch) (design.Columns, error) {
	x := codesOf(old)
	var err error
	if x.Code, err = t.levels.codes(x.Code, t.name, b); err != nil {
		return nil, err
	}
	x.D = t.Dim()
	return x, nil
}

// codesOf is old, to be written over, if it is codes.
func codesOf(old design.Columns) *design.Codes {
	if x, ok := old.(*design.Codes); ok {
		return x
	}
	return &design.Codes{}
}

type factorJSON struct {
	Column  string   `json:"column"`
	Name    string   `json:"name,omitempty"` // if it is not the column's
	Levels  []string `json:"levels"`
	Ordered bool     `json:"ordered,omitempty"` // in an order that the data declared
}

// MarshalJSON writes the term's spec for Decode.
func (t *FactorTerm) MarshalJSON() ([]byte, error) {
	j := factorJSON{Column: t.levels.column, Levels: t.levels.names, Ordered: t.ordered}
	if t.name != j.Column {
		j.Name = t.name
	}
	return json.Marshal(j)
}

func decodeFactor(spec []byte) (decompose.Term, error) {
	var j factorJSON
	if err := wire.JSON(spec, &j); err != nil {
		return nil, err
	}
	if j.Name == "" {
		j.Name = j.Column
	}
	if j.Column == "" {
		return nil, errors.New("it names no column")
	}
	t, err := newFactor(j.Column, j.Name, j.Levels)
	if err != nil {
		return nil, err
	}
	t.ordered = j.Ordered
	return t, nil
}

// checkShape refuses a destination that is not n x d.
func checkShape(t decompose.Term, dst *mat.Dense, b *data.Batch) error {
	if r, c := dst.Dims(); r != b.Rows() || c != t.Dim() {
		return fmt.Errorf("term %s: the destination is %d x %d, want %d x %d", t.Name(), r, c, b.Rows(), t.Dim())
	}
	return nil
}
