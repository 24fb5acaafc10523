package structure

import "github.com/pho-go/pho/adapters/onnx/internal/graph"

// insert adds a node to the graph and to what is known of it, and returns its output, named
// after of.
func (d *discovery) insert(of *graph.Value, op string, attrs map[string]graph.Attr, in ...*graph.Value) (*graph.Value, error) {
	if attrs == nil {
		attrs = map[string]graph.Attr{}
	}
	y := graph.NewInner(newName(d.g, of, op), of.Type)
	n := &graph.Node{Name: op + " of " + of.Name, Op: op, Version: 13, Inputs: in, Outputs: []*graph.Value{y}, Attrs: attrs}
	return y, d.append(graph.Extend(d.g, d.dep.table), n)
}

// number is a constant scalar of the type of a tensor.
func (d *discovery) number(of *graph.Value, what string, x float64) *graph.Value {
	return d.matrix(of, what, []float64{x})
}

// matrix is a constant of the type of a tensor.
func (d *discovery) matrix(of *graph.Value, what string, x []float64, shape ...int) *graph.Value {
	c := graph.NewInner(newName(d.g, of, what), of.Type, shape...)
	c.Const = &graph.Tensor{Type: of.Type, Shape: shape, F: x}
	return c
}
