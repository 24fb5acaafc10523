package onnx

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxPredictors bounds K.
const maxPredictors = 1024

// Discover finds the additive structure of a network whose inputs are bound to
// data columns: each predictor is unrolled through linear operators to input
// columns (linear terms) and to elements of non-linear tensors; these are
// grouped by the columns they depend on into learned terms and the deep part.
// The graph is not changed. Errors: a binding that does not fit, an override
// that names nothing, no usable output.
func Discover(g *Graph, bind Binding, o *Options) (*Structure, error) {
	return discover(g, bind, o, defaultLimits())
}

func discover(g *Graph, bind Binding, o *Options, l limits) (*Structure, error) {
	d, err := newDiscovery(g, bind, o, l)
	if err != nil {
		return nil, err
	}
	if err := d.findPredictors(); err != nil {
		return nil, err
	}
	d.unrollPredictors()
	if err := d.readDeclaration(); err != nil {
		return nil, err
	}
	if err := d.force(); err != nil {
		return nil, err
	}
	d.dropForced()
	d.settleConstants()
	d.group()
	d.s.Unused = d.unused()
	if len(d.dep.coarse) > 0 {
		d.note("%s too large to follow element by element and treated as a whole, first %s", plural(len(d.dep.coarse), "part")+" of the network", d.dep.coarse[0])
	}
	return d.s, nil
}

// discovery is one run of Discover.
type discovery struct {
	g        *Graph
	o        Options
	maxOrder int
	dep      *dependencies
	column   map[element]int  // data column of each input element
	order    map[*Value]int   // topological, inputs first
	all      int32            // columns that any predictor depends on
	whole    map[*Value]int32 // union over a tensor's elements, as needed
	found    []foundPredictor
	claims   [][]claim // declared terms of each predictor
	// declaredDeep are the tensors that the file says are the deep part's features.
	declaredDeep map[*Value]bool
	class        map[element]forced // by override
	deepCol      map[int]string     // linear columns forced into the deep part, and by what
	s            *Structure
}

type foundPredictor struct {
	eta    element
	name   string
	output string
	head   string
	passed []*Node
	u      unrolled
}

// forced says what an override decided and which.
type forced struct {
	deep, learned string
}

func newDiscovery(g *Graph, bind Binding, o *Options, l limits) (*discovery, error) {
	if o == nil {
		o = &Options{}
	}
	if o.MaxOrder < 0 {
		return nil, fmt.Errorf("onnx: MaxOrder %d is negative; 0 means the default, 3", o.MaxOrder)
	}
	if err := checkWidth(g); err != nil {
		return nil, err
	}
	if len(bind) != len(g.Inputs) {
		return nil, fmt.Errorf("onnx: %d inputs are bound, the network has %d", len(bind), len(g.Inputs))
	}
	entry, err := entries(g, bind)
	if err != nil {
		return nil, err
	}
	names := bind.Columns()
	id := make(map[string]int, len(names))
	for i, n := range names {
		id[n] = i
	}
	d := &discovery{
		g: g, o: *o, maxOrder: o.maxOrder(),
		column: map[element]int{}, order: map[*Value]int{},
		class: map[element]forced{}, deepCol: map[int]string{}, whole: map[*Value]int32{}, declaredDeep: map[*Value]bool{},
		s: &Structure{columns: names, entry: entry, Unused: []string{}, Notes: []string{}},
	}
	columns := make([][]int, len(bind))
	for i, in := range bind {
		v := g.Inputs[i]
		if in.Input != v.Name || len(in.Columns) != v.Width() {
			return nil, fmt.Errorf("onnx: binding %d is for input %q with %d columns; the network's input is %q with %d numbers a row", i, in.Input, len(in.Columns), v.Name, v.Width())
		}
		for e, c := range in.Columns {
			columns[i] = append(columns[i], id[c])
			d.column[element{v, e}] = id[c]
		}
		d.order[v] = len(d.order)
		d.s.Inputs = append(d.s.Inputs, InputInfo{Name: v.Name, Type: v.Type.String(), Shape: ShapeText(v.Shape), Columns: in.Columns})
	}
	for _, n := range g.Nodes {
		for _, v := range n.Outputs {
			if v != nil {
				d.order[v] = len(d.order)
			}
		}
	}
	d.dep, err = newDependencies(g, len(names), columns, l)
	return d, err
}

func (d *discovery) note(format string, args ...any) {
	d.s.Notes = append(d.s.Notes, fmt.Sprintf(format, args...))
}

// set is the id of the columns that el depends on.
func (d *discovery) set(el element) int32 { return d.dep.of[el.value].at(el.index) }

func (d *discovery) columnNames(id int32) []string {
	names := []string{}
	for _, c := range d.dep.sets.members(id) {
		names = append(names, d.s.columns[c])
	}
	return names
}

