package structure

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// treeSum is what a predictor adds of the trees on one set of columns, wherever in the
// graph they are.
type treeSum struct {
	atoms []Element
	coef  []float64
	trees int
}

// equal reports whether two sums are one.
func (s *treeSum) equal(o *treeSum) bool {
	return slices.Equal(s.atoms, o.atoms) && slices.Equal(s.coef, o.coef)
}

// mergeTrees makes one atom of the parts of all ensembles that a predictor adds up on a
// set of columns: a sum over trees is one number, also where a file has the trees in
// several nodes. The nodes that add up are added to the graph, which is one
// of SplitTrees and nobody else's.
func (d *discovery) mergeTrees() error {
	if len(d.declaredDeep) > 0 || slices.ContainsFunc(d.claims, func(c []claim) bool { return len(c) > 0 }) {
		return nil // the file names the atoms
	}
	var sums []*treeSum
	byFirst := map[Element][]*treeSum{}
	of := make([]map[Element]*treeSum, len(d.found)) // by predictor and atom
	for k, f := range d.found {
		of[k] = map[Element]*treeSum{}
		for _, s := range d.treeSums(f.u) {
			alike := byFirst[s.atoms[0]]
			if i := slices.IndexFunc(alike, s.equal); i >= 0 {
				s = alike[i]
			} else {
				byFirst[s.atoms[0]] = append(alike, s)
				sums = append(sums, s)
			}
			for _, a := range s.atoms {
				of[k][a] = s
			}
		}
	}
	merged, err := d.addTreeSums(sums)
	if merged == nil || err != nil {
		return err
	}
	for k := range d.found {
		d.found[k].u = d.found[k].u.merge(of[k], merged)
	}
	return nil
}

// treeSums lists the sums of several atoms, in the order of their first atoms. It marks
// atoms whose predictor has trees on several sets of columns: see isPart.
func (d *discovery) treeSums(u unrolled) []*treeSum {
	type key struct {
		set int32
		f   forced
		t   graph.DType
	}
	by := map[key]*treeSum{}
	var list []*treeSum
	sets := map[int32]bool{}
	for i, a := range u.atoms {
		trees := d.treesOf([]Element{a})
		if trees == 0 {
			continue
		}
		k := key{d.set(a), d.class[a], a.Value.Type}
		sets[k.set] = true
		s := by[k]
		if s == nil {
			s = &treeSum{}
			by[k], list = s, append(list, s)
		}
		s.atoms, s.coef, s.trees = append(s.atoms, a), append(s.coef, u.coef[i]), s.trees+trees
	}
	if len(sets) > 1 {
		for _, s := range list {
			for _, a := range s.atoms {
				d.parts[a] = true
			}
		}
	}
	return slices.DeleteFunc(list, func(s *treeSum) bool { return len(s.atoms) < 2 })
}

// merge is u with one atom in place of those of each sum.
func (u unrolled) merge(of map[Element]*treeSum, merged map[*treeSum]Element) unrolled {
	out := unrolled{constant: u.constant, path: u.path}
	for i, a := range u.atoms {
		s := of[a]
		switch {
		case s == nil:
			out.atoms, out.coef = append(out.atoms, a), append(out.coef, u.coef[i])
		case s.atoms[0] == a:
			out.atoms, out.coef = append(out.atoms, merged[s]), append(out.coef, 1)
		}
	}
	return out
}

