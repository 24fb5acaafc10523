package structure

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/decompose"
)

// maxPredictors bounds K.
const maxPredictors = 1024

// Options steer discovery.
type Options struct {
	MaxOrder                 int // 0: 3
	Deep, Learned, Predictor []string
	NoStructure              bool
	Clip                     float64 // how far probabilities of classes are kept from 0 and 1; 0: not
	Missing                  bool    // factors of trees have a level for what is missing
	// Declared reads what the file declares of terms, Levels the texts of its columns;
	// nil results: nothing.
	Declared func() (*Declared, error)
	Levels   func() (map[string][]string, error)
	// Factor makes the term of all combinations of the columns' levels; nil: embeddings stay
	// learned terms.
	Factor func(name string, columns []string, levels [][]string) (decompose.Term, error)
	// Evaluate computes tensors of the graph in double precision.
	Evaluate Evaluate
	Limits   Limits // the zero value: the defaults
}

// Evaluate computes the tensors wanted on rows of the inputs; each is rows x its
// width.
type Evaluate func(want []*graph.Value, inputs [][]float64, rows int) ([][]float64, error)

// Discover finds the additive structure of a network whose inputs are bound to the data
// columns: each predictor is unrolled through linear operators to input
// columns (linear terms) and to elements of non-linear tensors; these are
// grouped by the columns they depend on into learned terms and the deep part.
// The graph is not changed, but for nodes that are added to one of SplitTrees.
func Discover(g *graph.Graph, columns [][]string, o Options) (*Found, error) {
	d, err := newDiscovery(g, columns, o)
	if err != nil {
		return nil, err
	}
	if err := d.findPredictors(); err != nil {
		return nil, err
	}
	if err := d.readDeclaration(); err != nil {
		return nil, err
	}
	if err := d.findCoded(); err != nil {
		return nil, err
	}
	if err := d.force(); err != nil {
		return nil, err
	}
	d.dropForced()
	if err := d.mergeTrees(); err != nil {
		return nil, err
	}
	d.settleConstants()
	d.group()
	d.s.Softmaxes = d.softmaxes()
	d.s.Unused = d.unused()
	if d.s.Missing, err = d.missing(); err != nil {
		return nil, err
	}
	if len(d.dep.coarse) > 0 {
		d.note("%s too large to follow element by element and treated as a whole, first %s", graph.Plural(len(d.dep.coarse), "part")+" of the network", d.dep.coarse[0])
	}
	d.noteByRow()
	return d.s, nil
}

// noteByRow says of nodes that work row by row what others would do.
func (d *discovery) noteByRow() {
	nodes := map[string][]*graph.Node{}
	var what []string
	for _, n := range d.g.Nodes {
		w := d.dep.table.Of(n).ByRow
		if w == "" {
			continue
		}
		if nodes[w] == nil {
			what = append(what, w)
		}
		nodes[w] = append(nodes[w], n)
	}
	for _, w := range what {
		more := ""
		if k := len(nodes[w]) - 1; k > 0 {
			more = fmt.Sprintf(" and %s like it", graph.Plural(k, "node"))
		}
		d.note("%s%s: %s, as other runtimes do that are fed one row at a time; fed a batch, they take that of all its rows", nodes[w][0], more, w)
	}
}

// findPredictors lists the predictors: the chosen tensors, or the outputs with
// their heads peeled off.
func (d *discovery) findPredictors() error {
	if err := d.chosenOrOutputs(); err != nil {
		return err
	}
	if len(d.o.Predictor) == 0 {
		if err := d.readProbabilities(); err != nil {
			return err
		}
	}
	d.dropComplements()
	d.completeSoftmaxes()
	d.unrollPredictors()
	if len(d.o.Predictor) == 0 {
		d.dropOpposites()
		d.dropAddends()
	}
	if err := d.spreadCounts(); err != nil {
		return err
	}
	if len(d.found) == 0 {
		return fmt.Errorf("onnx: no output of the network is a tensor of floating type that depends on its inputs; choose tensors with Options.Predictor")
	}
	if len(d.found) > maxPredictors {
		return fmt.Errorf("onnx: the outputs hold %d numbers a row, more than %d predictors; choose tensors with Options.Predictor", len(d.found), maxPredictors)
	}
	if len(d.found) == 1 {
		d.found[0].name = "eta"
	}
	d.nameByClass()
	d.distinctNames()
	for _, p := range d.found {
		d.all = d.dep.sets.union(d.all, d.set(p.eta))
	}
	return nil
}

