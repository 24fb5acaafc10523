package structure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// maxCells bounds the combinations of codes that a term has a column for.
const maxCells = 1 << 16

// coded is a factor of a predictor: atoms that are functions of codes, each of which chooses
// a row of a table (an embedding, or the table of a wide part), alone or crossed; or sums over trees that
// depend on columns alone of which the file names all categories. Whatever
// the numbers in the table, what the atoms can be is any function of the level, so that the
// basis is an indicator of each level and the tables say where its coefficients begin.
type coded struct {
	set     int32
	atoms   []Element
	coef    []float64
	block   decompose.Block
	refused bool // the network fails at some combination: a table has no row for it
}

// findCoded takes the atoms that are functions of codes out of the predictors. A term of
// several columns has all combinations of their codes.
func (d *discovery) findCoded() error {
	d.coded = make([][]coded, len(d.found))
	if d.o.Factor == nil || d.o.NoStructure {
		return nil
	}
	labels, err := d.o.Levels()
	if err != nil {
		return err
	}
	if len(labels) == 0 && !slices.ContainsFunc(d.g.Nodes, func(n *graph.Node) bool { return table(n) != nil }) {
		return nil
	}
	codes, err := d.codes()
	if err != nil || len(codes) == 0 && len(labels) == 0 {
		return err
	}
	besides, err := d.dep.again(func(n *graph.Node, v *graph.Value) bool { return table(n) != nil && n.Inputs[1] == v })
	if err != nil {
		return err
	}
	named := d.categories(labels)
	terms := map[int32]decompose.Term{}
	for k := range d.found {
		for i, el := range d.found[k].u.atoms {
			set := d.set(el)
			trees := d.treesOf([]Element{el}) > 0
			if _, linear := d.columnOf(el); linear || trees && !d.isCoded(el, set, named) || !trees && (besides.of[el.Value].at(el.Index) != 0 || !d.isCoded(el, set, codes)) {
				continue
			}
			at := slices.IndexFunc(d.coded[k], func(c coded) bool { return c.set == set })
			if at < 0 {
				at = len(d.coded[k])
				d.coded[k] = append(d.coded[k], coded{set: set})
			}
			c := &d.coded[k][at]
			c.atoms, c.coef = append(c.atoms, el), append(c.coef, d.found[k].u.coef[i])
		}
		slices.SortStableFunc(d.coded[k], func(a, b coded) int {
			return slices.Compare(d.dep.sets.members(a.set), d.dep.sets.members(b.set))
		})
		for i := range d.coded[k] {
			c := &d.coded[k][i]
			columns := d.columnNames(c.set)
			own := codes
			if d.treesOf(c.atoms) > 0 {
				own = named
			}
			if terms[c.set] == nil {
				if terms[c.set], err = d.factor(c.set, own, labels); err != nil {
					return fmt.Errorf("onnx: a factor of %s, whose codes the network takes: %w", graph.QuotedList(columns), err)
				}
			}
			c.block = decompose.Block{Term: terms[c.set], Constraint: decompose.Treatment()}
			c.block.Coef, err = d.atCodes(c, own)
			c.refused = err != nil
		}
		d.coded[k] = slices.DeleteFunc(d.coded[k], func(c coded) bool { return c.refused })
	}
	return nil
}

// table is the constant from which a Gather looks up rows by its input; nil for any other node.
func table(n *graph.Node) *graph.Tensor {
	if n.Key() != "Gather" || len(n.Inputs) != 2 || n.Inputs[1] == nil || n.Inputs[1].Const != nil || n.Inputs[0] == nil {
		return nil
	}
	return n.Inputs[0].Const
}

// isCoded tells whether el, an atom of these columns that acts through codes alone, belongs
// to a factor: columns whose codes are known, few enough combinations, and no part of a
// network on all columns that is more than the look-up itself.
func (d *discovery) isCoded(el Element, set int32, codes map[int][]float64) bool {
	if _, declared := d.claimed(el); declared || d.declaredDeep[el.Value] {
		return false
	}
	cells := 1
	for _, c := range d.dep.sets.members(set) {
		if cells *= len(codes[c]); cells > maxCells {
			return false
		}
	}
	size := d.dep.sets.size(set)
	return cells > 1 && size <= d.maxOrder && (set != d.all || isPart(el.Value) || el.Value.Producer != nil && table(el.Value.Producer) != nil)
}

