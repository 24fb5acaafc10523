package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	for _, v := range g.Inputs {
		if w := v.Width(); w > maxColumns-total {
			return fmt.Errorf("onnx: the inputs hold more than %d numbers a row (input %q: %s); they cannot be bound to columns", maxColumns, v.Name, ShapeText(v.Shape))
		}
		total += v.Width()
	}
	return nil
}

// Unbound is the binding without data: the columns are called by their input,
// x[0], x[1], ..., or x for an input of width 1. Inputs too wide for columns
// (Discover refuses them) get none.
func Unbound(g *Graph) Binding {
	b := make(Binding, len(g.Inputs))
	if checkWidth(g) != nil {
		return b
	}
	for i, v := range g.Inputs {
		b[i].Input = v.Name
		b[i].Columns = elementNames(v)
	}
	return b
}

// elementNames are the names that the numbers of an input's row go by without data.
func elementNames(v *Value) []string {
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

// hasAll reports whether the schema has columns of all the names.
func hasAll(schema data.Schema, names []string) bool {
	known := make(map[string]bool, len(schema))
	for _, c := range schema {
		known[c.Name] = c.Numeric && c.Width == 0
	}
	for _, name := range names {
		if !known[name] {
			return false
		}
	}
	return len(names) > 0
}

// Bind matches inputs and columns. Each flag is NAME=col,col,... in order, with
// ranges x0..x9. Inputs without a flag are bound if they are named like a
// column and hold one number a row, or if there are columns for all their elements,
// x[0], x[1], ... (as Unbound calls them); one input may then remain, and takes the
// numeric columns that are neither bound nor in exclude (response, weights,
// offset) if they are exactly as many as it holds. Anything else is an error
// that lists the inputs and the columns.
func Bind(g *Graph, schema data.Schema, flags []string, exclude ...string) (Binding, error) {
	if err := checkWidth(g); err != nil {
		return nil, err
	}
	columns := make(map[string][]string, len(g.Inputs))
	var faults []error
	for _, flag := range flags {
		in, list, err := splitFlag(g, flag)
		if err == nil && columns[in.Name] != nil {
			err = fmt.Errorf("onnx: --input %q: input %q is bound twice", flag, in.Name)
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		names, err := columnList(schema, flag, list)
		if err != nil {
			faults = append(faults, err)
		}
		columns[in.Name] = names
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	taken := map[string]bool{}
	for _, names := range columns {
		for _, c := range names {
			taken[c] = true
		}
	}
	var open []*Value
	for _, v := range g.Inputs {
		if columns[v.Name] != nil {
			continue
		}
		if c, ok := schema.Lookup(v.Name); ok && c.Width == 0 && v.Width() == 1 {
			columns[v.Name] = []string{v.Name}
			taken[v.Name] = true
			continue
		}
		if own := elementNames(v); hasAll(schema, own) {
			columns[v.Name] = own
			for _, c := range own {
				taken[c] = true
			}
			continue
		}
		open = append(open, v)
	}
	switch len(open) {
	case 0:
	case 1:
		var free []string
		for _, c := range schema {
			if c.Numeric && c.Width == 0 && !taken[c.Name] && !slices.Contains(exclude, c.Name) {
				free = append(free, c.Name)
			}
		}
		if len(free) != open[0].Width() {
			return nil, fmt.Errorf("onnx: input %q needs %d columns and %d numeric columns are free (%s); name them with --input %s=column,...\n%s",
				open[0].Name, open[0].Width(), len(free), quotedList(free), open[0].Name, describeInputs(g, schema))
		}
		columns[open[0].Name] = free
	default:
		var names []string
		for _, v := range open {
			names = append(names, v.Name)
		}
		return nil, fmt.Errorf("onnx: no columns are bound to the inputs %s; use --input NAME=column,... for each\n%s", quotedList(names), describeInputs(g, schema))
	}
	b := make(Binding, len(g.Inputs))
	for i, v := range g.Inputs {
		b[i] = BoundInput{Input: v.Name, Columns: columns[v.Name]}
		if got, want := len(b[i].Columns), v.Width(); got != want {
			faults = append(faults, fmt.Errorf("onnx: input %q %s holds %d numbers a row, but %d columns are bound to it (%s)", v.Name, ShapeText(v.Shape), want, got, quotedList(b[i].Columns)))
		}
		for _, name := range b[i].Columns {
			c, _ := schema.Lookup(name)
			switch {
			case c.Width > 0:
				faults = append(faults, fmt.Errorf("onnx: column %q is a tensor of width %d; an input takes columns of numbers", name, c.Width))
			case !c.Numeric:
				faults = append(faults, fmt.Errorf("onnx: column %q %s and cannot feed input %q, which takes numbers", name, c.HoldsText(), v.Name))
			}
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return b, nil
}

// splitFlag finds the input of NAME=list; the longest name wins, since names may
// contain an equals sign.
func splitFlag(g *Graph, flag string) (*Value, string, error) {
	var in *Value
	for _, v := range g.Inputs {
		if strings.HasPrefix(flag, v.Name+"=") && (in == nil || len(v.Name) > len(in.Name)) {
			in = v
		}
	}
	if in != nil {
		list := flag[len(in.Name)+1:]
		if strings.HasPrefix(list, "@") {
			return nil, "", fmt.Errorf("onnx: --input %q: a file (%s) is no list of columns: join it to the data as columns %s[0], %s[1], ..., which bind by their names", flag, list, in.Name, in.Name)
		}
		return in, list, nil
	}
	name, _, ok := strings.Cut(flag, "=")
	if !ok {
		return nil, "", fmt.Errorf("onnx: --input %q: want NAME=column,column", flag)
	}
	var names []string
	for _, v := range g.Inputs {
		names = append(names, v.Name)
	}
	return nil, "", fmt.Errorf("onnx: --input %q: the network has no input %q; it has %s", flag, name, quotedList(names))
}

// columnList reads col,col,first..last. A column whose name looks like a range
// is that column.
func columnList(schema data.Schema, flag, list string) ([]string, error) {
	var names []string
	for _, item := range strings.Split(list, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			return nil, fmt.Errorf("onnx: --input %q: empty column name", flag)
		}
		if _, ok := schema.Lookup(item); ok {
			names = append(names, item)
			continue
		}
		expanded := []string{item}
		if first, last, ok := strings.Cut(item, ".."); ok {
			var err error
			if expanded, err = columnRange(first, last); err != nil {
				return nil, fmt.Errorf("onnx: --input %q: %w", flag, err)
			}
		}
		for _, name := range expanded {
			if _, ok := schema.Lookup(name); !ok {
				return nil, fmt.Errorf("onnx: --input %q: the data have no column %q; they have %s", flag, name, quotedList(schema.Names()))
			}
		}
		names = append(names, expanded...)
	}
	return names, nil
}

// maxRange bounds the columns of one range.
const maxRange = 100_000

// columnRange expands x0..x9: one prefix, counting up. Leading zeros (x01..x12)
// fix the number of digits.
func columnRange(first, last string) ([]string, error) {
	prefix, from, okFrom := numbered(first)
	prefixLast, to, okTo := numbered(last)
	if !okFrom || !okTo || prefix != prefixLast {
		return nil, fmt.Errorf("range %q: want the same name with two numbers, like x0..x9", first+".."+last)
	}
	a, errA := strconv.Atoi(from)
	b, errB := strconv.Atoi(to)
	if errA != nil || errB != nil || b < a || b-a >= maxRange {
		return nil, fmt.Errorf("range %q: the numbers must count up, at most %d columns", first+".."+last, maxRange)
	}
	width := 0
	if strings.HasPrefix(from, "0") && len(from) > 1 {
		width = len(from)
	}
	var names []string
	for i := a; i <= b; i++ {
		names = append(names, fmt.Sprintf("%s%0*d", prefix, width, i))
	}
	return names, nil
}

func numbered(name string) (prefix, digits string, ok bool) {
	prefix = strings.TrimRight(name, "0123456789")
	return prefix, name[len(prefix):], len(prefix) < len(name)
}

func describeInputs(g *Graph, schema data.Schema) string {
	var s strings.Builder
	for _, v := range g.Inputs {
		fmt.Fprintf(&s, "  input %q: %s %s\n", v.Name, v.Type, ShapeText(v.Shape))
	}
	var numeric, text []string
	for _, c := range schema {
		if c.Numeric {
			numeric = append(numeric, c.Name)
		} else {
			text = append(text, c.Name)
		}
	}
	fmt.Fprintf(&s, "  numeric columns: %s\n  text columns: %s", quotedList(numeric), quotedList(text))
	return s.String()
}
