package onnx

import (
	"fmt"
	"math"
	"slices"
)

// maxPredictors bounds K.
const maxPredictors = 1024

// discoverOptions steer discovery.
type discoverOptions struct {
	MaxOrder                 int // 0: 3
	Deep, Learned, Predictor []string
	NoStructure              bool
	// Declared reads what the file declares of terms, Levels the texts of its columns;
	// nil results: nothing.
	Declared func() (*declared, error)
	Levels   func() (map[string][]string, error)
	// Evaluate computes tensors of the graph in double precision.
	Evaluate evaluation
	Limits   limits // the zero value: the defaults
}

// evaluation computes the tensors wanted on rows of the inputs; each is rows x its
// width.
type evaluation func(want []*Value, inputs [][]float64, rows int) ([][]float64, error)

// find finds the additive structure of a network whose inputs are bound to the data
// columns: each predictor is unrolled through linear operators to input
// columns (linear terms) and to elements of non-linear tensors; these are
// grouped by the columns they depend on into learned terms and the deep part.
// The graph is not changed.
func findStructure(g *Graph, columns [][]string, o discoverOptions) (*Found, error) {
	d, err := newDiscovery(g, columns, o)
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
		p := candidate{eta: element{v, e}, name: v.Name, output: v.Name}
		if width > 1 {
			p.name = fmt.Sprintf("%s%d", v.Name, e+1)
		}
		if peel {
			p.eta, p.head, p.passed = d.dep.peel(p.eta)
		}
		if i := slices.IndexFunc(d.found, func(q candidate) bool { return q.eta == p.eta }); i >= 0 {
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
	value, err := d.evaluateOnes(constant)
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

// evaluateOnes returns the elements' values on a row of ones, or, where the
// network refuses it (an index beyond a table), of zeros.
func (d *discovery) evaluateOnes(elements []element) (values []float64, err error) {
	var want []*Value
	for _, el := range elements {
		if !slices.Contains(want, el.value) {
			want = append(want, el.value)
		}
	}
	for _, x := range []float64{1, 0} {
		if values, err = d.evaluateAt(x, want, elements); err == nil {
			return values, nil
		}
	}
	return nil, err
}

func (d *discovery) evaluateAt(x float64, want []*Value, elements []element) ([]float64, error) {
	var inputs [][]float64
	for _, v := range d.g.Inputs {
		inputs = append(inputs, slices.Repeat([]float64{x}, v.Width()))
	}
	got, err := d.o.Evaluate(want, inputs, 1)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(elements))
	for i, el := range elements {
		out[i] = got[slices.Index(want, el.value)][el.index]
		if math.IsNaN(out[i]) || math.IsInf(out[i], 0) {
			return nil, fmt.Errorf("tensor %q is %g", el.value.Name, out[i])
		}
	}
	return out, nil
}
