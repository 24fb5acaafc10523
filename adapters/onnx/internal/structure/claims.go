package structure

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// The names that messages call a declaration by.
const (
	metadataStructure = "pho.structure"
	declarationFormat = "pho.structure/1"
)

// Declared is what a file declares of terms: see Declaration of the public package.
type Declared struct {
	Columns    map[string]Domain
	Dummies    [][]string // columns of 0 and 1 of which one is 1 on each row: they are one factor
	Predictors []DeclaredPredictor
}

// Domain is where a column has its values: Values if there are any, else the interval.
type Domain struct {
	From, To float64
	Values   []float64
}

// DeclaredPredictor is what is declared of the output, or the class of a softmax, of that name: its terms, and the
// tensors of the deep part.
type DeclaredPredictor struct {
	Output string
	Terms  []DeclaredTerm
	Deep   []string
}

// DeclaredTerm is a term and the tensor that is its basis.
type DeclaredTerm struct {
	Tensor string
	Block  decompose.Block
}

// claim is a declared term of a predictor that the graph bears out: the atoms that
// are elements of value are its basis columns.
type claim struct {
	value *graph.Value
	block decompose.Block
}

// readDeclaration finds the claims of each predictor. A declaration that the graph
// does not bear out (the file was edited) is passed over with a note, whole: what
// discovery finds without it is true of the graph in any case.
func (d *discovery) readDeclaration() error {
	d.claims = make([][]claim, len(d.found))
	if d.o.Declared == nil || d.o.NoStructure {
		return nil
	}
	declared, err := d.o.Declared()
	if err != nil || declared == nil {
		return err
	}
	claims, err := d.bornOut(declared)
	if err != nil {
		d.s.PassedOver = fmt.Sprintf("the terms that the file declares (%s) are passed over, and found in the graph instead: %v", metadataStructure, err)
		d.note("%s", d.s.PassedOver)
		return nil
	}
	d.claims = claims
	for _, p := range declared.Predictors {
		for _, name := range p.Deep {
			if v, ok := d.g.Value(name); ok {
				d.declaredDeep[v] = true
			}
		}
	}
	return nil
}

// bornOut compares the declaration with the graph: columns, tensors, and values on
// probe rows.
func (d *discovery) bornOut(declared *Declared) ([][]claim, error) {
	claims := make([][]claim, len(d.found))
	basis := map[*graph.Value]decompose.Term{}
	var values []*graph.Value
	for _, p := range declared.Predictors {
		k := slices.IndexFunc(d.found, func(f candidate) bool {
			return f.output == p.Output && f.head == "" || f.name == p.Output && len(f.group) > 0 // of a softmax
		})
		if k < 0 {
			continue // another tensor was chosen to be decomposed
		}
		for _, t := range p.Terms {
			name := t.Block.Term.Name()
			v, ok := d.g.Value(t.Tensor)
			switch {
			case !ok || v.Const != nil || v.BatchAxis() < 0 || !v.Type.Floating() || v.Producer == nil:
				return nil, fmt.Errorf("the graph computes no tensor %q, the basis of term %q", t.Tensor, name)
			case v.Width() != t.Block.Term.Dim():
				return nil, fmt.Errorf("tensor %q holds %d numbers a row, term %q has %d columns", t.Tensor, v.Width(), name, t.Block.Term.Dim())
			case basis[v] != nil && basis[v] != t.Block.Term:
				return nil, fmt.Errorf("tensor %q is the basis of two terms, %q and %q", t.Tensor, basis[v].Name(), name)
			case slices.ContainsFunc(claims[k], func(c claim) bool { return c.value == v }):
				return nil, fmt.Errorf("tensor %q is the basis of two terms of output %q", t.Tensor, p.Output)
			}
			if basis[v] == nil {
				basis[v] = t.Block.Term
				values = append(values, v)
			}
			claims[k] = append(claims[k], claim{v, t.Block})
		}
	}
	if len(values) == 0 {
		return claims, nil
	}
	return claims, d.compareOnProbes(declared, values, basis)
}

