package onnx

import (
	"fmt"
	"slices"
	"strings"
)

// force resolves Options.Deep and Options.Learned.
func (d *discovery) force() error {
	for _, name := range d.o.Deep {
		atoms, err := d.named("deep", name)
		if err != nil {
			return err
		}
		for _, a := range atoms {
			if c, linear := d.column[a]; linear {
				d.deepCol[c] = name
				continue
			}
			d.class[a] = forced{deep: name}
		}
	}
	for _, name := range d.o.Learned {
		atoms, err := d.named("learned", name)
		if err != nil {
			return err
		}
		learned := 0
		for _, a := range atoms {
			if _, linear := d.column[a]; linear {
				continue
			}
			f := d.class[a]
			if f.deep != "" {
				return fmt.Errorf("onnx: --learned %q and --deep %q name the same part of the network", name, f.deep)
			}
			learned++
			f.learned = name
			d.class[a] = f
		}
		if learned == 0 {
			return fmt.Errorf("onnx: --learned %q: it is linear in its columns and a linear term already", name)
		}
	}
	return nil
}

// named lists the atoms, of any predictor, that an override means.
func (d *discovery) named(flag, name string) ([]element, error) {
	used := map[element]bool{}
	var atoms, hit []element
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
		if t == name {
			hit = append(hit, a)
		}
	}
	if len(hit) > 0 {
		return hit, nil
	}
	var from []*Value
	if v, ok := d.g.Value(name); ok && v.Const == nil {
		from = append(from, v)
	}
	for _, n := range d.g.Nodes {
		if n.Name == name {
			from = append(from, n.Outputs...)
		}
	}
	if len(from) == 0 {
		return nil, fmt.Errorf("onnx: --%s %q is no term, node or tensor of the network; the addends are %s", flag, name, quotedList(terms))
	}
	for _, a := range d.dep.reach(from) {
		if used[a] {
			hit = append(hit, a)
		}
	}
	if len(hit) == 0 {
		return nil, fmt.Errorf("onnx: --%s %q is not an addend of a predictor; the addends are %s", flag, name, quotedList(terms))
	}
	return hit, nil
}

// atomTerm is the name of the term an atom would belong to.
func (d *discovery) atomTerm(a element) string {
	if c, ok := d.column[a]; ok {
		return d.s.columns[c]
	}
	if t, ok := d.claimed(a); ok {
		return t.Name()
	}
	return learnedName(d.columnNames(d.set(a)))
}

func learnedName(columns []string) string { return "f(" + strings.Join(columns, ",") + ")" }
