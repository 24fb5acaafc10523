package onnx

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/data"
)

// Bind matches inputs and columns. columns lists, by input, those that the caller
// decides on, in order; a column may be there several times. Other inputs are bound if
// they are named like a column of one number a row, or like a tensor, that holds as many numbers, or if there are columns for
// all their elements, x[0], x[1], ... (as Unbound calls them); one input may then remain,
// and takes the numeric columns that are neither bound nor in exclude (response, weights,
// offset) nor dates, times or the names of rows (data.NamesRows) if they are exactly as many as it holds. Where
// other inputs have found columns of their names, that input has to hold several numbers a
// row: one of a single number would have a name to be found by. Else the error is an
// *AmbiguousBindingError. A column that the data lack is a *data.MissingColumnError. All faults
// of columns, of a type that cannot be read among them, are told at once (errors.Join).
func Bind(g *Graph, schema data.Schema, columns map[string][]string, exclude ...string) (Binding, error) {
	if err := known(g, schema, columns); err != nil {
		return nil, err
	}
	b := binder{g: g, schema: schema, columns: maps.Clone(columns), taken: map[string]bool{}}
	if b.columns == nil {
		b.columns = map[string][]string{}
	}
	for _, names := range columns {
		b.take(names)
	}
	open, err := b.byName()
	if err == nil {
		err = b.byPosition(open, exclude)
	}
	if err != nil {
		return nil, err
	}
	return b.binding()
}

// known requires the inputs and columns that the caller names to exist.
func known(g *Graph, schema data.Schema, columns map[string][]string) error {
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		if !slices.ContainsFunc(g.g.Inputs, func(v *graph.Value) bool { return v.Name == name }) {
			var have []string
			for _, v := range g.g.Inputs {
				have = append(have, v.Name)
			}
			faults = append(faults, fmt.Errorf("onnx: the network has no input %q; it has %s", name, graph.QuotedList(have)))
			continue
		}
		for _, c := range columns[name] {
			if _, ok := schema.Lookup(c); !ok {
				faults = append(faults, fmt.Errorf("onnx: input %q: %w", name, &data.MissingColumnError{Column: c, Where: "the data", Columns: schema.Names()}))
				break
			}
		}
	}
	return errors.Join(faults...)
}

// binder is one run of Bind.
type binder struct {
	g       *Graph
	schema  data.Schema
	columns map[string][]string // by input
	taken   map[string]bool
	named   bool // an input has found its columns by name
}

func (b *binder) take(columns []string) {
	for _, c := range columns {
		b.taken[c] = true
	}
}

// byName binds inputs to columns of their names and returns the inputs left. A column of an
// input's name that cannot be read is an error.
func (b *binder) byName() (open []*graph.Value, err error) {
	var faults []error
	refused := map[string]string{}
	for _, c := range b.schema {
		if c.Refused {
			refused[c.Name] = c.Text
		}
	}
	for _, v := range b.g.g.Inputs {
		if b.columns[v.Name] != nil {
			continue
		}
		own := elementNames(v)
		for _, name := range append([]string{v.Name}, own...) {
			if why := refused[name]; why != "" {
				faults = append(faults, fmt.Errorf("onnx: input %q: column %q is %s", v.Name, name, why))
				break
			}
		}
		if c, ok := b.schema.Lookup(v.Name); ok && (c.Width == 0 && v.Width() == 1 || c.Width > 0) {
			own = []string{v.Name}
		} else if !hasAll(b.schema, own, v.Type != graph.String) {
			open = append(open, v)
			continue
		}
		b.columns[v.Name] = own
		b.take(own)
		b.named = true
	}
	return open, errors.Join(faults...)
}