// categories are the codes 0, 1, ... of the columns whose categories the file names, and NaN if rows may lack them.
func (d *discovery) categories(labels map[string][]string) map[int][]float64 {
	codes := map[int][]float64{}
	for c, name := range d.s.Columns {
		for i := range labels[name] {
			codes[c] = append(codes[c], float64(i))
		}
		if d.o.Missing && len(codes[c]) > 0 && !slices.Contains(labels[name], data.MissingLevel) {
			codes[c] = append(codes[c], math.NaN())
		}
	}
	return codes
}

// codes are, by column, the numbers that are rows of every table which is looked up by the
// column alone: of those from 0 to one after its size. A table that has a row for all of
// these (the code is clipped, or hashed) says nothing, and a column without another one has
// no codes. Columns that only look up a table together have those that count its rows in a
// mixed radix, as in row = 4 a + b.
func (d *discovery) codes() (map[int][]float64, error) {
	codes, odd, crossed := map[int][]float64{}, map[int]bool{}, map[int][]float64{}
	alone := map[int]bool{}
	for _, n := range d.g.Nodes {
		t := table(n)
		if t == nil {
			continue
		}
		axis := int(n.Attrs["axis"].Int)
		if axis < 0 {
			axis += len(t.Shape)
		}
		for e := range n.Inputs[1].Width() {
			el := Element{n.Inputs[1], e}
			set := d.set(el)
			if t.Shape[axis] > maxCells || d.ofTensors(set) {
				continue // a tensor is one column, and no code
			}
			if d.dep.sets.size(set) != 1 {
				d.digits(crossed, el, set, t.Shape[axis])
				continue
			}
			c := d.dep.sets.members(set)[0]
			alone[c] = true
			tried, restricted := codes[c]
			if !restricted {
				tried = make([]float64, t.Shape[axis]+2)
				for i := range tried {
					tried[i] = float64(i)
				}
			}
			index, err := d.evaluateRows([]*graph.Value{el.Value}, map[int][]float64{c: tried}, len(tried))
			if err != nil {
				odd[c] = true // some number cannot enter there: it is no plain code
				continue
			}
			var known []float64
			for i, x := range tried {
				if row := index[0][i*el.Value.Width()+e]; row >= 0 && int(row) < t.Shape[axis] {
					known = append(known, x)
				}
			}
			if len(known) < len(tried) {
				codes[c] = known
			}
		}
	}
	for c := range odd {
		delete(codes, c)
	}
	for c, own := range crossed {
		if !alone[c] {
			codes[c] = own
		}
	}
	return codes, nil
}

// digits notes the codes of the columns of set that together are the number of a row, out of
// rows, as the digits of a mixed radix are: each weighs as much as all combinations of those
// that weigh less. All combinations are tried. Where one column has fewer codes in another
// table, these hold.
func (d *discovery) digits(of map[int][]float64, el Element, set int32, rows int) {
	columns := d.dep.sets.members(set)
	row := func(x map[int][]float64, n int) []float64 {
		v, err := d.evaluateRows([]*graph.Value{el.Value}, x, n)
		if err != nil {
			return nil
		}
		out := make([]float64, n)
		for i := range out {
			out[i] = v[0][i*el.Value.Width()+el.Index]
		}
		return out
	}
	units := map[int][]float64{}
	for i, c := range columns {
		units[c] = make([]float64, len(columns))
		units[c][i] = 1
	}
	weights := row(units, len(columns))
	if weights == nil {
		return
	}
	order := make([]int, len(columns))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(weights[i], weights[j]) })
	sizes, weight := make([]int, len(columns)), 1.0
	for at, i := range order {
		next := float64(rows)
		if at+1 < len(order) {
			next = weights[order[at+1]]
		}
		if weights[i] != weight || next <= weight || math.Mod(next, weight) != 0 {
			return
		}
		sizes[i], weight = int(next/weight), next
	}
	all := map[int][]float64{}
	for i, c := range columns {
		for r := range rows {
			all[c] = append(all[c], float64(r/int(weights[i])%sizes[i]))
		}
	}
	found := row(all, rows)
	for r, at := range found {
		if at != float64(r) {
			return
		}
	}
	if found == nil {
		return
	}
	for i, c := range columns {
		if have, ok := of[c]; ok && len(have) <= sizes[i] {
			continue
		}
		of[c] = make([]float64, sizes[i])
		for x := range of[c] {
			of[c][x] = float64(x)
		}
	}
}

