package structure

import (
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// Element is one number of a tensor's row.
type Element struct {
	Value *graph.Value
	Index int
}

// unrolled is an element as a linear form: constant + sum of coefficient times
// atom. An atom is an element of a graph input or of the output of a node that
// is not linear. Atoms are in topological order and their coefficients not 0.
type unrolled struct {
	constant float64
	atoms    []Element
	coef     []float64
	path     []*graph.Node // the linear nodes passed, in topological order
}

// isLayer reports whether a linear node mixes numbers by weights, as MatMul and Conv do; pools whether it
// mixes them without, as a mean does.
func (d *dependencies) isLayer(n *graph.Node, r operator.Rule) bool {
	return r.Cost > len(n.Inputs) && d.table.Of(n).Weighs
}

func (d *dependencies) pools(n *graph.Node, r operator.Rule) bool {
	return r.Cost > len(n.Inputs) && !d.table.Of(n).Weighs
}

// endsDeep reports whether an unrolling ends at the outputs of n, of which all that is behind depends on
// the same columns, a tensor among them: no further addend is to be found there. What the last layer reads
// are the features that people know as the last hidden layer, after pooling; behind another layer or a mean
// over places there are only more of them.
func (d *dependencies) endsDeep(n *graph.Node, r operator.Rule, belowLayer bool) bool {
	id, ok := d.common(n, false)
	return (belowLayer || d.pools(n, r)) && ok && id != 0
}

// unroll follows el back through linear operators, as reverse-mode
// differentiation would: coefficients of an element used twice add up.
func (d *dependencies) unroll(el Element, weight float64) unrolled {
	return d.unrollAll([]Element{el}, []float64{weight})
}

func (d *dependencies) unrollAll(from []Element, weight []float64) unrolled {
	adjoint := map[*graph.Value][]float64{}
	below := map[*graph.Value]bool{} // a layer reads it, or what is computed from it
	var u unrolled
	add := func(v *graph.Value, e int, w float64) {
		if w == 0 {
			return
		}
		if v.Const != nil {
			u.constant += w * v.Const.At(e)
			return
		}
		a := adjoint[v]
		if a == nil {
			a = make([]float64, v.Width())
			adjoint[v] = a
		}
		a[e] += w
	}
	for i, el := range from {
		add(el.Value, el.Index, weight[i])
	}
	for i := len(d.graph.Nodes) - 1; i >= 0; i-- {
		n, r := d.graph.Nodes[i], d.Rules[i]
		passed, belowLayer := false, slices.ContainsFunc(n.Outputs, func(v *graph.Value) bool { return below[v] })
		for o := len(n.Outputs) - 1; o >= 0; o-- {
			v := n.Outputs[o]
			if v == nil || adjoint[v] == nil {
				continue
			}
			if !r.Linear || r.Each == nil || d.endsDeep(n, r, belowLayer) || !d.affords(n, r, adjoint[v]) {
				continue // its elements stay: they are atoms
			}
			for e, w := range adjoint[v] {
				if w != 0 {
					r.Each(o, e, func(k, ie int, c float64) {
						if k == operator.Itself {
							u.constant += w * c
							return
						}
						add(n.Inputs[k], ie, w*c)
					})
				}
			}
			passed = true
			delete(adjoint, v)
		}
		if passed {
			u.path = append(u.path, n)
			if belowLayer || d.isLayer(n, r) {
				for _, v := range n.Inputs {
					if v != nil {
						below[v] = true
					}
				}
			}
		}
	}
	slices.Reverse(u.path)
	collect := func(v *graph.Value) {
		for e, w := range adjoint[v] {
			if w != 0 {
				u.atoms = append(u.atoms, Element{v, e})
				u.coef = append(u.coef, w)
			}
		}
	}
	for _, v := range d.graph.Inputs {
		collect(v)
	}
	for _, n := range d.graph.Nodes {
		for _, v := range n.Outputs {
			if v != nil {
				collect(v)
			}
		}
	}
	return u
}

// affords counts the links of passing through n. Beyond the budget n is treated
// as if it were not linear.
func (d *dependencies) affords(n *graph.Node, r operator.Rule, adjoint []float64) bool {
	used := 0
	for _, w := range adjoint {
		if w != 0 {
			used++
		}
	}
	if r.Cost > (8*d.limits.Links-d.unrolled)/max(1, used) {
		if label := n.String(); !slices.Contains(d.coarse, label) {
			d.coarse = append(d.coarse, label)
		}
		return false
	}
	d.unrolled += used * r.Cost
	return true
}

// reach lists the atoms that the tensors depend on through linear operators
// alone, whatever the coefficients, no further than those that are used.
func (d *dependencies) reach(from []*graph.Value, used map[Element]bool) []Element {
	seen := map[*graph.Value][]bool{}
	mark := func(v *graph.Value, e int) {
		if v.Const != nil {
			return
		}
		if seen[v] == nil {
			seen[v] = make([]bool, v.Width())
		}
		seen[v][e] = true
	}
	for _, v := range from {
		if v != nil {
			for e := range v.Width() {
				mark(v, e)
			}
		}
	}
	var atoms []Element
	for i := len(d.graph.Nodes) - 1; i >= 0; i-- {
		n, r := d.graph.Nodes[i], d.Rules[i]
		for o := len(n.Outputs) - 1; o >= 0; o-- {
			v := n.Outputs[o]
			for e, on := range seen[v] {
				switch {
				case v == nil || !on:
				case !r.Linear || r.Each == nil || used[Element{v, e}]:
					atoms = append(atoms, Element{v, e})
				default:
					r.Each(o, e, func(k, ie int, w float64) {
						if w != 0 && k != operator.Itself {
							mark(n.Inputs[k], ie)
						}
					})
				}
			}
		}
	}
	for _, v := range d.graph.Inputs {
		for e, on := range seen[v] {
			if on {
				atoms = append(atoms, Element{v, e})
			}
		}
	}
	return atoms
}
