package export

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// tensor is the name that the file has for a tensor of the network. One that is computed
// inside of a node of the file, as the scores of a classifier or the parts of an ensemble of
// trees, is computed beside it once more.
func (c *columns) tensor(name string) (string, error) {
	v, ok := c.graph.Checked().Value(name)
	if !ok {
		return "", fmt.Errorf("the network computes no tensor %q", name)
	}
	return c.value(v, name, 0)
}

// maxInside bounds how far behind a tensor those that the file has may be.
const maxInside = 64

// value is the file's name for v, which is needed for the tensor of that name.
func (c *columns) value(v *graph.Value, of string, depth int) (string, error) {
	switch {
	case v.Const != nil:
		return c.constantOf(v, of)
	case v.InFile() && c.isMaps(v.Name) && v.Producer != nil: // the network has the tensor that maps are made of
		return c.value(v.Producer.Inputs[0], of, depth+1)
	case v.InFile() && c.computes(v.Name):
		return v.Name, nil
	case v.InFile():
		return "", fmt.Errorf("the file has no tensor %q, which the network has: it is another network's file", v.Name)
	case v.Producer == nil || depth > maxInside:
		return "", inside(v, of)
	}
	if done, ok := c.done["inside "+v.Name]; ok {
		return done, nil
	}
	n := v.Producer
	if t, ok := n.Resolved.(*operator.Trees); ok && t.Counts == nil || !ok && !writable(n, c.opset("")) {
		return "", inside(v, of)
	}
	var inputs []string
	for _, in := range n.Inputs {
		x, err := c.value(in, of, depth+1)
		if err != nil {
			return "", err
		}
		inputs = append(inputs, x)
	}
	x, err := c.node(n, v, inputs)
	if err != nil {
		return "", fmt.Errorf("tensor %q: %w", of, err)
	}
	c.done["inside "+v.Name] = x
	return x, nil
}

// node writes a node of the network that the file does not have.
func (c *columns) node(n *graph.Node, v *graph.Value, inputs []string) (string, error) {
	if t, ok := n.Resolved.(*operator.Trees); ok {
		return c.trees(v.Name, inputs[0], n.Inputs[0].Type, t.Ensemble.Forest())
	}
	var attrs []onnxpb.Attr
	for _, name := range []string{"transA", "transB", "axis", "keepdims"} {
		if a, ok := n.Attrs[name]; ok {
			attrs = append(attrs, onnxpb.Int(name, a.Int))
		}
	}
	for _, name := range []string{"alpha", "beta"} {
		if a, ok := n.Attrs[name]; ok {
			attrs = append(attrs, onnxpb.Float(name, a.Float))
		}
	}
	return c.Node(n.Op, v.Name, inputs, attrs...), nil
}

// writable tells whether a node means the same in all opsets that are loaded.
func writable(n *graph.Node, opset int64) bool {
	known := map[string][]string{ // the attributes
		"Gemm": {"transA", "transB", "alpha", "beta"}, "Concat": {"axis"}, "Gather": {"axis"}, "ReduceSum": {"keepdims"},
		"MatMul": nil, "Add": nil, "Sub": nil, "Mul": nil, "Div": nil, "Neg": nil, "Identity": nil, "Sigmoid": nil, "Tanh": nil, "Relu": nil,
	}
	attrs, ok := known[n.Op]
	switch {
	case !ok || n.Domain != "" || n.Op == "Gemm" && len(n.Inputs) < 3 && opset < 11:
		return false
	case n.Op == "ReduceSum" && (n.Version < 13 || opset < 13): // axes were an attribute
		return false
	}
	for name := range n.Attrs {
		if !slices.Contains(attrs, name) {
			return false
		}
	}
	return !slices.ContainsFunc(n.Inputs, func(v *graph.Value) bool {
		return v == nil || !v.Type.Floating() && (v.Const == nil || v.Type != graph.Int64 || opset < 9)
	})
}

// inside refuses a tensor that cannot be computed out of those that the file has.
func inside(v *graph.Value, of string) error {
	what := ""
	if n := v.Producer; n != nil {
		what = fmt.Sprintf(" (%s)", n)
	}
	return fmt.Errorf("tensor %q is not in the file: it is computed inside of a function, a loop, a branch or an operator that stands for several%s; export the network with these written out, or decompose it without writing the file", of, what)
}

func (c *columns) constantOf(v *graph.Value, of string) (string, error) {
	if v.Type == graph.Int64 {
		return c.once("constant "+v.Name, func() string {
			return c.Node("Constant", v.Name, nil, onnxpb.TensorAttr("value", onnxpb.TensorProto_INT64, v.Const.Shape, v.Const.I...))
		}), nil
	}
	kind, ok := map[graph.DType]onnxpb.TensorProto_DataType{graph.Float32: onnxpb.TensorProto_FLOAT, graph.Float64: onnxpb.TensorProto_DOUBLE}[v.Type]
	if !ok {
		return "", inside(v, of)
	}
	return c.once("constant "+v.Name, func() string {
		return c.Node("Constant", v.Name, nil, onnxpb.TensorAttr("value", kind, v.Const.Shape, v.Const.F...))
	}), nil
}
