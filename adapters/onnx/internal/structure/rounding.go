package structure

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// rounding is the types that data columns are rounded to on their way into the
// network, by column. A column that different inputs would round differently is an
// error: the network would see two numbers where its terms have one.
func rounding(g *graph.Graph, bound [][]string) (map[string]graph.DType, error) {
	types, from := map[string]graph.DType{}, map[string]*graph.Value{}
	for i, v := range g.Inputs {
		t := v.RoundedTo()
		if !t.Floating() {
			continue
		}
		for _, c := range bound[i] {
			if have, ok := types[c]; ok && have != t {
				return nil, fmt.Errorf("onnx: column %q is bound to input %q, which takes %s, and to input %q, which takes %s: these round it differently; bind a copy of the column to one of them",
					c, from[c].Name, have, v.Name, t)
			}
			types[c], from[c] = t, v
		}
	}
	return types, nil
}
