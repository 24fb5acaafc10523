package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// function is one that the model defines.
type function struct {
	*onnxpb.FunctionProto
	opsets map[string]int
	copied int // nodes, those of subgraphs included, to copy for a call; 0: none has references
}

type functionKey struct{ domain, name, overload string }

func readFunctions(m *onnxpb.ModelProto) (map[functionKey]*function, error) {
	functions := map[functionKey]*function{}
	for _, p := range m.Functions {
		key := functionKey{domain(p.Domain), p.Name, p.Overload}
		if functions[key] != nil {
			return nil, fmt.Errorf("onnx: the model defines function %q of domain %q twice", p.Name, p.Domain)
		}
		opsets, err := readOpsets(p.OpsetImport)
		if err != nil {
			return nil, fmt.Errorf("onnx: function %q of domain %q: %w", p.Name, p.Domain, err)
		}
		f := &function{FunctionProto: p, opsets: opsets}
		if slices.ContainsFunc(p.Node, hasReference) {
			f.copied = nodesIn(p.Node)
		}
		functions[key] = f
	}
	return functions, nil
}

// function is the one that n calls, nil if it calls none.
func (c *checker) function(n *Node) *function {
	if n.file == nil {
		return nil
	}
	return c.functions[functionKey{n.Domain, n.Op, n.file.Overload}]
}

// call replaces n by the nodes of the function that it calls.
func (c *checker) call(n *Node, f *function) error {
	if slices.Contains(c.calls, f) {
		return within(n, fmt.Errorf("function %q calls itself (%s)", f.Name, callChain(append(c.calls, f))))
	}
	if len(n.Inputs) > len(f.Input) || len(n.Outputs) > len(f.Output) {
		return within(n, fmt.Errorf("has %d inputs and %d outputs, function %q takes %d and has %d", len(n.Inputs), len(n.Outputs), f.Name, len(f.Input), len(f.Output)))
	}
	if err := c.budget.expand(f.copied + len(f.Input)); err != nil {
		return within(n, err)
	}
	nodes, err := f.bodyFor(n.file.Attribute)
	if err != nil {
		return within(n, err)
	}
	s := &scope{path: n.Name + "/", depth: n.file.scope.depth + 1, opsets: f.opsets, values: map[string]*Value{}, shared: c.shared}
	for i, name := range f.Input {
		s.values[name] = nil // left out
		if i < len(n.Inputs) {
			s.values[name] = n.Inputs[i]
		}
	}
	c.calls = append(c.calls, f)
	outs, err := c.run(s, nodes, f.Output[:len(n.Outputs)])
	c.calls = c.calls[:len(c.calls)-1]
	if err != nil {
		return within(n, err)
	}
	for i, v := range outs {
		c.bind(n, i, v)
	}
	n.file = nil
	return nil
}

func callChain(calls []*function) string {
	var names []string
	for _, f := range calls {
		names = append(names, opName(f.Name))
	}
	return strings.Join(names, " > ")
}

// bodyFor is the function's nodes for a call with these attributes: references to
// attributes of the function are replaced.
func (f *function) bodyFor(given []*onnxpb.AttributeProto) ([]*onnxpb.NodeProto, error) {
	if f.copied == 0 {
		return f.Node, nil
	}
	values := map[string]*onnxpb.AttributeProto{}
	for _, name := range f.Attribute {
		values[name] = nil
	}
	for _, a := range f.AttributeProto {
		values[a.Name] = a
	}
	for _, a := range given {
		if _, known := values[a.Name]; known {
			values[a.Name] = a
		}
	}
	return replaceReferences(f.Node, values)
}

// replaceReferences copies what refers to an attribute; the rest stays as it is. An
// attribute that was not given is left out, so that its default holds.
func replaceReferences(nodes []*onnxpb.NodeProto, values map[string]*onnxpb.AttributeProto) ([]*onnxpb.NodeProto, error) {
	out := slices.Clone(nodes)
	for i, n := range nodes {
		if !hasReference(n) {
			continue
		}
		c := &onnxpb.NodeProto{Name: n.Name, OpType: n.OpType, Domain: n.Domain, Overload: n.Overload, Input: n.Input, Output: n.Output}
		for _, a := range n.Attribute {
			a, err := replaceReference(a, values)
			if err != nil {
				return nil, err
			}
			if a != nil {
				c.Attribute = append(c.Attribute, a)
			}
		}
		out[i] = c
	}
	return out, nil
}

func replaceReference(a *onnxpb.AttributeProto, values map[string]*onnxpb.AttributeProto) (*onnxpb.AttributeProto, error) {
	switch {
	case a.RefAttrName != "":
		v, known := values[a.RefAttrName]
		if !known {
			return nil, fmt.Errorf("attribute %q refers to %q, which the function does not have", a.Name, a.RefAttrName)
		}
		if v == nil {
			return nil, nil
		}
		return &onnxpb.AttributeProto{
			Name: a.Name, Type: v.Type, F: v.F, I: v.I, S: v.S, T: v.T, G: v.G, Floats: v.Floats, Ints: v.Ints, Strings: v.Strings,
			Tensors: v.Tensors, Graphs: v.Graphs, SparseTensor: v.SparseTensor, SparseTensors: v.SparseTensors,
		}, nil
	case a.G != nil && refers(a):
		nodes, err := replaceReferences(a.G.Node, values)
		if err != nil {
			return nil, err
		}
		g := &onnxpb.GraphProto{Name: a.G.Name, Node: nodes, Initializer: a.G.Initializer, Input: a.G.Input, Output: a.G.Output, SparseInitializer: a.G.SparseInitializer}
		return &onnxpb.AttributeProto{Name: a.Name, Type: a.Type, G: g}, nil
	}
	return a, nil
}

// refers reports whether an attribute, or one of its subgraph, refers to one of the
// function.
func refers(a *onnxpb.AttributeProto) bool {
	return a.RefAttrName != "" || slices.ContainsFunc(a.G.GetNode(), hasReference)
}

func hasReference(n *onnxpb.NodeProto) bool { return slices.ContainsFunc(n.Attribute, refers) }

// nodesIn counts nodes, those of subgraphs included.
func nodesIn(nodes []*onnxpb.NodeProto) int {
	count := len(nodes)
	for _, n := range nodes {
		for _, a := range n.Attribute {
			count += nodesIn(a.G.GetNode())
		}
	}
	return count
}
