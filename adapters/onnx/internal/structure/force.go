package structure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// OptionError says which value of which option cannot be followed.
type OptionError struct {
	Option, Value string
	Reason        string // with the space or colon before it
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("onnx: Options.%s %q%s", e.Option, e.Value, e.Reason)
}

// force resolves Options.Deep and Options.Learned.
func (d *discovery) force() error {
	for _, name := range d.o.Deep {
		atoms, err := d.named("Deep", name)
		if err != nil {
			return err
		}
		for _, a := range atoms {
			if c, linear := d.columnOf(a); linear {
				d.deepCol[c] = name
				continue
			}
			d.class[a] = forced{deep: name}
		}
	}
	for _, name := range d.o.Learned {
		atoms, err := d.named("Learned", name)
		if err != nil {
			return err
		}
		learned := 0
		for _, a := range atoms {
			if _, linear := d.columnOf(a); linear {
				continue
			}
			f := d.class[a]
			if f.deep != "" {
				return &OptionError{"Learned", name, fmt.Sprintf(" and Options.Deep %q name the same part of the network", f.deep)}
			}
			learned++
			if d.ofTensors(d.set(a)) { // terms are of columns of numbers
				f.features = name
			} else {
				f.learned = name
			}
			d.class[a] = f
		}
		if learned == 0 {
			return &OptionError{"Learned", name, ": it is linear in its columns and a linear term already"}
		}
	}
	return nil
}

// named lists the atoms, of any predictor, that an override means.
func (d *discovery) named(option, name string) ([]Element, error) {
	used := map[Element]bool{}
	var atoms, hit []Element
	for _, p := range d.found {
		for _, a := range p.u.atoms {
			if !used[a] {
				used[a] = true
				atoms = append(atoms, a)
			}
		}
	}
	var terms []string
	for _, a := range atoms {
		t := d.atomTerm(a)
		if !slices.Contains(terms, t) {
			terms = append(terms, t)
		}
		if t == name || d.ofArray(a, name) {
			hit = append(hit, a)
		}
	}
	if len(hit) > 0 {
		return hit, nil
	}
	var from []*graph.Value
	if v, ok := d.g.Value(name); ok && v.Const == nil {
		from = append(from, v)
	}
	for _, n := range d.g.Nodes {
		if n.Name == name {
			from = append(from, n.Outputs...)
		}
	}
	if len(from) == 0 {
		return nil, &OptionError{option, name, " is no term, node or tensor of the network; the addends are " + graph.QuotedList(terms)}
	}
	for _, a := range d.dep.reach(from, used) {
		if used[a] {
			hit = append(hit, a)
		}
	}
	if len(hit) == 0 {
		return nil, &OptionError{option, name, " is not an addend of a predictor; the addends are " + graph.QuotedList(terms)}
	}
	return hit, nil
}

// atomTerm is the name of the term an atom would belong to.
func (d *discovery) atomTerm(a Element) string {
	if c, ok := d.columnOf(a); ok {
		return d.s.Columns[c]
	}
	if t, ok := d.claimed(a); ok {
		return t.Name()
	}
	if name, ok := d.factorOf(a); ok {
		return name
	}
	return learnedName(d.columnNames(d.set(a)))
}

func learnedName(columns []string) string { return "f(" + strings.Join(columns, ",") + ")" }
