// Package label says what people call things: columns and their units, levels, terms and
// predictors, and how a column that was scaled before the network is shown in its own units.
// Names in results, and numbers in tables that programs read, stay as they are; labels are
// for what people read.
//
// All methods take a nil *Labels, which says nothing: names and numbers are shown as they are.
package label

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/data"
)

// Labels are what a labels file holds. Whatever it does not name is shown as it is called.
type Labels struct {
	Columns    map[string]Column `json:"columns,omitempty"`
	Predictors map[string]string `json:"predictors,omitempty"` // by name; predictors of classes have the classes' names
	Terms      map[string]string `json:"terms,omitempty"`      // by name; others are made of the columns' names
}

// Column says how one column of the data is shown, the response as well as features.
type Column struct {
	Name   string            `json:"name,omitempty"`   // "": as in the data
	Unit   string            `json:"unit,omitempty"`   // of its numbers, as they are shown
	Levels map[string]string `json:"levels,omitempty"` // by the level's text; codes as "1"
	// BackTransform leads from the data's numbers to those that are shown; nil: they are the
	// same.
	BackTransform *BackTransform `json:"back_transform,omitempty"`
}

// IsEmpty tells labels that say nothing.
func (l *Labels) IsEmpty() bool {
	return l == nil || len(l.Columns) == 0 && len(l.Predictors) == 0 && len(l.Terms) == 0
}

// column is what is said of a column; the zero value: nothing.
func (l *Labels) column(name string) Column {
	if l == nil {
		return Column{}
	}
	return l.Columns[name]
}

// Feature is what a column is called.
func (l *Labels) Feature(column string) string { return cmp.Or(l.column(column).Name, column) }

// Features are what columns are called.
func (l *Labels) Features(columns []string) []string { return Each(columns, l.Feature) }

// Unit is that of a column's numbers as they are shown; "": none is known.
func (l *Labels) Unit(column string) string { return l.column(column).Unit }

// Axis is the title of an axis of the column's numbers: its name, with the unit behind it in
// brackets.
func (l *Labels) Axis(column string) string { return withUnit(l.Feature(column), l.Unit(column)) }

func withUnit(name, unit string) string {
	if unit == "" {
		return name
	}
	return name + " (" + unit + ")"
}

// Level is what a level of a column is called. Of a scaled column, a level that is a number
// and has no name is shown in the column's own units.
func (l *Labels) Level(column, level string) string {
	c := l.column(column)
	if name := c.Levels[level]; name != "" {
		return name
	}
	if c.BackTransform == nil {
		return level
	}
	v, err := strconv.ParseFloat(level, 64)
	if err != nil {
		return level
	}
	return number(c.BackTransform.Shown(v))
}

// LevelOf is what a level of a factor is called that is made of these columns: of one, its
// level; of several columns of 0 and 1, one for each level, the column that it is; of an
// interaction, "a:b", the levels of its columns.
func (l *Labels) LevelOf(columns []string, level string) string {
	switch parts := strings.Split(level, ":"); {
	case len(columns) == 1:
		return l.Level(columns[0], level)
	case slices.Contains(columns, level):
		return l.Feature(level)
	case len(columns) == len(parts):
		for i, c := range columns {
			parts[i] = l.Level(c, parts[i])
		}
		return strings.Join(parts, ":")
	}
	return level
}

// Shown is a number of the column in the units that are shown.
func (l *Labels) Shown(column string, v float64) float64 { return l.Scale(column).Shown(v) }

// Scale is how a column's numbers are shown; nil: as they are.
func (l *Labels) Scale(column string) *BackTransform { return l.column(column).BackTransform }

// Value is a number of the column in words: the name of the level that it is, or the number
// as it is shown, with its unit.
func (l *Labels) Value(column string, v float64) string {
	c := l.column(column)
	if name := c.Levels[data.LevelText(v)]; name != "" {
		return name
	}
	text := number(c.BackTransform.Shown(v))
	if c.Unit == "" {
		return text
	}
	return text + " " + c.Unit
}

// IsText tells whether Value says more of a number than the number as it is shown: the name of
// a level, or a unit.
func (l *Labels) IsText(column string, v float64) bool {
	c := l.column(column)
	return c.Unit != "" || c.Levels[data.LevelText(v)] != ""
}

// ValueText is a value of the column that is written as text, in a table say: a level's name, a
// number as Value has it, any other text as it is.
func (l *Labels) ValueText(column, text string) string {
	c := l.column(column)
	if name := c.Levels[text]; name != "" {
		return name
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || c.BackTransform == nil && c.Unit == "" {
		return text
	}
	return l.Value(column, v)
}

// number writes a number with four digits, as values of columns are shown.
func number(v float64) string { return strconv.FormatFloat(rounded(v), 'g', -1, 64) }

func rounded(v float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	if err != nil {
		return v
	}
	return short
}

// Predictor is what a predictor is called.
func (l *Labels) Predictor(name string) string {
	if l == nil {
		return name
	}
	return cmp.Or(l.Predictors[name], name)
}

// Term is a term of a result: its name, its columns and, of a smooth by another column, that
// column and, if that is a factor, the level.
type Term struct {
	Name      string
	Features  []string
	By, Level string
}

// Term is what a term is called: the label given for its name, else the name with the
// columns' labels in place of the columns, at a level "s(Temperature):Day of week = Monday".
// A name in which nothing is replaced stays as it is.
func (l *Labels) Term(t Term) string {
	if l.IsEmpty() {
		return t.Name
	}
	if own := l.Terms[t.Name]; own != "" {
		return own
	}
	name, tail := t.Name, ""
	if t.By != "" && t.Level != "" {
		if head, ok := strings.CutSuffix(name, ":"+t.By+t.Level); ok {
			by, level := l.Feature(t.By), l.Level(t.By, t.Level)
			if by != t.By || level != t.Level {
				name, tail = head, ":"+by+" = "+level
			}
		}
	}
	return l.replace(name, t.Features) + tail
}

// replace puts the labels of columns in place of their names, which it finds in a term's name
// between its other signs.
func (l *Labels) replace(name string, columns []string) string {
	columns = slices.Clone(columns)
	slices.SortStableFunc(columns, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var out strings.Builder
	replaced := false
	for at := 0; at < len(name); {
		i := slices.IndexFunc(columns, func(c string) bool { return c != "" && standsAt(name, c, at) })
		switch {
		case i >= 0:
			shown := l.Feature(columns[i])
			replaced = replaced || shown != columns[i]
			out.WriteString(shown)
			at += len(columns[i])
		case name[at] == ',':
			out.WriteString(", ")
			at++
		default:
			out.WriteByte(name[at])
			at++
		}
	}
	if !replaced {
		return name
	}
	return out.String()
}

// standsAt tells whether a column's name stands there as a whole, between signs of the
// formula language.
func standsAt(name, column string, at int) bool {
	if !strings.HasPrefix(name[at:], column) {
		return false
	}
	const signs = "(),: "
	before, after := name[:at], name[at+len(column):]
	begins := before == "" || strings.ContainsRune(signs, rune(before[len(before)-1])) || strings.HasSuffix(before, "..")
	ends := after == "" || strings.ContainsRune(signs, rune(after[0])) || strings.HasPrefix(after, "..")
	return begins && ends
}

// Each is what every one of names or numbers is shown as; nil of nil.
func Each[T any](values []T, show func(T) T) []T {
	if values == nil {
		return nil
	}
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = show(v)
	}
	return out
}
