package onnx

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// atom is a non-linear atom of one predictor.
type atom struct {
	element
	set  int32
	coef float64
}

// group turns the unrolled predictors into terms and deep parts.
func (d *discovery) group() {
	learned := make([][]atom, len(d.found))
	deep := make([][]atom, len(d.found))
	d.s.parts = make([]predictor, len(d.found))
	d.s.Predictors = make([]sPredictor, len(d.found))
	for k, f := range d.found {
		d.s.Predictors[k] = sPredictor{
			Name: f.name, Tensor: f.eta.value.Name, Element: f.eta.index, Output: f.output,
			Head: f.head, HeadNodes: describeAll(f.passed), Intercept: f.u.constant, Terms: []sTerm{}, Reasons: []string{},
		}
		d.s.parts[k] = predictor{eta: f.eta, intercept: f.u.constant}
		linear := map[int]float64{}
		u := d.addDeclared(k)
		for i, el := range u.atoms {
			if c, ok := d.column[el]; ok {
				linear[c] += u.coef[i]
				continue
			}
			a := atom{el, d.set(el), u.coef[i]}
			if d.isLearned(a) {
				learned[k] = append(learned[k], a)
			} else {
				deep[k] = append(deep[k], a)
			}
		}
		d.addLinear(k, linear)
		d.listDeclared(k)
	}
	d.addLearned(learned)
	for k := range d.found {
		d.addDeep(k, deep[k])
		d.sumUp(k)
	}
}

func (d *discovery) isLearned(a atom) bool {
	f := d.class[a.element]
	switch {
	case d.o.NoStructure || f.deep != "":
		return false
	case f.learned != "":
		return true
	case d.declaredDeep[a.value]:
		return false
	}
	return a.set != 0 && a.set != d.all && d.dep.sets.size(a.set) <= d.maxOrder
}

// addLinear adds the linear terms in column order; those forced into the deep
// part become features of U.
func (d *discovery) addLinear(k int, coef map[int]float64) {
	p, info := &d.s.parts[k], &d.s.Predictors[k]
	reads := d.inputsRead(k)
	for c, name := range d.s.columns {
		w := coef[c]
		if w == 0 {
			continue
		}
		if _, forced := d.deepCol[c]; forced || d.o.NoStructure {
			p.deep, p.gamma = append(p.deep, d.inputElement(c)), append(p.gamma, w)
			continue
		}
		p.linear = append(p.linear, linearPart{c, w})
		nodes, inputs := d.readers(k, c, reads[c])
		info.Terms = append(info.Terms, sTerm{
			Name: name, Kind: "linear", Columns: []string{name}, Width: 1, Coefficient: &w,
			Tensors: inputs, Nodes: nodes, Reason: "reaches the predictor through linear nodes only",
		})
	}
}

// inputElement is the first input element that column c fills.
func (d *discovery) inputElement(c int) element {
	for _, v := range d.g.Inputs {
		for e := range v.Width() {
			if el := (element{v, e}); d.column[el] == c {
				return el
			}
		}
	}
	return element{}
}

// addLearned makes one tap of the atoms with one set of columns that some
// predictors share, directly or through others; predictors without a common
// atom keep bases of their own.
func (d *discovery) addLearned(learned [][]atom) {
	type family struct {
		set   int32
		atoms map[element]bool
		users []int
	}
	bySet := map[int32][]*family{}
	for k, atoms := range learned {
		for set, own := range groupBySet(atoms) {
			mine := &family{set: set, atoms: map[element]bool{}, users: []int{k}}
			for _, a := range own {
				mine.atoms[a.element] = true
			}
			var rest []*family
			for _, f := range bySet[set] {
				if !intersects(f.atoms, mine.atoms) {
					rest = append(rest, f)
					continue
				}
				for a := range f.atoms {
					mine.atoms[a] = true
				}
				mine.users = append(mine.users, f.users...)
			}
			bySet[set] = append(rest, mine)
		}
	}
	var families []*family
	for _, f := range bySet {
		families = append(families, f...)
	}
	slices.SortFunc(families, func(a, b *family) int {
		ma, mb := d.dep.sets.members(a.set), d.dep.sets.members(b.set)
		return cmp.Or(cmp.Compare(len(ma), len(mb)), slices.Compare(ma, mb), cmp.Compare(slices.Min(a.users), slices.Min(b.users)))
	})
	ownBySet := make([]map[int32][]atom, len(learned))
	for k, atoms := range learned {
		ownBySet[k] = groupBySet(atoms)
	}
	names := map[string]int{}
	for _, f := range families {
		t := &tap{columns: d.dep.sets.members(f.set)}
		for a := range f.atoms {
			t.elements = append(t.elements, a)
		}
		slices.SortFunc(t.elements, d.compare)
		tensors, _ := sources(t.elements)
		t.name = learnedName(d.columnNames(f.set)) + "@" + strings.Join(tensors, "+")
		if names[t.name]++; names[t.name] > 1 {
			t.name = fmt.Sprintf("%s#%d", t.name, names[t.name])
		}
		d.s.taps = append(d.s.taps, t)
		slices.Sort(f.users)
		for _, k := range f.users {
			d.addTerm(k, t, f.set, ownBySet[k][f.set])
		}
	}
}

