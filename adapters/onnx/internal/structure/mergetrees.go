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
// several nodes. The atoms are columns of a product that is added to the graph, which is
// one of SplitTrees and nobody else's.
func (d *discovery) mergeTrees() error {
	if len(d.declaredDeep) > 0 || slices.ContainsFunc(d.claims, func(c []claim) bool { return len(c) > 0 }) {
		return nil // the file names the atoms
	}
	var sums []*treeSum
	of := make([]map[Element]*treeSum, len(d.found)) // by predictor and atom
	for k, f := range d.found {
		of[k] = map[Element]*treeSum{}
		for _, s := range d.treeSums(f.u) {
			if i := slices.IndexFunc(sums, s.equal); i >= 0 {
				s = sums[i]
			} else {
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
		d.found[k].u = d.found[k].u.merge(of[k], sums, merged)
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

// merge is u with atom i of merged in place of those of sums[i].
func (u unrolled) merge(of map[Element]*treeSum, sums []*treeSum, merged []Element) unrolled {
	out := unrolled{constant: u.constant, path: u.path}
	for i, a := range u.atoms {
		s := of[a]
		switch {
		case s == nil:
			out.atoms, out.coef = append(out.atoms, a), append(out.coef, u.coef[i])
		case s.atoms[0] == a:
			out.atoms, out.coef = append(out.atoms, merged[slices.Index(sums, s)]), append(out.coef, 1)
		}
	}
	return out
}

// addTreeSums adds a node that concatenates the parts and, for each type of number, a
// product that adds them up. It gives the element that each sum is; nil: there are none,
// or too many for a matrix.
func (d *discovery) addTreeSums(sums []*treeSum) ([]Element, error) {
	merged := make([]Element, len(sums))
	for _, t := range []graph.DType{graph.Float32, graph.Float64} {
		var own []*treeSum
		for _, s := range sums {
			if s.atoms[0].Value.Type == t {
				own = append(own, s)
			}
		}
		if len(own) == 0 {
			continue
		}
		y, err := d.addProduct(own, t)
		if y == nil || err != nil {
			return nil, err
		}
		for e, s := range own {
			el := Element{y, e}
			merged[slices.Index(sums, s)] = el
			d.treeCount[el], d.class[el], d.parts[el] = s.trees, d.class[s.atoms[0]], d.parts[s.atoms[0]]
		}
	}
	if len(sums) == 0 || slices.Contains(merged, Element{}) {
		return nil, nil
	}
	return merged, nil
}

// addProduct adds the nodes for sums of one type.
func (d *discovery) addProduct(sums []*treeSum, t graph.DType) (*graph.Value, error) {
	var in []*graph.Value
	first, width, ensembles := map[*graph.Value]int{}, 0, 0
	for _, s := range sums {
		for _, a := range s.atoms {
			if _, known := first[a.Value]; !known {
				first[a.Value] = width
				in = append(in, a.Value)
				width += a.Value.Width()
				ensembles++
			}
		}
	}
	if width > maxPartWeights/len(sums) {
		return nil, nil
	}
	weights := make([]float64, width*len(sums))
	for k, s := range sums {
		for i, a := range s.atoms {
			weights[(first[a.Value]+a.Index)*len(sums)+k] = s.coef[i]
		}
	}
	name := fmt.Sprintf("the sums of %s of trees", graph.Plural(ensembles, "ensemble"))
	r := graph.Extend(d.g, d.dep.table)
	parts := in[0]
	if len(in) > 1 {
		parts = newValue(d.g, in[0], "all", t, width)
		concat := &graph.Node{Name: "the parts of trees for " + name, Op: "Concat", Version: 13, Inputs: in, Outputs: []*graph.Value{parts}, Attrs: map[string]graph.Attr{"axis": {Int: 1}}}
		if err := d.append(r, concat); err != nil {
			return nil, err
		}
	}
	y := newValue(d.g, in[0], "sums", t, len(sums))
	product := &graph.Node{Name: name, Op: "Gemm", Version: 13, Inputs: []*graph.Value{parts, newConstant(d.g, in[0], "coefficients", weights, width, len(sums))}, Outputs: []*graph.Value{y}, Attrs: map[string]graph.Attr{}}
	return y, d.append(r, product)
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
