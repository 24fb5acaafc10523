package onnx

import (
	"cmp"
	"fmt"
)

type candidate struct {
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

// discovery is one run of Discover.
type discovery struct {
	g        *Graph
	o        discoverOptions
	maxOrder int
	dep      *dependencies
	column   map[element]int  // data column of each input element
	order    map[*Value]int   // topological, inputs first
	all      int32            // columns that any predictor depends on
	whole    map[*Value]int32 // union over a tensor's elements, as needed
	found    []candidate
	claims   [][]claim // declared terms of each predictor
	// declaredDeep are the tensors that the file says are the deep part's features.
	declaredDeep map[*Value]bool
	class        map[element]forced // by override
	deepCol      map[int]string     // linear columns forced into the deep part, and by what
	s            *Found
}

func newDiscovery(g *Graph, bound [][]string, o discoverOptions) (*discovery, error) {
	entry, err := entries(g, bound)
	if err != nil {
		return nil, err
	}
	if o.MaxOrder == 0 {
		o.MaxOrder = 3
	}
	d := &discovery{
		g: g, o: o, maxOrder: o.MaxOrder,
		column: map[element]int{}, order: map[*Value]int{},
		class: map[element]forced{}, deepCol: map[int]string{}, whole: map[*Value]int32{}, declaredDeep: map[*Value]bool{},
		s: &Found{entry: entry, Unused: []string{}, Notes: []string{}},
	}
	id := map[string]int{}
	columns := make([][]int, len(bound))
	for i, v := range g.Inputs {
		for e, c := range bound[i] {
			if _, known := id[c]; !known {
				id[c] = len(id)
				d.s.columns = append(d.s.columns, c)
			}
			columns[i] = append(columns[i], id[c])
			d.column[element{v, e}] = id[c]
		}
		d.order[v] = len(d.order)
		d.s.Inputs = append(d.s.Inputs, sInput{Name: v.Name, Type: v.Type.String(), Shape: ShapeText(v.Shape), Columns: bound[i]})
	}
	for _, n := range g.Nodes {
		for _, v := range n.Outputs {
			if v != nil {
				d.order[v] = len(d.order)
			}
		}
	}
	d.dep, err = newDependencies(g, len(d.s.columns), columns, o.Limits)
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

func (d *discovery) compare(a, b element) int {
	return cmp.Or(cmp.Compare(d.order[a.value], d.order[b.value]), cmp.Compare(a.index, b.index))
}