func groupBySet(atoms []atom) map[int32][]atom {
	by := map[int32][]atom{}
	for _, a := range atoms {
		by[a.set] = append(by[a.set], a)
	}
	return by
}

func intersects(a, b map[element]bool) bool {
	for x := range a {
		if b[x] {
			return true
		}
	}
	return false
}

func (d *discovery) addTerm(k int, t *tap, set int32, atoms []atom) {
	coef := make([]float64, len(t.elements))
	by := ""
	for _, a := range atoms {
		if i, ok := slices.BinarySearchFunc(t.elements, a.element, d.compare); ok {
			coef[i] = a.coef
			by = d.class[a.element].learned
		}
	}
	d.s.parts[k].learned = append(d.s.parts[k].learned, learnedPart{t, coef})
	columns := d.columnNames(set)
	tensors, nodes := sources(t.elements)
	reason := fmt.Sprintf("a subnetwork that depends on %s, %d of the model's %d columns (at most --max-order %d)", quotedList(columns), len(columns), d.dep.sets.size(d.all), d.maxOrder)
	switch {
	case by != "":
		reason = fmt.Sprintf("a subnetwork on %s, made a term by --learned %q", quotedList(columns), by)
	case len(columns) == 1:
		reason = fmt.Sprintf("a subnetwork that depends on %q alone", columns[0])
	}
	d.s.Predictors[k].Terms = append(d.s.Predictors[k].Terms, sTerm{
		Name: learnedName(columns), Kind: "learned", Columns: columns, Width: len(t.elements), Tensors: tensors, Nodes: nodes, Reason: reason,
	})
}

// sources lists the tensors of the elements and the nodes that produce them,
// each once.
func sources(elements []element) (tensors, nodes []string) {
	tensors, nodes = []string{}, []string{}
	seen := map[*Value]bool{}
	for _, el := range elements {
		if seen[el.value] {
			continue
		}
		seen[el.value] = true
		tensors = append(tensors, el.value.Name)
		if el.value.Producer != nil {
			nodes = append(nodes, el.value.Producer.String())
		}
	}
	return tensors, nodes
}

// addDeep collects zeta = U gamma and says why, by group of columns.
func (d *discovery) addDeep(k int, atoms []atom) {
	p := &d.s.parts[k]
	info := &sDeep{Reasons: []string{}}
	var columns []int
	for i, el := range p.deep {
		c := d.column[el]
		columns = append(columns, c)
		if by := d.deepCol[c]; by != "" {
			info.Reasons = append(info.Reasons, fmt.Sprintf("the linear term %q (coefficient %g) is forced into it by --deep %q", d.s.columns[c], p.gamma[i], by))
		} else {
			info.Reasons = append(info.Reasons, fmt.Sprintf("the linear term %q (coefficient %g): no structure was asked for", d.s.columns[c], p.gamma[i]))
		}
	}
	set := d.dep.sets.of(columns)
	var sets []int32
	bySet := map[int32][]element{}
	forcedBy := map[int32]string{}
	for _, a := range atoms {
		p.deep, p.gamma = append(p.deep, a.element), append(p.gamma, a.coef)
		set = d.dep.sets.union(set, a.set)
		if bySet[a.set] == nil {
			sets = append(sets, a.set)
		}
		bySet[a.set] = append(bySet[a.set], a.element)
		if by := d.class[a.element].deep; by != "" {
			forcedBy[a.set] = by
		}
	}
	if len(p.deep) == 0 {
		return
	}
	for _, id := range sets {
		info.Reasons = append(info.Reasons, d.deepReason(id, bySet[id], forcedBy[id]))
	}
	info.Columns = d.columnNames(set)
	info.Width = len(p.deep)
	info.Tensors, info.Nodes = sources(p.deep)
	d.s.Predictors[k].Deep = info
}
