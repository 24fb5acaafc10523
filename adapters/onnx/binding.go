package onnx

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/data"
)

// Binding says which data columns fill which input of a network, by position in
// Graph.Inputs.
type Binding []BoundInput

// BoundInput lists the columns of one input: column j fills element j of each
// row, in row-major order of the axes that are not the batch axis. A column may
// appear more than once.
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

// maxColumns bounds the numbers a row of all inputs together.
const maxColumns = 100_000

func checkWidth(g *Graph) error {
	total := 0
	for _, v := range g.g.Inputs {
		if w := v.Width(); w > maxColumns-total {
			return fmt.Errorf("onnx: the inputs hold more than %d numbers a row (input %q: %s); they cannot be bound to columns", maxColumns, v.Name, graph.ShapeText(v.Shape))
		}
		total += v.Width()
	}
	return nil
}

// Unbound is the binding without data: the columns are called by their input,
// x[0], x[1], ..., or x for an input of width 1. Inputs too wide for columns
// (Discover refuses them) get none.
func Unbound(g *Graph) Binding {
	b := make(Binding, len(g.g.Inputs))
	if checkWidth(g) != nil {
		return b
	}
	for i, v := range g.g.Inputs {
		b[i].Input = v.Name
		b[i].Columns = elementNames(v)
	}
	return b
}

// elementNames are the names that the numbers of an input's row go by without data.
func elementNames(v *graph.Value) []string {
	width := v.Width()
	if width == 1 {
		return []string{v.Name}
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
