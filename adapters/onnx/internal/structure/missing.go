package structure

import (
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// missing marks, of a network that has a value for NaN somewhere, the columns that may be NaN: each way from them to a
// predictor leads through a node that has a value for it (an imputer, a tree, a comparison,
// which is false) or through a choice by what such nodes say of the column, whatever other
// nodes make of NaN. Whether a choice takes the other branch, a row shows: a predictor that
// is NaN is an error there.
// It is not told by whether a result is finite: max(NaN, 0) may be 0.
func (d *discovery) missing() ([]bool, error) {
	may := make([]bool, len(d.s.Columns))
	takes := func(n *graph.Node, v *graph.Value) bool {
		e := d.dep.table.Of(n)
		return e != nil && v.Const == nil && (e.Missing != nil && e.Missing(n, v) || d.dep.table.Is(n, graph.Comparing))
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
		may[c] = !stops.sets.contains(reach, c)
	}
	return may, nil
}

// chosen are the columns that element e of a Where has no value without: the columns of the
// chosen numbers, except where the condition tests them for NaN, and the columns that the
// condition itself needs.
func (d *dependencies) chosen(n *graph.Node, r operator.Rule, e int) int32 {
	numbers, needs, knows := int32(0), int32(0), int32(0)
	r.Each(0, e, func(k, ie int, _ float64) {
		switch {
		case k == operator.Itself || n.Inputs[k].Const != nil:
		case k > 0:
			numbers = d.sets.union(numbers, d.reads(n, n.Inputs[k]).at(ie))
		default:
			needs = d.of[n.Inputs[0]].at(ie)
			knows = d.sets.minus(d.whole[n.Inputs[0]].at(ie), needs)
		}
	})
	return d.sets.union(d.sets.minus(numbers, knows), needs)
}

// again walks the graph once more, passing over what passesOver says.
func (d *dependencies) again(passesOver func(n *graph.Node, v *graph.Value) bool) (*dependencies, error) {
	own := &dependencies{
		graph: d.graph, table: d.table, limits: d.limits, sets: d.sets, tensors: d.tensors, Rules: make([]operator.Rule, len(d.Rules)),
		of: map[*graph.Value]dependence{}, passesOver: passesOver, undefined: d.undefined, whole: d.of,
	}
	for _, v := range d.graph.Inputs {
		own.of[v] = d.of[v]
	}
	return own, own.walk()
}

// mayBeUndefined lists the tensors that may be NaN where the columns hold numbers (the
// logarithm of a negative one): times 0 they are NaN still, and a node that tells NaN from
// numbers sees that. nil if the graph has no such node.
func (d *dependencies) mayBeUndefined() map[*graph.Value]bool {
	tells := false
	undefined := map[*graph.Value]bool{}
	for _, n := range d.graph.Nodes {
		e := d.table.Of(n)
		if e == nil {
			continue
		}
		from := false
		tells = tells || d.table.Is(n, graph.Comparing) && len(n.Inputs) == 2 && n.Inputs[0] == n.Inputs[1]
		for _, v := range n.Inputs {
			heals := e.Missing != nil && v != nil && e.Missing(n, v)
			tells = tells || heals
			from = from || undefined[v] && !heals
		}
		from = from || e.Operator.Is&graph.Undefined != 0
		for _, v := range n.Outputs {
			if v != nil && from {
				undefined[v] = true
			}
		}
	}
	if !tells {
		return nil
	}
	return undefined
}