// compareOnProbes: the tensors' values are those of their terms. Both are computed
// in float64 from float64 constants.
func (d *discovery) compareOnProbes(declared *Declared, values []*graph.Value, basis map[*graph.Value]decompose.Term) error {
	const tolerance = 1e-8
	x := declared.probes(d.s.Columns)
	for name, t := range d.s.RoundedTo {
		for i, v := range x[name] {
			x[name][i] = t.Round(v)
		}
	}
	batch := data.NewBatch(probeRows, 0)
	levels, err := d.o.Levels()
	if err != nil {
		return err
	}
	for _, name := range d.s.Columns {
		if err := batch.SetNumeric(name, x[name]); err != nil {
			return err
		}
		if levels[name] == nil {
			continue
		}
		codes := data.Codes{Index: make([]int32, probeRows), Levels: levels[name]}
		for i, v := range x[name] {
			codes.Index[i] = int32(v)
			if !(v >= 0 && int(v) < len(codes.Levels)) || v != math.Trunc(v) {
				return fmt.Errorf("column %q is text with %d levels and has the value %g", name, len(codes.Levels), v)
			}
		}
		if err := batch.SetCodes(name, codes); err != nil {
			return err
		}
	}
	for _, v := range values {
		for _, c := range basis[v].Columns() {
			if i := slices.IndexFunc(d.g.Inputs, func(in *graph.Value) bool { return in.Name == c }); i < 0 || !slices.Equal(d.s.Inputs[i].Columns, []string{c}) {
				return fmt.Errorf("term %q is of column %q, and the input of that name is not bound to it alone", basis[v].Name(), c)
			}
		}
	}
	var inputs [][]float64
	for i := range d.g.Inputs {
		columns := d.s.Inputs[i].Columns
		width := d.g.Inputs[i].Width()
		row := make([]float64, probeRows*width)
		if len(columns) == width { // terms are of columns, not of tensors
			for e, name := range columns {
				for r, value := range x[name] {
					row[r*width+e] = value
				}
			}
		}
		inputs = append(inputs, row)
	}
	got, err := d.o.Evaluate(values, inputs, probeRows)
	if err != nil {
		return err
	}
	for i, v := range values {
		t := basis[v]
		want := mat.NewDense(probeRows, t.Dim(), nil)
		if err := t.Eval(want, batch); err != nil {
			return err
		}
		scale := math.Max(mat.Max(want), -mat.Min(want))
		for e, w := range want.RawMatrix().Data {
			if miss := math.Abs(got[i][e] - w); !(miss <= tolerance*scale) {
				var at []string
				for _, c := range t.Columns() {
					at = append(at, fmt.Sprintf("%s = %g", graph.PlainName(c), x[c][e/t.Dim()]))
				}
				return fmt.Errorf("column %d of term %q is %g at %s, tensor %q of the graph is %g there", e%t.Dim()+1, t.Name(), w, strings.Join(at, ", "), v.Name, got[i][e])
			}
		}
	}
	return nil
}

// claimed is the declared term that an atom is a basis column of, in any predictor.
func (d *discovery) claimed(a Element) (decompose.Term, bool) {
	for _, claims := range d.claims {
		for _, c := range claims {
			if c.value == a.Value {
				return c.block.Term, true
			}
		}
	}
	return nil, false
}

// dropForced gives up the claims on tensors, and the factors, that Deep or Learned speak of.
func (d *discovery) dropForced() {
	for k := range d.coded {
		d.coded[k] = slices.DeleteFunc(d.coded[k], func(c coded) bool {
			return slices.ContainsFunc(c.atoms, func(el Element) bool { _, ok := d.class[el]; return ok })
		})
	}
	for k := range d.claims {
		d.claims[k] = slices.DeleteFunc(d.claims[k], func(c claim) bool {
			for e := range c.value.Width() {
				if _, ok := d.class[Element{c.value, e}]; ok {
					return true
				}
			}
			return false
		})
	}
}

// addDeclared takes predictor k's declared terms out of its atoms, with the weights
// that the graph gives them, and returns the other atoms.
func (d *discovery) addDeclared(k int) unrolled {
	u := d.found[k].u
	rest := unrolled{constant: u.constant, path: u.path}
	coef := map[*graph.Value][]float64{}
	for _, c := range d.claims[k] {
		coef[c.value] = make([]float64, c.value.Width())
	}
	for i, a := range u.atoms {
		if own := coef[a.Value]; own != nil {
			own[a.Index] = u.coef[i]
			continue
		}
		rest.atoms, rest.coef = append(rest.atoms, a), append(rest.coef, u.coef[i])
	}
	for _, c := range d.claims[k] {
		c.block.Coef = coef[c.value]
		d.s.Parts[k].Declared = append(d.s.Parts[k].Declared, c.block)
	}
	return rest
}

func (d *discovery) listDeclared(k int) {
	for _, c := range d.claims[k] {
		d.s.Predictors[k].Terms = append(d.s.Predictors[k].Terms, Term{
			Name: c.block.Term.Name(), Kind: string(c.block.Term.Kind()), Columns: c.block.Term.Columns(), Width: c.block.Term.Dim(),
			Tensors: []string{c.value.Name}, Nodes: []string{c.value.Producer.String()}, Declared: call(c.block), Penalties: len(c.block.Penalty.S),
			Reason: fmt.Sprintf("declared by the file (%s); the graph computes the same values on %d rows", declarationFormat, probeRows),
		})
	}
}