// addTreeSums adds the nodes that compute the sums, type by type, and gives the element
// that each is; nil: there are none, or too many.
func (d *discovery) addTreeSums(sums []*treeSum) (map[*treeSum]Element, error) {
	byType := map[graph.DType][]*treeSum{}
	for _, s := range sums {
		t := s.atoms[0].Value.Type
		byType[t] = append(byType[t], s)
	}
	merged := map[*treeSum]Element{}
	for _, t := range []graph.DType{graph.Float32, graph.Float64} {
		own, most := byType[t], 0
		for _, s := range own {
			most = max(most, len(s.atoms))
		}
		if len(own) == 0 {
			continue
		}
		if most > maxSummands/len(own) {
			d.note("the trees of several ensembles on a set of columns stay several basis columns: %d sums of up to %d parts are more than %d numbers", len(own), most, maxSummands)
			return nil, nil
		}
		y, err := d.addSums(own, most)
		if err != nil {
			return nil, err
		}
		for i, s := range own {
			el := Element{y, i}
			merged[s] = el
			d.treeCount[el], d.class[el], d.parts[el] = s.trees, d.class[s.atoms[0]], d.parts[s.atoms[0]]
		}
	}
	return merged, nil
}

// maxSummands bounds the numbers of a row that are added up.
const maxSummands = 1 << 16

// addSums adds the nodes for sums of one type of up to most parts: all parts, those of
// each sum, times their coefficients, added up. Sums of fewer repeat a part, times 0.
func (d *discovery) addSums(sums []*treeSum, most int) (*graph.Value, error) {
	var in []*graph.Value
	first, width := map[*graph.Value]int{}, 0
	index, coef := make([]int64, len(sums)*most), make([]float64, len(sums)*most)
	for k, s := range sums {
		for i := range most {
			a := s.atoms[0]
			if i < len(s.atoms) {
				a, coef[k*most+i] = s.atoms[i], s.coef[i]
			}
			if _, known := first[a.Value]; !known {
				first[a.Value] = width
				in, width = append(in, a.Value), width+a.Value.Width()
			}
			index[k*most+i] = int64(first[a.Value] + a.Index)
		}
	}
	w := treeSumWriter{d: d, of: in[0], name: fmt.Sprintf("the sums of %s of trees", graph.Plural(len(in), "ensemble"))}
	table := []int{len(sums), most}
	parts := in[0]
	if len(in) > 1 {
		parts = w.add("Concat", []int{width}, "axis", 1, in...)
	}
	gathered := w.add("Gather", table, "axis", 1, parts, w.constant("index", graph.Tensor{Type: graph.Int64, Shape: table, I: index}))
	weighed := w.add("Mul", table, "", 0, gathered, w.constant("coefficients", graph.Tensor{Type: in[0].Type, Shape: table, F: coef}))
	y := w.add("ReduceSum", table[:1], "keepdims", 0, weighed, w.constant("last", graph.Tensor{Type: graph.Int64, Shape: []int{1}, I: []int64{2}}))
	return y, w.err
}

// treeSumWriter adds nodes after the tensor of.
type treeSumWriter struct {
	d    *discovery
	of   *graph.Value
	name string
	err  error
}

// add adds a node with one attribute; "": it has none.
func (w *treeSumWriter) add(op string, row []int, attr string, value int64, in ...*graph.Value) *graph.Value {
	n := &graph.Node{Name: w.name, Op: op, Version: 13, Inputs: in, Attrs: map[string]graph.Attr{}}
	if attr != "" {
		n.Attrs[attr] = graph.Attr{Int: value}
	}
	y := graph.NewInner(newName(w.d.g, w.of, op), w.of.Type, append([]int{graph.Batch}, row...)...)
	n.Outputs = []*graph.Value{y}
	if w.err == nil {
		w.err = w.d.append(graph.Extend(w.d.g, w.d.dep.table), n)
	}
	return y
}

func (w *treeSumWriter) constant(what string, t graph.Tensor) *graph.Value {
	c := graph.NewInner(newName(w.d.g, w.of, what), t.Type, t.Shape...)
	c.Const = &t
	return c
}

// append adds a node to the graph and to what is known of it.
func (d *discovery) append(r *graph.Rewrite, n *graph.Node) error {
	if err := r.Add(n); err != nil {
		return err
	}
	d.order[n.Outputs[0]] = len(d.order)
	d.dep.Rules = append(d.dep.Rules, operator.Rule{})
	return d.dep.node(len(d.dep.Rules)-1, n)
}
