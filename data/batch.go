// Package data carries rows from files or memory to the models and terms that
// read them: named columns in a Batch, and a Source that can be read again.
package data

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Codes is a categorical column of a batch. Index[i] is the position in Levels
// of row i's level. Levels may grow from batch to batch but never reorders: a
// code keeps its meaning for the life of the Source.
//
// Declared are the orders in which files declare the categories of the column, those that do not occur
// among them: pandas' and Arrow's ordered categories, polars' Enum. nil: none is declared.
type Codes struct {
	Index    []int32
	Levels   []string
	Declared [][]string
}

// Batch is a run of consecutive rows of a Source. Once it has been yielded its
// contents never change, so it may be shared between goroutines and sliced
// without copying. A column can be held as numbers, as codes, or both.
//
// Set... adds a column or replaces the one of its name, as models and sources do. A Table, which
// people fill, has Add..., which refuses a name that is taken.
type Batch struct {
	rows    int
	first   int64
	numbers []int64 // the source's row of each row; nil: first, first+1, ...
	numeric map[string][]float64
	codes   map[string]Codes
	tensors map[string]*mat.Dense
}

// NewBatch returns a batch of the given number of rows without columns, whose
// first row is row first (0-based) of its source.
func NewBatch(rows int, first int64) *Batch {
	return &Batch{
		rows:    rows,
		first:   first,
		numeric: map[string][]float64{},
		codes:   map[string]Codes{},
		tensors: map[string]*mat.Dense{},
	}
}

// tensorBytes is how much the tensors of a batch take, at most, wherever rows may come in smaller batches.
const tensorBytes = 32 << 20

// TensorRows is how many rows of tensors with that many numbers a row are good to have in memory at a time: most,
// halved until they take 32 MiB at most, one row at least.
func TensorRows(numbers, most int) int {
	for most > 1 && most > tensorBytes/8/max(numbers, 1) {
		most /= 2
	}
	return most
}

// Rows is the number of rows n.
func (b *Batch) Rows() int { return b.rows }

// Row returns the 0-based row of the source that row i of the batch holds.
// Sources that leave rows out yield increasing rows with gaps.
func (b *Batch) Row(i int) int64 {
	if b.numbers != nil {
		return b.numbers[i]
	}
	return b.first + int64(i)
}

// SetRows records which source row each row of the batch holds (length n,
// increasing; kept, not copied). Without it rows are consecutive.
func (b *Batch) SetRows(rows []int64) error {
	if len(rows) != b.rows {
		return fmt.Errorf("data: %d row numbers for a batch of %d rows", len(rows), b.rows)
	}
	b.numbers = rows
	return nil
}

// Shift returns b with by added to the numbers of its rows; it shares b's memory.
func (b *Batch) Shift(by int64) *Batch {
	if by == 0 {
		return b
	}
	s := b.Slice(0, b.rows)
	s.first += by
	if b.numbers != nil {
		s.numbers = make([]int64, b.rows)
		for i, row := range b.numbers {
			s.numbers[i] = row + by
		}
	}
	return s
}

// SetNumeric adds or replaces the numeric column name; v (length n) is kept,
// not copied.
func (b *Batch) SetNumeric(name string, v []float64) error {
	if len(v) != b.rows {
		return fmt.Errorf("data: column %q has %d values in a batch of %d rows", name, len(v), b.rows)
	}
	b.numeric[name] = v
	return nil
}

// SetCodes adds or replaces the categorical column name; c is kept, not copied.
func (b *Batch) SetCodes(name string, c Codes) error {
	if len(c.Index) != b.rows {
		return fmt.Errorf("data: column %q has %d codes in a batch of %d rows", name, len(c.Index), b.rows)
	}
	b.codes[name] = c
	return nil
}

// SetTexts adds or replaces the categorical column name by its n cells, which are copied. levels
// are those of the batches before, nil for the first; they come back with new ones behind them, in
// the order of their first use. A source gives them to its next batch, and so codes keep their meaning.
func (b *Batch) SetTexts(name string, cells, levels []string) ([]string, error) {
	code := make(map[string]int32, len(levels))
	for i, level := range levels {
		code[level] = int32(i)
	}
	c := Codes{Index: make([]int32, len(cells)), Levels: slices.Clip(levels)}
	for i, cell := range cells {
		k, known := code[cell]
		if !known {
			k = int32(len(c.Levels))
			code[cell] = k
			c.Levels = append(c.Levels, cell)
		}
		c.Index[i] = k
	}
	return c.Levels, b.SetCodes(name, c)
}