// byPosition binds the last open input to the columns that are left.
func (b *binder) byPosition(open []*graph.Value, exclude []string) error {
	if len(open) == 0 {
		return nil
	}
	var free []string
	numbers := open[len(open)-1].Type != graph.String
	for _, c := range b.schema {
		if c.Numeric == numbers && !c.Refused && c.Unit == "" && c.Width == 0 && !b.taken[c.Name] && !data.NamesRows(c.Name) && !slices.Contains(exclude, c.Name) {
			free = append(free, c.Name)
		}
	}
	if len(open) == 1 && len(free) == open[0].Width() && (len(free) > 1 || !b.named) {
		b.columns[open[0].Name] = free
		return nil
	}
	err := &AmbiguousBindingError{Free: free, all: describeInputs(b.g, b.schema)}
	for _, v := range open {
		err.Open = append(err.Open, tensorOf(v))
	}
	return err
}

// binding checks widths and types.
func (b *binder) binding() (Binding, error) {
	var faults []error
	out := make(Binding, len(b.g.g.Inputs))
	for i, v := range b.g.g.Inputs {
		out[i] = BoundInput{Input: v.Name, Columns: b.columns[v.Name]}
		if tensor, ok := b.tensor(out[i], v); ok {
			if err := unturned(tensor, v); err != nil {
				faults = append(faults, err)
			}
			if tensor.Width != v.Width() {
				faults = append(faults, fmt.Errorf("onnx: column %q holds %d numbers a row, input %q %s takes %d", tensor.Name, tensor.Width, v.Name, graph.ShapeText(v.Shape), v.Width()))
			}
			continue
		}
		if got, want := len(out[i].Columns), v.Width(); got != want {
			faults = append(faults, fmt.Errorf("onnx: input %q %s holds %d numbers a row, but %d columns are bound to it (%s)", v.Name, graph.ShapeText(v.Shape), want, got, graph.QuotedList(out[i].Columns)))
		}
		for _, name := range out[i].Columns {
			c, _ := b.schema.Lookup(name)
			switch {
			case c.Width > 0:
				faults = append(faults, fmt.Errorf("onnx: column %q holds %d numbers a row, input %q %s takes one of each of its columns", name, c.Width, v.Name, graph.ShapeText(v.Shape)))
			case v.Type == graph.String && !c.Categorical:
				faults = append(faults, fmt.Errorf("onnx: column %q holds numbers and cannot feed input %q, which takes text; hold the column as categories (Factors)", name, v.Name))
			case v.Type == graph.String:
			case !c.Numeric:
				faults = append(faults, fmt.Errorf("onnx: column %q %s and cannot feed input %q, which takes numbers", name, c.HoldsText(), v.Name))
			}
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return out, nil
}

// unturned is an error for a tensor whose rows have their axes in another order than v.
func unturned(c data.Column, v *graph.Value) error {
	if turned := tensorOf(v).Turned(c.Shape); turned != "" {
		return fmt.Errorf("onnx: column %q: %s", c.Name, turned)
	}
	return nil
}

// tensor is the tensor column that v is bound to; false: it is bound to others.
func (b *binder) tensor(in BoundInput, v *graph.Value) (data.Column, bool) {
	if !in.isTensor(v) {
		return data.Column{}, false
	}
	c, _ := b.schema.Lookup(in.Columns[0])
	return c, c.Width > 0
}

func describeInputs(g *Graph, schema data.Schema) string {
	var s strings.Builder
	for _, v := range g.g.Inputs {
		fmt.Fprintf(&s, "  input %q: %s %s\n", v.Name, v.Type, graph.ShapeText(v.Shape))
	}
	var numeric, text, tensors []string
	for _, c := range schema {
		if c.Refused {
			continue
		}
		switch {
		case c.Width > 0:
			tensors = append(tensors, fmt.Sprintf("%q (%d numbers a row)", c.Name, c.Width))
		case c.Numeric:
			numeric = append(numeric, c.Name)
		default:
			text = append(text, c.Name)
		}
	}
	fmt.Fprintf(&s, "  numeric columns: %s\n  text columns: %s", graph.QuotedList(numeric), graph.QuotedList(text))
	if len(tensors) > 0 {
		fmt.Fprintf(&s, "\n  arrays: %s", strings.Join(tensors, ", "))
	}
	return s.String()
}
