package structure

import (
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// scaled reads an output whose numbers are c exp(z), c > 0, as boosters write a mean of which
// c is the base: it is exp(z + log c). The tensor z + log c is added to the graph; nil: v is
// no such output, or c is 1 everywhere.
func (d *discovery) scaled(v *graph.Value) (*graph.Value, error) {
	var z *graph.Value
	logs, some := make([]float64, v.Width()), false
	for e := range logs {
		f, r := d.dep.read(Element{v, e})
		if !f.is("exp", max(f.scale, 0x1p-1022), 0) {
			return nil, nil
		}
		arg, ok := r.find(f.core.arg)
		if !ok || arg.Index != e || z != nil && arg.Value != z || arg.Value.Const != nil || arg.Value.Width() != v.Width() || arg.Value.Type != v.Type {
			return nil, nil
		}
		z, logs[e] = arg.Value, math.Log(f.scale)
		some = some || logs[e] != 0
	}
	if !some {
		return nil, nil
	}
	shape := z.RowShape()
	return d.insert(v, "Add", nil, z, d.matrix(v, "log", logs, shape...))
}