// findPredictors lists the predictors: the chosen tensors, or the outputs with
// their heads peeled off.
func (d *discovery) findPredictors() error {
	if err := d.chosenOrOutputs(); err != nil {
		return err
	}
	if len(d.found) == 0 {
		return fmt.Errorf("onnx: no output of the network is a tensor of floating type that depends on its inputs; choose tensors with --predictor")
	}
	if len(d.found) > maxPredictors {
		return fmt.Errorf("onnx: the outputs hold %d numbers a row, more than %d predictors; choose tensors with --predictor", len(d.found), maxPredictors)
	}
	if len(d.found) == 1 {
		d.found[0].name = "eta"
	}
	d.distinctNames()
	for _, p := range d.found {
		d.all = d.dep.sets.union(d.all, d.set(p.eta))
	}
	return nil
}

func (d *discovery) chosenOrOutputs() error {
	if len(d.o.Predictor) > 0 {
		for _, name := range d.o.Predictor {
			v, ok := d.g.Value(name)
			if !ok || v.Const != nil || v.BatchAxis() < 0 || !v.Type.Floating() || v.Producer == nil {
				return fmt.Errorf("onnx: --predictor %q: the network computes no tensor of floating type of that name; its outputs are %s", name, quotedList(d.outputNames()))
			}
			if v.Width() > maxPredictors {
				return fmt.Errorf("onnx: --predictor %q holds %d numbers a row, more than %d predictors", name, v.Width(), maxPredictors)
			}
			d.addPredictors(v, false)
		}
		return nil
	}
	for _, v := range d.g.Outputs {
		switch {
		case v.Const != nil || v.BatchAxis() < 0:
			d.note("output %q is a constant and not decomposed", v.Name)
		case !v.Type.Floating():
			d.note("output %q is %s and not decomposed", v.Name, v.Type)
		case v.Producer == nil:
			d.note("output %q is an input and not decomposed", v.Name)
		case v.Width() > maxPredictors:
			return fmt.Errorf("onnx: output %q holds %d numbers a row, more than %d predictors; choose tensors with --predictor", v.Name, v.Width(), maxPredictors)
		default:
			d.addPredictors(v, true)
		}
	}
	return nil
}

// distinctNames renames a predictor whose name is taken: outputs y (two columns)
// and y1.
func (d *discovery) distinctNames() {
	taken := map[string]bool{}
	for i := range d.found {
		name := d.found[i].name
		for n := 2; taken[d.found[i].name]; n++ {
			d.found[i].name = fmt.Sprintf("%s_%d", name, n)
		}
		taken[d.found[i].name] = true
	}
}

func (d *discovery) outputNames() []string {
	var names []string
	for _, v := range d.g.Outputs {
		names = append(names, v.Name)
	}
	return names
}

func (d *discovery) addPredictors(v *Value, peel bool) {
	width := v.Width()
	for e := range width {
		p := foundPredictor{eta: element{v, e}, name: v.Name, output: v.Name}
		if width > 1 {
			p.name = fmt.Sprintf("%s%d", v.Name, e+1)
		}
		if peel {
			p.eta, p.head, p.passed = d.dep.peel(p.eta)
		}
		if i := slices.IndexFunc(d.found, func(q foundPredictor) bool { return q.eta == p.eta }); i >= 0 {
			d.note("output %q leads to the predictor of %q again and is not repeated", p.name, d.found[i].name)
			continue
		}
		d.found = append(d.found, p)
	}
}

func (d *discovery) unrollPredictors() {
	for i := range d.found {
		d.found[i].u = d.dep.unroll(d.found[i].eta, 1)
	}
}

// settleConstants: atoms that depend on no column (a unit whose weights are all
// zero) are constants; their value is what the network computes on a row of
// ones. What is not finite there stays in the deep part.
func (d *discovery) settleConstants() {
	var constant []element
	for _, p := range d.found {
		for _, a := range p.u.atoms {
			if _, in := d.column[a]; !in && d.set(a) == 0 && !slices.Contains(constant, a) {
				constant = append(constant, a)
			}
		}
	}
	if len(constant) == 0 {
		return
	}
	value, err := evaluateOnes(d.g, constant)
	if err != nil {
		d.note("%s on which no column acts could not be evaluated (%v) and stay in the deep part", plural(len(constant), "unit"), err)
		return
	}
	if len(constant) == 1 {
		d.note("1 unit that depends on no column is part of the intercept")
	} else {
		d.note("%d units that depend on no column are part of the intercept", len(constant))
	}
	for i := range d.found {
		u := &d.found[i].u
		kept := unrolled{constant: u.constant, path: u.path}
		for j, a := range u.atoms {
			if k := slices.Index(constant, a); k >= 0 {
				kept.constant += u.coef[j] * value[k]
				continue
			}
			kept.atoms, kept.coef = append(kept.atoms, a), append(kept.coef, u.coef[j])
		}
		*u = kept
	}
}

func (d *discovery) unused() []string {
	names := []string{}
	for c, name := range d.s.columns {
		if !d.dep.sets.contains(d.all, c) {
			names = append(names, name)
		}
	}
	return names
}

func (d *discovery) compare(a, b element) int {
	return cmp.Or(cmp.Compare(d.order[a.value], d.order[b.value]), cmp.Compare(a.index, b.index))
}

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
