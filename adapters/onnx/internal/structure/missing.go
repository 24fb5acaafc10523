package structure

import (
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// missing marks the columns that may have no value, NaN: each way from them to a
// predictor leads through a node that has a value for it (an imputer, a choice by IsNaN,
// a tree), so that every predictor has one, too, whatever other nodes make of NaN.
func (d *discovery) missing() ([]bool, error) {
	may := make([]bool, len(d.s.Columns))
	takes := func(n *graph.Node, v *graph.Value) bool {
		e := d.dep.table.Of(n)
		return e != nil && e.Missing != nil && v.Const == nil && e.Missing(n, v)
	}
	some := false
	for _, n := range d.g.Nodes {
		for _, v := range n.Inputs {
			some = some || v != nil && takes(n, v)
		}
	}
	if !some {
		return may, nil
	}
	stops, err := d.dep.again(takes)
	if err != nil {
		return nil, err
	}
	reach := int32(0)
	for _, p := range d.found {
		reach = stops.sets.union(reach, stops.of[p.eta.Value].at(p.eta.Index))
	}
	for c := range may {
		may[c] = !stops.sets.contains(reach, c) && d.dep.sets.contains(d.all, c)
	}
	return may, nil
}

// again walks the graph once more, passing over what passesOver says.
func (d *dependencies) again(passesOver func(n *graph.Node, v *graph.Value) bool) (*dependencies, error) {
	own := &dependencies{
		graph: d.graph, table: d.table, limits: d.limits, sets: d.sets, Rules: make([]operator.Rule, len(d.Rules)),
		of: map[*graph.Value]dependence{}, passesOver: passesOver,
	}
	for _, v := range d.graph.Inputs {
		own.of[v] = d.of[v]
	}
	return own, own.walk()
}
