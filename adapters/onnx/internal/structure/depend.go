package structure

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/internal/tree"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// Limits bound discovery. Beyond them whole nodes are treated as one: their
// outputs depend, non-linearly, on the union over their inputs, which is sound
// but coarser.
type Limits struct {
	Links    int // element-to-element links looked at
	SetBytes int // memory of the column sets
	Elements int // of all tensors' rows together
}

func defaultLimits() Limits { return Limits{Links: 1 << 27, SetBytes: 1 << 27, Elements: 1 << 25} }

// dependencies holds, for every element of every tensor of one row, the set of
// data columns it depends on.
type dependencies struct {
	graph    *graph.Graph
	table    operator.Table[float64]
	sets     *columnSets
	tensors  int32           // the set of the columns that are tensors
	Rules    []operator.Rule // by node
	of       map[*graph.Value]dependence
	limits   Limits
	links    int                               // looked at so far
	elements int                               // followed one by one so far
	unrolled int                               // links of all unrollings so far
	ways     map[[2]*graph.Value][]*graph.Node // between tensors: see between
	// passesOver leaves out what a node reads; nil: nothing. See missing.
	passesOver func(n *graph.Node, v *graph.Value) bool
	// whole are the sets without passesOver.
	whole map[*graph.Value]dependence
	// undefined are the tensors that may be NaN where their inputs are numbers, in graphs
	// that tell NaN from numbers.
	undefined map[*graph.Value]bool
	// ranges are those of the targets of ensembles: see values.
	ranges map[*tree.Ensemble][2][]float64
	// coarse lists nodes treated as one, in order.
	coarse []string
}

// dependence is one tensor's sets: a set for each element, or one for all.
type dependence struct {
	each []int32
	all  int32
}

func (d dependence) at(e int) int32 {
	if d.each == nil {
		return d.all
	}
	return d.each[e]
}

// isTensor reports whether an input is one column: a tensor.
func isTensor(input *graph.Value, columns []int) bool { return len(columns) == 1 && input.Width() != 1 }

// common is the set that each element of each of n's variable inputs depends on, or, together, that those of all inputs
// depend on. ok is false if they differ within an input, or between inputs that do not go together. Where tensors are in
// the set, what n computes is of that set too: nothing additive is behind it, so its elements need not be told apart.
// Where nothing is in it neither.
func (d *dependencies) common(n *graph.Node, together bool) (id int32, ok bool) {
	for _, v := range n.Inputs {
		if v == nil || v.Const != nil {
			continue
		}
		dep := d.reads(n, v)
		if dep.each != nil || id != 0 && dep.all != 0 && dep.all != id && !together {
			return 0, false
		}
		id = d.sets.union(id, dep.all)
	}
	return id, id == 0 || d.sets.meet(id, d.tensors)
}

// readsAll reports whether each number that n computes is of numbers of all inputs.
func readsAll(n *graph.Node) bool {
	switch n.Key() {
	case "MatMul", "Add", "Sub", "Mul", "Div":
		return true
	}
	return false
}

// together is the dependence of elements on these sets, one for all if they are the same and have a tensor.
func (d *dependencies) together(ids []int32) dependence {
	if len(ids) == 0 || !d.sets.meet(ids[0], d.tensors) || slices.ContainsFunc(ids, func(id int32) bool { return id != ids[0] }) {
		return dependence{each: ids}
	}
	return dependence{all: ids[0]}
}

// DependsOn reports whether element e of v depends on a column.
func (d *dependencies) DependsOn(v *graph.Value, e, column int) bool {
	return d.sets.contains(d.of[v].at(e), column)
}

