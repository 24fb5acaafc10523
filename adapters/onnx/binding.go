package onnx

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/data"
)

// Binding says which data columns fill which input of a network, by position in
// Graph.Inputs.
type Binding []BoundInput

// BoundInput lists the columns of one input: column j fills element j of each
// row, in row-major order of the axes that are not the batch axis. A column may
// appear more than once. An input of several numbers a row may have a single column in place of
// them: a tensor (data.Column.Width) of as many numbers, in that order. To what is found in the network it
// is one thing, a picture say, and not its numbers.
type BoundInput struct {
	Input   string   `json:"input"`
	Columns []string `json:"columns"`
}

// Columns lists the distinct columns in order of first use.
func (b Binding) Columns() []string {
	var names []string
	seen := map[string]bool{}
	for _, in := range b {
		for _, c := range in.Columns {
			if !seen[c] {
				seen[c] = true
				names = append(names, c)
			}
		}
	}
	return names
}

// Unbound is the binding without data: the columns are called by their input,
// x[0], x[1], ..., or x for an input of width 1. An input that is no row of a table (see isTable) is
// one column, a tensor of its name.
func Unbound(g *Graph) Binding {
	b := make(Binding, len(g.g.Inputs))
	for i, v := range g.g.Inputs {
		b[i].Input, b[i].Columns = v.Name, []string{v.Name}
		if isTable(v) {
			b[i].Columns = elementNames(v)
		}
	}
	return b
}

// How many numbers a row of a table has, at most, where nobody says that they are columns: measurements,
// or codes. Longer rows of numbers are series and embeddings, longer ones of integers are sequences of tokens.
const (
	maxNumbers = 1024
	maxCodes   = 32
)

// isTable reports whether the numbers of an input are taken for columns of a table: it has one axis besides
// the rows, those of size 1 aside, not a long one. Text is always of columns.
func isTable(v *graph.Value) bool {
	most := maxNumbers
	if !v.Type.Floating() {
		most = maxCodes
	}
	axes := slices.DeleteFunc(v.RowShape(), func(d int) bool { return d == 1 })
	return v.Type == graph.String || len(axes) <= 1 && v.Width() <= most
}

// isTensor reports whether one column, a tensor, fills v.
func (in BoundInput) isTensor(v *graph.Value) bool {
	return len(in.Columns) == 1 && v.Width() != 1 && v.Type != graph.String
}

// maxElements bounds the numbers of an input that have columns of their own.
const maxElements = 100_000

// elementNames are the names that the numbers of an input's row go by without data; nil: it has too many.
func elementNames(v *graph.Value) []string {
	width := v.Width()
	if width == 1 {
		return []string{v.Name}
	}
	if width > maxElements {
		return nil
	}
	names := make([]string, width)
	for e := range names {
		names[e] = fmt.Sprintf("%s[%d]", v.Name, e)
	}
	return names
}

// hasAll reports whether the schema has columns of all the names, of numbers, or else of
// categories.
func hasAll(schema data.Schema, names []string, numbers bool) bool {
	known := make(map[string]bool, len(schema))
	for _, c := range schema {
		known[c.Name] = (numbers && c.Numeric || !numbers && c.Categorical) && c.Width == 0
	}
	for _, name := range names {
		if !known[name] {
			return false
		}
	}
	return len(names) > 0
}
