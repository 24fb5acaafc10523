package structure

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

type candidate struct {
	eta    Element
	whole  Element // of the output, head and all
	name   string
	output string
	head   string
	passed []*graph.Node
	group  []Element // of the softmax: see normalisedWith
	// probability: eta is the probability of a class, which may be 0 and 1.
	probability bool
	u           unrolled
	// ordinal is what a predictor with the head ordinal needs besides.
	ordinal *Ordinal
}

// forced says what an override decided and which.
type forced struct {
	deep, learned string
	features      string // of a deep part that is of an array
}

// discovery is one run of Discover.
type discovery struct {
	g        *graph.Graph
	o        Options
	maxOrder int
	dep      *dependencies
	columns  map[*graph.Value][]int // by input: the data column of each element, or the one tensor
	order    map[*graph.Value]int   // topological, inputs first
	all      int32                  // columns that any predictor depends on
	whole    map[*graph.Value]int32 // union over a tensor's elements, as needed
	found    []candidate
	ordinals map[*graph.Value]*candidate // outputs of ordered classes; nil: of a predictor that another one has
	claims   [][]claim                   // declared terms of each predictor
	coded    [][]coded                   // factors of each predictor
	// declaredDeep are the tensors that the file says are the deep part's features.
	declaredDeep map[*graph.Value]bool
	class        map[Element]forced // by override
	treeCount    map[Element]int    // trees behind sums over ensembles
	parts        map[Element]bool   // a predictor has trees on other columns, too
	deepCol      map[int]string     // linear columns forced into the deep part, and by what
	s            *Found
}

func newDiscovery(g *graph.Graph, bound [][]string, o Options) (*discovery, error) {
	roundedTo, err := rounding(g, bound)
	if err != nil {
		return nil, err
	}
	if o.MaxOrder == 0 {
		o.MaxOrder = 3
	}
	d := &discovery{
		g: g, o: o, maxOrder: o.MaxOrder,
		columns: map[*graph.Value][]int{}, order: map[*graph.Value]int{},
		ordinals: map[*graph.Value]*candidate{}, class: map[Element]forced{}, treeCount: map[Element]int{}, parts: map[Element]bool{}, deepCol: map[int]string{}, whole: map[*graph.Value]int32{}, declaredDeep: map[*graph.Value]bool{},
		s: &Found{Graph: g, RoundedTo: roundedTo, Unused: []string{}, Notes: []string{}},
	}
	id := map[string]int{}
	columns := make([][]int, len(bound))
	for i, v := range g.Inputs {
		for _, c := range bound[i] {
			if _, known := id[c]; !known {
				id[c] = len(id)
				d.s.Columns = append(d.s.Columns, c)
			}
			columns[i] = append(columns[i], id[c])
		}
		d.columns[v] = columns[i]
		d.order[v] = len(d.order)
		in := Input{Name: v.Name, Type: v.Type.String(), Shape: graph.ShapeText(v.Shape), Columns: bound[i]}
		if isTensor(v, columns[i]) {
			in.Kind, in.Whole = graph.Kind(v), graph.Whole(v, bound[i][0])
		}
		d.s.Inputs = append(d.s.Inputs, in)
	}
	for _, n := range g.Nodes {
		for _, v := range n.Outputs {
			if v != nil {
				d.order[v] = len(d.order)
			}
		}
	}
	d.dep, err = NewDependencies(g, len(d.s.Columns), columns, o.Limits)
	return d, err
}

func (d *discovery) note(format string, args ...any) {
	d.s.Notes = append(d.s.Notes, fmt.Sprintf(format, args...))
}

// columnOf is the data column that an element of an input is; ok is false for other elements,
// and for an element of a tensor, since the column is the whole tensor.
func (d *discovery) columnOf(el Element) (column int, ok bool) {
	columns := d.columns[el.Value]
	if el.Value.Producer != nil || isTensor(el.Value, columns) {
		return 0, false
	}
	return columns[el.Index], true
}

// set is the id of the columns that el depends on.
func (d *discovery) set(el Element) int32 { return d.dep.of[el.Value].at(el.Index) }

func (d *discovery) columnNames(id int32) []string {
	names := []string{}
	for _, c := range d.dep.sets.members(id) {
		names = append(names, d.s.Columns[c])
	}
	return names
}

func (d *discovery) compare(a, b Element) int {
	return cmp.Or(cmp.Compare(d.order[a.Value], d.order[b.Value]), cmp.Compare(a.Index, b.Index))
}

// ofArray reports whether el depends on the array that a column of that name holds.
func (d *discovery) ofArray(el Element, name string) bool {
	c := slices.Index(d.s.Columns, name)
	return c >= 0 && d.dep.sets.contains(d.dep.tensors, c) && d.dep.sets.contains(d.set(el), c)
}

// ofTensors reports whether a tensor is among the columns of a set.
func (d *discovery) ofTensors(set int32) bool { return d.dep.sets.meet(set, d.dep.tensors) }