// SetTensor adds or replaces a tensor of n rows, trailing axes flattened
// row-major; m is kept, not copied. Models add their taps this way.
func (b *Batch) SetTensor(name string, m *mat.Dense) error {
	if r, _ := m.Dims(); r != b.rows {
		return fmt.Errorf("data: tensor %q has %d rows in a batch of %d rows", name, r, b.rows)
	}
	b.tensors[name] = m
	return nil
}

// Numeric returns the column's values (length n, not to be changed). Errors: ErrText for
// a column held only as codes, *MissingColumnError.
func (b *Batch) Numeric(name string) ([]float64, error) {
	if v, ok := b.numeric[name]; ok {
		return v, nil
	}
	if _, ok := b.codes[name]; ok {
		return nil, &textColumnError{name}
	}
	return nil, b.missing(name)
}

// Codes returns the column's levels by row. A column held only as numbers is
// an error: callers that accept both ask for Numeric then; so is one that is not there
// (*MissingColumnError).
func (b *Batch) Codes(name string) (Codes, error) {
	if c, ok := b.codes[name]; ok {
		return c, nil
	}
	if _, ok := b.numeric[name]; ok {
		return Codes{}, fmt.Errorf("data: column %q holds numbers, where categories are needed", name)
	}
	return Codes{}, b.missing(name)
}

// missing is the error for a column that the batch does not hold. It names no nearest
// one: a batch holds the columns that were asked for, not all that there are.
func (b *Batch) missing(name string) error {
	return &MissingColumnError{Column: name, Where: "this batch"}
}

// Categorical reports whether the column is held as codes.
func (b *Batch) Categorical(name string) bool {
	_, ok := b.codes[name]
	return ok
}

// Tensor returns the n x width tensor, not to be changed.
func (b *Batch) Tensor(name string) (*mat.Dense, error) {
	if m, ok := b.tensors[name]; ok {
		return m, nil
	}
	return nil, fmt.Errorf("data: no tensor %q in this batch", name)
}

// Slice returns rows i to j-1 as a batch that shares b's memory.
func (b *Batch) Slice(i, j int) *Batch {
	s := NewBatch(0, 0)
	b.SliceInto(s, i, j)
	return s
}

// SliceInto is Slice into s, whose contents are replaced. So a worker that cuts one batch after the
// other allocates once. s must not be b.
func (b *Batch) SliceInto(s *Batch, i, j int) {
	s.rows, s.first, s.numbers = j-i, b.first+int64(i), nil
	clear(s.numeric)
	clear(s.codes)
	clear(s.tensors)
	if b.numbers != nil {
		s.numbers = b.numbers[i:j]
	}
	for name, v := range b.numeric {
		s.numeric[name] = v[i:j]
	}
	for name, c := range b.codes {
		s.codes[name] = Codes{Index: c.Index[i:j], Levels: c.Levels, Declared: c.Declared}
	}
	for name, m := range b.tensors {
		if r, w := m.Dims(); i > 0 || j < r {
			m = m.Slice(i, j, 0, w).(*mat.Dense)
		}
		s.tensors[name] = m
	}
}

// Pick is a batch of the given rows of b, increasing, with their numbers in the source. It shares
// b's memory if they are consecutive.
func (b *Batch) Pick(rows []int) *Batch {
	if len(rows) == 0 {
		return b.Slice(0, 0)
	}
	first, n := rows[0], len(rows)
	if rows[n-1]-first == n-1 {
		return b.Slice(first, first+n)
	}
	p := NewBatch(n, 0)
	p.numbers = make([]int64, n)
	for i, row := range rows {
		p.numbers[i] = b.Row(row)
	}
	for name, v := range b.numeric {
		p.numeric[name] = take(v, rows)
	}
	for name, c := range b.codes {
		p.codes[name] = Codes{Index: take(c.Index, rows), Levels: c.Levels, Declared: c.Declared}
	}
	for name, m := range b.tensors {
		_, w := m.Dims()
		v := mat.NewDense(n, w, nil)
		for i, row := range rows {
			copy(v.RawRowView(i), m.RawRowView(row))
		}
		p.tensors[name] = v
	}
	return p
}

func take[T any](v []T, rows []int) []T {
	out := make([]T, len(rows))
	for i, row := range rows {
		out[i] = v[row]
	}
	return out
}
