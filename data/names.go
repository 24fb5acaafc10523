package data

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// LevelText is the name of the level that the number v stands for in a column
// held as categories: plain digits for whole numbers below 1e15, the shortest
// text that reads back as v otherwise. 1, 1.0 and 1e0 are one level, "1"; so
// are 0 and -0.
func LevelText(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// MissingLevel is the level that a missing cell of categories is under NAKeep, however its file writes it. A
// cell with this text is missing there, too.
const MissingLevel = "(missing)"

// Truths are the ways in which files write the truth value that a level is, its number first; nil: it is none.
func Truths(level string) []string {
	for _, ways := range [][]string{{"1", "True", "TRUE", "true"}, {"0", "False", "FALSE", "false"}} {
		if slices.Contains(ways, level) {
			return ways
		}
	}
	return nil
}

// Texts are the cells of a column by row: levels, and numbers as levels are written.
func (b *Batch) Texts(name string) (func(i int) string, error) {
	if b.Categorical(name) {
		c, err := b.Codes(name)
		return func(i int) string { return c.Levels[c.Index[i]] }, err
	}
	v, err := b.Numeric(name)
	return func(i int) string { return LevelText(v[i]) }, err
}

// clip shortens text from a file for a message, copying it so that the message
// does not hold on to the text.
func clip(s string) string {
	const maxLength = 80
	if len(s) <= maxLength {
		return strings.Clone(s)
	}
	return strings.ToValidUTF8(s[:maxLength], "") + "..."
}

// unnamed is what a first column of CSV without a name is called, as pandas calls it: the
// names of rows, which df.to_csv and R's write.csv put there unless they are told not to.
const unnamed = "Unnamed: 0"

// NamesRows reports whether a column of this name holds the names of rows that a program has
// written unasked. Such a column is read by whoever names it, and stands for nothing else.
func NamesRows(column string) bool {
	return column == unnamed || strings.HasPrefix(column, "__index_level_") && strings.HasSuffix(column, "__")
}
