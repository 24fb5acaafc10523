package basis

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/wire"
)

// CellsTerm is a product of factors and numbers: one column for each combination
// of levels that occurred in the scan (one in all without factors), which holds
// the product of the numbers (1 without numbers) on the rows of that combination. Numbers are
// as they are, or about a point (Options.Centred).
// It serves interactions and random effects.
type CellsTerm struct {
	name    string
	kind    decompose.Kind
	factors []cellFactor
	numbers []string
	about   []float64        // what is subtracted from each number; nil: nothing
	cells   [][]int32        // a level of each factor, by column
	column  map[string]int32 // a cell's key -> its column
	only    []int32          // of a single factor: level -> column; -1: none
}

// cellFactor is a factor of a CellsTerm.
type cellFactor struct {
	levels *levels
	// contrast: rows of the first level belong to no column (treatment contrasts). Files of
	// earlier versions have it; now a block's coordinates say so.
	contrast bool
}

// newCells checks and indexes a term.
func newCells(name string, kind decompose.Kind, factors []cellFactor, numbers []string, cells [][]int32) (*CellsTerm, error) {
	if !utf8.ValidString(name) || name == "" {
		return nil, fmt.Errorf("the label %q is empty or not UTF-8", name)
	}
	if len(factors)+len(numbers) == 0 {
		return nil, errors.New("it has no columns")
	}
	for _, n := range numbers {
		if err := checkColumn(n); err != nil {
			return nil, err
		}
	}
	if len(cells) > maxLevels {
		return nil, fmt.Errorf("it has %d combinations of levels, at most %d are possible", len(cells), maxLevels)
	}
	if len(cells) == 0 {
		return nil, errors.New("no combination of levels has a column of its own")
	}
	t := &CellsTerm{name: name, kind: kind, factors: factors, numbers: numbers, cells: cells, column: make(map[string]int32, len(cells))}
	for j, cell := range cells {
		if len(cell) != len(factors) {
			return nil, fmt.Errorf("combination %d has %d levels for %d factors", j+1, len(cell), len(factors))
		}
		for i, f := range factors {
			first := int32(0)
			if f.contrast {
				first = 1
			}
			if cell[i] < first || int(cell[i]) >= len(f.levels.names) {
				return nil, fmt.Errorf("combination %d has level %d of column %q, which has %d", j+1, cell[i], f.levels.column, len(f.levels.names))
			}
		}
		key := cellKey(nil, cell)
		if _, twice := t.column[string(key)]; twice {
			return nil, fmt.Errorf("combination %d is there twice", j+1)
		}
		t.column[string(key)] = int32(j)
	}
	if len(factors) == 1 {
		t.only = slices.Repeat([]int32{-1}, len(factors[0].levels.names))
		for j, cell := range cells {
			t.only[cell[0]] = int32(j)
		}
	}
	return t, nil
}

// cellKey are the bytes of a cell, in dst's memory.
func cellKey(dst []byte, cell []int32) []byte {
	dst = dst[:0]
	for _, c := range cell {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(c))
	}
	return dst
}

// Name is the columns joined by colons, or s(g,x) for a random effect.
func (t *CellsTerm) Name() string { return t.name }

// Kind is Factor for products of factors, Linear with numbers, or Random.
func (t *CellsTerm) Kind() decompose.Kind { return t.kind }

