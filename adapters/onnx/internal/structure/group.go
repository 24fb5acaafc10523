package structure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// atom is a non-linear atom of one predictor.
type atom struct {
	Element
	set  int32
	coef float64
}

// group turns the unrolled predictors into terms and deep parts.
func (d *discovery) group() {
	learned := make([][]atom, len(d.found))
	deep := make([][]atom, len(d.found))
	d.s.Parts = make([]Parts, len(d.found))
	d.s.Predictors = make([]Predictor, len(d.found))
	for k, f := range d.found {
		d.s.Predictors[k] = Predictor{
			Name: f.name, Tensor: f.eta.Value.Name, Element: f.eta.Index, Output: f.output,
			Head: f.head, HeadNodes: describeAll(f.passed), Ordinal: f.ordinal, Probability: f.probability, Classes: d.classesOf(f), Intercept: f.u.constant, Terms: []Term{}, Reasons: []string{},
		}
		d.s.Parts[k] = Parts{Eta: f.eta, Intercept: f.u.constant}
		linear := map[int]float64{}
		u := d.addCoded(k, d.addDeclared(k))
		for i, el := range u.atoms {
			if c, ok := d.columnOf(el); ok {
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
	d.addFeatures()
}

// addFeatures lists the features of deep parts that Options.Learned asks for: those by one name in the order of the network.
func (d *discovery) addFeatures() {
	for _, name := range d.o.Learned {
		t := &Tap{}
		set := int32(0)
		for _, p := range d.s.Parts {
			for _, el := range p.Deep {
				if d.class[el].features == name && !slices.Contains(t.Elements, el) {
					t.Elements, set = append(t.Elements, el), d.dep.sets.union(set, d.set(el))
				}
			}
		}
		if t.Elements == nil {
			continue
		}
		slices.SortFunc(t.Elements, d.compare)
		tensors, _ := sourcesOf(t.Elements)
		t.Columns = d.dep.sets.members(set)
		t.Name = learnedName(d.columnNames(set)) + "@" + strings.Join(tensors, "+")
		d.s.Features = append(d.s.Features, t)
	}
}

func (d *discovery) isLearned(a atom) bool {
	f := d.class[a.Element]
	switch {
	case d.o.NoStructure || f.deep != "":
		return false
	case f.learned != "":
		return true
	case d.declaredDeep[a.Value] || d.ofTensors(a.set):
		return false
	}
	if n := a.Value.Producer; n != nil && d.dep.sets.size(a.set) == 1 && d.dep.table.Is(n, graph.Indicating) {
		return true // dummies are a factor, also of a model's only column
	}
	return a.set != 0 && (a.set != d.all || isPart(a.Value) || d.parts[a.Element]) && d.dep.sets.size(a.set) <= d.maxOrder
}

// addLinear adds the linear terms in column order; those forced into the deep
// part become features of U.
func (d *discovery) addLinear(k int, coef map[int]float64) {
	p, info := &d.s.Parts[k], &d.s.Predictors[k]
	reads := d.inputsRead(k)
	for c, name := range d.s.Columns {
		w := coef[c]
		if w == 0 {
			continue
		}
		if _, forced := d.deepCol[c]; forced || d.o.NoStructure {
			p.Deep, p.Gamma = append(p.Deep, d.inputElement(c)), append(p.Gamma, w)
			continue
		}
		p.Linear = append(p.Linear, linearPart{c, w})
		nodes, inputs := d.readers(k, c, reads[c])
		info.Terms = append(info.Terms, Term{
			Name: name, Kind: "linear", Columns: []string{name}, Width: 1, Coefficient: &w,
			Tensors: inputs, Nodes: nodes, Reason: "reaches the predictor through linear nodes only",
		})
	}
}

// inputElement is the first input element that column c fills.
func (d *discovery) inputElement(c int) Element {
	for _, v := range d.g.Inputs {
		if isTensor(v, d.columns[v]) {
			continue
		}
		if e := slices.Index(d.columns[v], c); e >= 0 {
			return Element{v, e}
		}
	}
	return Element{}
}

// addLearned makes one tap of the atoms with one set of columns that some
// predictors share, directly or through others; predictors without a common
// atom keep bases of their own.
func (d *discovery) addLearned(learned [][]atom) {
	type family struct {
		set   int32
		atoms map[Element]bool
		users []int
	}
	bySet := map[int32][]*family{}
	for k, atoms := range learned {
		for set, own := range groupBySet(atoms) {
			mine := &family{set: set, atoms: map[Element]bool{}, users: []int{k}}
			for _, a := range own {
				mine.atoms[a.Element] = true
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
		t := &Tap{Columns: d.dep.sets.members(f.set)}
		for a := range f.atoms {
			t.Elements = append(t.Elements, a)
		}
		slices.SortFunc(t.Elements, d.compare)
		tensors, _ := sourcesOf(t.Elements)
		t.Name = learnedName(d.columnNames(f.set)) + "@" + strings.Join(tensors, "+")
		if names[t.Name]++; names[t.Name] > 1 {
			t.Name = fmt.Sprintf("%s#%d", t.Name, names[t.Name])
		}
		d.s.Taps = append(d.s.Taps, t)
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

func intersects(a, b map[Element]bool) bool {
	for x := range a {
		if b[x] {
			return true
		}
	}
	return false
}

func (d *discovery) addTerm(k int, t *Tap, set int32, atoms []atom) {
	coef := make([]float64, len(t.Elements))
	by := ""
	for _, a := range atoms {
		if i, ok := slices.BinarySearchFunc(t.Elements, a.Element, d.compare); ok {
			coef[i] = a.coef
			by = d.class[a.Element].learned
		}
	}
	d.s.Parts[k].Learned = append(d.s.Parts[k].Learned, LearnedPart{t, coef})
	columns := d.columnNames(set)
	tensors, nodes := sourcesOf(t.Elements)
	reason := fmt.Sprintf("a subnetwork that depends on %s, %d of the model's %d columns (at most Options.MaxOrder %d)", graph.QuotedList(columns), len(columns), d.dep.sets.size(d.all), d.maxOrder)
	code, levels := coding(t.Elements)
	switch {
	case d.treesOf(t.Elements) > 0:
		reason = treesReason(d.treesOf(t.Elements), columns)
	case by != "":
		reason = fmt.Sprintf("a subnetwork on %s, made a term by Options.Learned %q", graph.QuotedList(columns), by)
	case len(columns) == 1 && code != "":
		reason = code
	case len(columns) == 1:
		reason = fmt.Sprintf("a subnetwork that depends on %q alone", columns[0])
	}
	d.s.Predictors[k].Terms = append(d.s.Predictors[k].Terms, Term{
		Name: learnedName(columns), Kind: "learned", Columns: columns, Width: len(t.Elements), Tensors: tensors, Nodes: nodes, Reason: reason, Levels: levels,
	})
}

// sourcesOf lists the tensors of the elements and the nodes that produce them,
// each once.
func sourcesOf(elements []Element) (tensors, nodes []string) {
	tensors, nodes = []string{}, []string{}
	seen := map[*graph.Value]bool{}
	for _, el := range elements {
		if seen[el.Value] {
			continue
		}
		seen[el.Value] = true
		tensors = append(tensors, el.Value.Name)
		if el.Value.Producer != nil {
			nodes = append(nodes, el.Value.Producer.String())
		}
	}
	return tensors, nodes
}

// addDeep collects zeta = U gamma and says why, by group of columns.
func (d *discovery) addDeep(k int, atoms []atom) {
	p := &d.s.Parts[k]
	info := &Deep{Reasons: []string{}}
	var columns []int
	for i, el := range p.Deep {
		c, _ := d.columnOf(el)
		columns = append(columns, c)
		if by := d.deepCol[c]; by != "" {
			info.Reasons = append(info.Reasons, fmt.Sprintf("the linear term %q (coefficient %g) is forced into it by Options.Deep %q", d.s.Columns[c], p.Gamma[i], by))
		} else {
			info.Reasons = append(info.Reasons, fmt.Sprintf("the linear term %q (coefficient %g): no structure was asked for", d.s.Columns[c], p.Gamma[i]))
		}
	}
	set := d.dep.sets.of(columns)
	var sets []int32
	bySet := map[int32][]Element{}
	forcedBy := map[int32]string{}
	for _, a := range atoms {
		p.Deep, p.Gamma = append(p.Deep, a.Element), append(p.Gamma, a.coef)
		set = d.dep.sets.union(set, a.set)
		if bySet[a.set] == nil {
			sets = append(sets, a.set)
		}
		bySet[a.set] = append(bySet[a.set], a.Element)
		if by := d.class[a.Element].deep; by != "" {
			forcedBy[a.set] = by
		}
	}
	if len(p.Deep) == 0 {
		return
	}
	for _, id := range sets {
		info.Reasons = append(info.Reasons, d.deepReason(id, bySet[id], forcedBy[id]))
	}
	info.Columns = d.columnNames(set)
	info.Width = len(p.Deep)
	info.Tensors, info.Nodes = sourcesOf(p.Deep)
	d.s.Predictors[k].Deep = info
}