// NewDependencies walks the graph once. column gives the data column of each
// element of each input, or the one tensor that is all of them, by position in g.Inputs.
func NewDependencies(g *graph.Graph, columns int, column [][]int, l Limits) (*dependencies, error) {
	if l == (Limits{}) {
		l = defaultLimits()
	}
	d := &dependencies{
		graph:  g,
		table:  operator.NewFloat64(),
		limits: l,
		sets:   newColumnSets(columns),
		Rules:  make([]operator.Rule, len(g.Nodes)),
		of:     map[*graph.Value]dependence{},
		ranges: map[*tree.Ensemble][2][]float64{},
	}
	if columns*(8*d.sets.words+80) > l.SetBytes {
		// Too many columns to tell apart: every element depends on all of them.
		all := d.sets.every()
		for _, v := range g.Inputs {
			d.of[v] = dependence{all: all}
		}
		d.coarse = append(d.coarse, fmt.Sprintf("the inputs (%d columns)", columns))
	}
	for i, v := range g.Inputs {
		if _, done := d.of[v]; done {
			continue
		}
		if isTensor(v, column[i]) {
			id := d.sets.single(column[i][0])
			d.of[v], d.tensors = dependence{all: id}, d.sets.union(d.tensors, id)
			continue
		}
		ids := make([]int32, len(column[i]))
		for e, c := range column[i] {
			ids[e] = d.sets.single(c)
		}
		d.of[v] = dependence{each: ids}
	}
	d.undefined = d.mayBeUndefined()
	return d, d.walk()
}

// walk follows the nodes in order.
func (d *dependencies) walk() error {
	for i, n := range d.graph.Nodes {
		if err := d.node(i, n); err != nil {
			return err
		}
	}
	return nil
}

// reads is what a node's input brings to it.
func (d *dependencies) reads(n *graph.Node, v *graph.Value) dependence {
	if d.passesOver != nil && d.passesOver(n, v) {
		return dependence{}
	}
	return d.of[v]
}

func (d *dependencies) node(i int, n *graph.Node) error {
	r, err := d.table.RuleOf(n)
	if err != nil {
		return err
	}
	d.Rules[i] = r
	if id, ok := d.common(n, readsAll(n)); ok {
		for _, v := range n.Outputs {
			if v != nil {
				d.of[v] = dependence{all: id}
			}
		}
		return nil
	}
	elements := 0
	for _, v := range n.Outputs {
		if v != nil {
			elements += v.Width()
		}
	}
	if r.Each != nil && (elements > d.limits.Elements-d.elements || r.Cost > (d.limits.Links-d.links)/max(1, elements) || d.sets.bytes() > d.limits.SetBytes) {
		d.coarse = append(d.coarse, n.String())
		r = operator.Rule{}
	}
	d.Rules[i] = r
	if r.Each == nil {
		all := int32(0)
		for _, v := range n.Inputs {
			if v == nil || v.Const != nil {
				continue
			}
			dep := d.reads(n, v)
			all = d.sets.union(all, dep.all)
			for _, id := range dep.each {
				all = d.sets.union(all, id)
			}
		}
		for _, v := range n.Outputs {
			if v != nil {
				d.of[v] = dependence{all: all}
			}
		}
		return nil
	}
	d.links += r.Cost * elements
	d.elements += elements
	in := make([]dependence, len(n.Inputs))
	size := make([]int, len(n.Inputs))
	for k, v := range n.Inputs {
		if v != nil {
			in[k], size[k] = d.reads(n, v), v.Width()
		}
	}
	var wrong error
	for o, v := range n.Outputs {
		if v == nil {
			continue
		}
		ids := make([]int32, v.Width())
		for e := range ids {
			if d.passesOver != nil && n.Key() == "Where" {
				ids[e] = d.chosen(n, r, e)
				continue
			}
			r.Each(o, e, func(k, ie int, w float64) {
				if k == operator.Itself {
					return
				}
				if ie < 0 || ie >= size[k] {
					wrong = fmt.Errorf("onnx: %s reads element %d of input %q, which has %d: its shapes do not fit each other", n.String(), ie, n.Inputs[k].Name, size[k])
					return
				}
				if w != 0 || d.undefined[n.Inputs[k]] {
					ids[e] = d.sets.union(ids[e], in[k].at(ie))
				}
			})
		}
		d.of[v] = d.together(ids)
	}
	return wrong
}