// factor is the term of all combinations of the columns' codes.
func (d *discovery) factor(set int32, codes map[int][]float64, labels map[string][]string) (decompose.Term, error) {
	columns := d.columnNames(set)
	levels := make([][]string, len(columns))
	for i, c := range d.dep.sets.members(set) {
		texts := labels[columns[i]]
		for _, x := range codes[c] {
			switch {
			case math.IsNaN(x):
				levels[i] = append(levels[i], data.MissingLevel)
			case texts == nil:
				levels[i] = append(levels[i], data.LevelText(x))
			case int(x) < len(texts):
				levels[i] = append(levels[i], texts[int(x)])
			}
		}
		if texts != nil {
			codes[c] = codes[c][:len(levels[i])] // in ascending order, as texts are
		}
	}
	return d.o.Factor(strings.Join(columns, ":"), columns, levels)
}

// atCodes is what c's atoms add to the predictor at each combination of codes; the last
// column's change fastest.
func (d *discovery) atCodes(c *coded, codes map[int][]float64) ([]float64, error) {
	cells := c.block.Term.Dim()
	x, repeat := map[int][]float64{}, cells
	for _, column := range d.dep.sets.members(c.set) {
		own := codes[column]
		repeat /= len(own)
		for i := range cells {
			x[column] = append(x[column], own[i/repeat%len(own)])
		}
	}
	var want []*graph.Value
	for _, el := range c.atoms {
		if !slices.Contains(want, el.Value) {
			want = append(want, el.Value)
		}
	}
	got, err := d.evaluateRows(want, x, cells)
	if err != nil {
		return nil, err
	}
	sum := make([]float64, cells)
	for a, el := range c.atoms {
		v := got[slices.Index(want, el.Value)]
		for i := range sum {
			sum[i] += c.coef[a] * v[i*el.Value.Width()+el.Index]
		}
	}
	return sum, nil
}

// evaluateRows computes tensors on rows of columns; the columns that are not given are 0.
func (d *discovery) evaluateRows(want []*graph.Value, x map[int][]float64, rows int) ([][]float64, error) {
	var inputs [][]float64
	for _, v := range d.g.Inputs {
		width := v.Width()
		in := make([]float64, rows*width)
		if !isTensor(v, d.columns[v]) { // of those, too, the numbers are not given
			for e, c := range d.columns[v] {
				for r, value := range x[c] {
					in[r*width+e] = value
				}
			}
		}
		inputs = append(inputs, in)
	}
	return d.o.Evaluate(want, inputs, rows)
}

// addCoded takes predictor k's factors out of its atoms, and returns the others.
func (d *discovery) addCoded(k int, u unrolled) unrolled {
	p, info := &d.s.Parts[k], &d.s.Predictors[k]
	of := map[Element]bool{}
	for _, c := range d.coded[k] {
		for _, el := range c.atoms {
			of[el] = true
		}
		t := c.block.Term
		p.Declared = append(p.Declared, c.block)
		tensors, nodes := sourcesOf(c.atoms)
		why := "looks up rows of a table by " + graph.QuotedList(t.Columns())
		if trees := d.treesOf(c.atoms); trees > 0 {
			why = treesReason(trees, t.Columns())
		}
		info.Terms = append(info.Terms, Term{
			Name: t.Name(), Kind: string(t.Kind()), Columns: t.Columns(), Width: t.Dim(), Tensors: tensors, Nodes: nodes,
			Reason: fmt.Sprintf("%s: a factor of %d levels", why, t.Dim()),
		})
	}
	rest := unrolled{constant: u.constant, path: u.path}
	for i, a := range u.atoms {
		if !of[a] {
			rest.atoms, rest.coef = append(rest.atoms, a), append(rest.coef, u.coef[i])
		}
	}
	return rest
}

// factorOf is the name of the factor that an atom belongs to, in any predictor.
func (d *discovery) factorOf(a Element) (string, bool) {
	for _, factors := range d.coded {
		for _, c := range factors {
			if slices.Contains(c.atoms, a) {
				return c.block.Term.Name(), true
			}
		}
	}
	return "", false
}