// Columns are the factors', then the numbers.
func (t *CellsTerm) Columns() []string {
	var out []string
	for _, f := range t.factors {
		out = append(out, f.levels.column)
	}
	for _, n := range t.numbers {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// Dim is the number of combinations d.
func (t *CellsTerm) Dim() int { return len(t.cells) }

// Levels names the combinations in column order: JFK:LAX; none without factors.
func (t *CellsTerm) Levels() []string {
	if len(t.factors) == 0 {
		return nil
	}
	out := make([]string, len(t.cells))
	for j, cell := range t.cells {
		out[j] = t.cellName(cell)
	}
	return out
}

// Cells are how many of the possible combinations of the levels of two or more factors
// occurred; 0, 0 with numbers, and where combinations are left out for contrasts.
func (t *CellsTerm) Cells() (observed, possible int) {
	if len(t.numbers) > 0 || len(t.factors) < 2 {
		return 0, 0
	}
	possible = 1
	for _, f := range t.factors {
		if f.contrast {
			return 0, 0
		}
		if possible > math.MaxInt/len(f.levels.names) {
			possible = math.MaxInt
			break
		}
		possible *= len(f.levels.names)
	}
	return len(t.cells), possible
}

func (t *CellsTerm) cellName(cell []int32) string {
	parts := make([]string, len(cell))
	for i, c := range cell {
		parts[i] = t.factors[i].levels.names[c]
	}
	return strings.Join(parts, ":")
}

// Eval writes each row's product in the column of its combination, 0 elsewhere
// (n x d). A level the term was not made with is an error. A combination of known
// levels that it was not made with has no column: its coefficient is 0, the guess
// of least norm, as in R.
func (t *CellsTerm) Eval(dst *mat.Dense, b *data.Batch) error {
	if err := checkShape(t, dst, b); err != nil {
		return err
	}
	var x design.Codes
	if err := t.rows(&x, b); err != nil {
		return err
	}
	for i, code := range x.Code {
		row := dst.RawRowView(i)
		clear(row)
		switch {
		case code < 0:
		case x.Value == nil:
			row[code] = 1
		default:
			row[code] = x.Value[i]
		}
	}
	return nil
}

// EvalSparse gives each row's combination as a code, with the product as value.
func (t *CellsTerm) EvalSparse(b *data.Batch) (design.Columns, error) {
	return t.EvalSparseInto(nil, b)
}

// EvalSparseInto is EvalSparse in the memory of old, if it is large enough.
func (t *CellsTerm) EvalSparseInto(old design.Columns, b *data.Batch) (design.Columns, error) {
	x := codesOf(old)
	if err := t.rows(x, b); err != nil {
		return nil, err
	}
	return x, nil
}

// combine finds the columns of the rows' levels of each factor.
func (t *CellsTerm) combine(codes []int32, each [][]int32) {
	cell, key := make([]int32, len(t.factors)), []byte(nil)
	for i := range codes {
		reference := false
		for l, f := range t.factors {
			cell[l] = each[l][i]
			reference = reference || f.contrast && cell[l] == 0
		}
		codes[i] = -1
		if reference {
			continue
		}
		key = cellKey(key, cell)
		if at, ok := t.column[string(key)]; ok {
			codes[i] = at
		}
	}
}

// rows sets x to the column of each row (-1: none) and its product (nil: ones), in x's memory.
func (t *CellsTerm) rows(x *design.Codes, b *data.Batch) error {
	each := make([][]int32, len(t.factors))
	for i, f := range t.factors {
		var old []int32
		if t.only != nil {
			old = x.Code
		}
		var err error
		if each[i], err = f.levels.codes(old, t.name, b); err != nil {
			return err
		}
	}
	if t.only != nil {
		for i, level := range each[0] {
			each[0][i] = t.only[level]
		}
		x.Code = each[0]
	} else {
		x.Code = slices.Grow(x.Code[:0], b.Rows())[:b.Rows()]
		t.combine(x.Code, each)
	}
	x.D = t.Dim()
	return t.products(x, b)
}

// products sets x's values to the products of the numbers of each row; nil without any.
func (t *CellsTerm) products(x *design.Codes, b *data.Batch) error {
	if len(t.numbers) == 0 {
		x.Value = nil
		return nil
	}
	values := slices.Grow(x.Value[:0], b.Rows())[:b.Rows()]
	for i := range values {
		values[i] = 1
	}
	for l, name := range t.numbers {
		about := 0.0
		if t.about != nil {
			about = t.about[l]
		}
		column, err := b.Numeric(name)
		if err != nil {
			return fmt.Errorf("term %s: %w", t.name, err)
		}
		for i, v := range column {
			if !finite(v) {
				return notFinite(t.name, name, v, b.Row(i))
			}
			values[i] *= v - about
		}
	}
	for i, v := range values {
		if !finite(v) {
			return fmt.Errorf("term %s: data row %d: the product of %s overflows: rescale the columns", t.name, b.Row(i)+1, quoted(t.numbers))
		}
	}
	x.Value = values
	return nil
}

type cellsJSON struct {
	Name    string           `json:"name"`
	Factors []cellFactorJSON `json:"factors,omitempty"`
	Numbers []string         `json:"numbers,omitempty"`
	About   []float64        `json:"about,omitempty"` // subtracted from the numbers
	Cells   [][]int32        `json:"cells"`
}

type cellFactorJSON struct {
	Column   string   `json:"column"`
	Levels   []string `json:"levels"`
	Contrast bool     `json:"contrast,omitempty"`
}

// MarshalJSON writes the term's spec for Decode.
func (t *CellsTerm) MarshalJSON() ([]byte, error) {
	j := cellsJSON{Name: t.name, Numbers: t.numbers, About: t.about, Cells: t.cells}
	for _, f := range t.factors {
		j.Factors = append(j.Factors, cellFactorJSON{f.levels.column, f.levels.names, f.contrast})
	}
	return json.Marshal(j)
}

// isCells tells whether a spec is of a CellsTerm.
func isCells(spec []byte) bool {
	var j struct{ Cells json.RawMessage }
	return json.Unmarshal(spec, &j) == nil && j.Cells != nil
}

func decodeCells(kind decompose.Kind, spec []byte) (decompose.Term, error) {
	var j cellsJSON
	if err := wire.JSON(spec, &j); err != nil {
		return nil, err
	}
	var factors []cellFactor
	for _, f := range j.Factors {
		l, err := newLevels(f.Column, f.Levels)
		if err != nil {
			return nil, err
		}
		factors = append(factors, cellFactor{l, f.Contrast})
	}
	if len(j.Numbers) > maxFactors || len(factors) > maxFactors {
		return nil, fmt.Errorf("a product of more than %d columns", maxFactors)
	}
	t, err := newCells(j.Name, kind, factors, j.Numbers, j.Cells)
	if err != nil {
		return nil, err
	}
	if j.About != nil && (len(j.About) != len(j.Numbers) || slices.ContainsFunc(j.About, func(v float64) bool { return !finite(v) })) {
		return nil, fmt.Errorf("%d numbers are about a point of %v", len(j.Numbers), j.About)
	}
	t.about = j.About
	return t, nil
}
