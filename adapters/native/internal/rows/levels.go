package rows

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/data"
)

// Text gives the text of each row's cell of a column: its level if the column is
// categorical, else the number as levels are written.
func Text(b *data.Batch, column string) (func(i int) string, error) {
	if b.Categorical(column) {
		c, err := b.Codes(column)
		return func(i int) string { return c.Levels[c.Index[i]] }, err
	}
	v, err := b.Numeric(column)
	return func(i int) string { return data.LevelText(v[i]) }, err
}

// Levels are the distinct texts of a column among the rows of b, sorted.
func Levels(b *data.Batch, column string) ([]string, error) {
	text, err := Text(b, column)
	if err != nil {
		return nil, err
	}
	var all []string
	seen := map[string]bool{}
	for i := range b.Rows() {
		if s := text(i); !seen[s] {
			seen[s] = true
			all = append(all, s)
		}
	}
	slices.Sort(all)
	return all, nil
}

// Codes are the places of a column's cells among levels, which are sorted. A cell that is
// none of them is an error.
func Codes(b *data.Batch, column string, levels []string) ([]int32, error) {
	text, err := Text(b, column)
	if err != nil {
		return nil, err
	}
	codes := make([]int32, b.Rows())
	for i := range codes {
		at, ok := slices.BinarySearch(levels, text(i))
		if !ok {
			return nil, fmt.Errorf("native: column %q, data row %d: level %q was not among the training rows, which have %d: %.80q; leave such rows out or merge the level with another",
				column, b.Row(i)+1, text(i), len(levels), levels)
		}
		codes[i] = int32(at)
	}
	return codes, nil
}

// AddCodes adds to f, for each column that levels has, its codes as numbers: what a saved
// network reads for a column of text.
func (f *Frame) AddCodes(levels map[string][]string) error {
	f.Columns = slices.Clone(f.Columns)
	for i, c := range f.Columns {
		known, ok := levels[c.Name]
		if !ok {
			continue
		}
		codes, err := Codes(f.Batch, c.Name, known)
		if err != nil {
			return err
		}
		x := make([]float64, len(codes))
		for r, code := range codes {
			x[r] = float64(code)
		}
		f.Columns[i].Numeric = true
		if err := f.Batch.SetNumeric(c.Name, x); err != nil {
			return err
		}
	}
	return nil
}