func (d *discovery) chosenOrOutputs() error {
	for _, text := range d.g.Notes {
		d.note("%s", text)
	}
	if len(d.o.Predictor) > 0 {
		for _, name := range d.o.Predictor {
			v, ok := d.g.Value(name)
			if err := d.g.Refused[name]; err != nil {
				return &OptionError{"Predictor", name, " cannot be computed: " + strings.TrimPrefix(err.Error(), "onnx: ")}
			}
			if !ok || v.Const != nil || v.BatchAxis() < 0 || !v.Type.Floating() || v.Producer == nil {
				return &OptionError{"Predictor", name, ": the network computes no tensor of floating type of that name; its outputs are " + graph.QuotedList(d.outputNames())}
			}
			if v.Width() > maxPredictors {
				return &OptionError{"Predictor", name, fmt.Sprintf(" holds %d numbers a row, more than %d predictors", v.Width(), maxPredictors)}
			}
			if err := d.addPredictors(v, false); err != nil {
				return err
			}
		}
		return nil
	}
	d.readOrdinals()
	for _, v := range d.g.Outputs {
		ordinal, ofClasses := d.ordinals[v]
		switch {
		case ordinal != nil:
			d.found = append(d.found, *ordinal)
		case ofClasses:
		case v.Const != nil || v.BatchAxis() < 0:
			d.note("output %q is a constant and not decomposed", v.Name)
		case !v.Type.Floating():
			d.note("output %q is %s and not decomposed", v.Name, v.Type)
		case v.Producer == nil:
			d.note("output %q is an input and not decomposed", v.Name)
		case v.Width() > maxPredictors:
			return fmt.Errorf("onnx: output %q holds %d numbers a row, more than %d predictors; choose tensors with Options.Predictor", v.Name, v.Width(), maxPredictors)
		default:
			if err := d.addPredictors(v, true); err != nil {
				return err
			}
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

func (d *discovery) addPredictors(v *graph.Value, peel bool) (err error) {
	width := v.Width()
	var mean *graph.Value
	if peel {
		if mean, err = d.scaled(v); err != nil {
			return err
		}
	}
	for e := range width {
		p := candidate{eta: Element{v, e}, whole: Element{v, e}, name: v.Name, output: v.Name}
		if width > 1 {
			p.name = fmt.Sprintf("%s%d", v.Name, e+1)
		}
		switch {
		case mean != nil:
			p.eta, p.head, p.passed = Element{mean, e}, "exp", d.dep.between(p.whole, Element{mean.Producer.Inputs[0], e})
		case peel:
			p.eta, p.head, p.passed = d.dep.peel(p.eta)
		}
		if of := d.ofOrdinal(p); of != "" {
			d.note("output %q leads to the predictor of %q again and is not repeated", p.name, of)
			continue
		}
		if p.head == "softmax" || p.head == "logsoftmax" {
			p.group = d.dep.normalisedWith(p.eta, p.passed)
		}
		if i := slices.IndexFunc(d.found, func(q candidate) bool { return d.isAgain(p, q) }); i >= 0 {
			if d.found[i].head == complement {
				d.found[i], p = p, d.found[i]
			}
			if p.head == complement {
				d.noteComplement(p.name, d.found[i].name)
				continue
			}
			d.note("output %q leads to the predictor of %q again and is not repeated", p.name, d.found[i].name)
			continue
		}
		d.found = append(d.found, p)
	}
	return nil
}

// isAgain reports whether p and q are the same predictor. A complement, which several nodes
// spell, begins at the first of equal elements, its sigmoid perhaps at a later one.
func (d *discovery) isAgain(p, q candidate) bool {
	if p.eta == q.eta {
		return true
	}
	return (p.head == complement) != (q.head == complement) && d.dep.first(p.eta) == d.dep.first(q.eta)
}

// dropComplements: 1 - sigmoid(eta) is the probability of the class that the network has
// no predictor for. Where sigmoid(eta) is an output too, eta has that head; where it is
// not, the output is decomposed as it is.
func (d *discovery) dropComplements() {
	for i, p := range d.found {
		if p.head == complement {
			d.found[i] = candidate{eta: p.whole, whole: p.whole, name: p.name, output: p.output}
		}
	}
}

func (d *discovery) noteComplement(output, of string) {
	d.note("output %q is 1 - output %q and not repeated", output, of)
}

// dropAddends leaves out an output of several numbers that an earlier output adds up to its
// predictor, as explanations of a prediction are: they are parts of it, and no predictors.
func (d *discovery) dropAddends() {
	for i := 0; i < len(d.found); i++ {
		p := d.found[i]
		v := p.whole.Value
		if p.head != "" || v.Width() < 2 {
			continue
		}
		reads := func(n *graph.Node) bool { return slices.Contains(n.Inputs, v) }
		of := slices.IndexFunc(d.found[:i], func(q candidate) bool { return q.output != p.output && slices.ContainsFunc(q.u.path, reads) })
		if of < 0 {
			continue
		}
		d.note("output %q holds addends of output %q and is not decomposed", p.output, d.found[of].output)
		d.found = slices.DeleteFunc(d.found, func(q candidate) bool { return q.output == p.output })
		i--
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
	var constant []Element
	for _, p := range d.found {
		for _, a := range p.u.atoms {
			if _, in := d.columnOf(a); !in && d.set(a) == 0 && !slices.Contains(constant, a) {
				constant = append(constant, a)
			}
		}
	}
	if len(constant) == 0 {
		return
	}
	value, err := d.evaluateOnes(constant)
	if err != nil {
		d.note("%s on which no column acts could not be evaluated (%v) and stay in the deep part", graph.Plural(len(constant), "unit"), err)
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
	for c, name := range d.s.Columns {
		if !d.dep.sets.contains(d.all, c) {
			names = append(names, name)
		}
	}
	return names
}

// evaluateOnes returns the elements' values on a row of ones, or, where the
// network refuses it (an index beyond a table), of zeros.
func (d *discovery) evaluateOnes(elements []Element) (values []float64, err error) {
	var want []*graph.Value
	for _, el := range elements {
		if !slices.Contains(want, el.Value) {
			want = append(want, el.Value)
		}
	}
	for _, x := range []float64{1, 0} {
		if values, err = d.evaluateAt(x, want, elements); err == nil {
			return values, nil
		}
	}
	return nil, err
}

func (d *discovery) evaluateAt(x float64, want []*graph.Value, elements []Element) ([]float64, error) {
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
		out[i] = got[slices.Index(want, el.Value)][el.Index]
		if math.IsNaN(out[i]) || math.IsInf(out[i], 0) {
			return nil, fmt.Errorf("tensor %q is %g", el.Value.Name, out[i])
		}
	}
	return out, nil
}
