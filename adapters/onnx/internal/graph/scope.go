package graph

import (
	"fmt"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// fileNode is a node as the file has it, with its scope and captured values, which Node lacks.
type fileNode struct {
	*onnxpb.NodeProto
	scope    *scope
	captures []*Value // what its subgraphs read from outside
}

// scope is where the nodes of a graph, subgraph or function find what they read.
type scope struct {
	outer  *scope // whose values a subgraph reads, too; nil: of none
	path   string // stands before the names of nodes and values; "" in the main graph
	depth  int    // of subgraphs and functions within each other
	opsets map[string]int
	values map[string]*Value
	shared *shared
}

// shared is what all scopes of a file share.
type shared struct {
	budget *budget
	names  map[string]int                  // of all values, with how often they were asked for
	free   map[*onnxpb.GraphProto][]string // see freeNames
}

// unique is a name that no other value has: name itself, if it is free.
func (s *shared) unique(name string) string {
	for {
		s.names[name]++
		n := s.names[name]
		if n == 1 {
			return name
		}
		name = fmt.Sprintf("%s#%d", name, n)
	}
}

func (s *scope) find(name string) (*Value, bool) {
	for ; s != nil; s = s.outer {
		if v, ok := s.values[name]; ok {
			return v, true
		}
	}
	return nil, false
}

// connect creates the nodes of a graph and the values they produce, in file order. It
// leaves to the caller what they cost.
func (s *scope) connect(file []*onnxpb.NodeProto) ([]*Node, error) {
	nodes := make([]*Node, len(file))
	producers := map[string]*Node{}
	for i, p := range file {
		n := &Node{Index: i, Name: p.Name, Op: p.OpType, Domain: domain(p.Domain), file: &fileNode{NodeProto: p, scope: s}, Texts: s.shared.budget.texts}
		if n.Name == "" && len(p.Output) > 0 {
			n.Name = p.Output[0]
		}
		n.Name = s.path + n.Name
		version, ok := s.opsets[n.Domain]
		if !ok {
			return nil, fmt.Errorf("onnx: %s is of domain %q, which the model does not import", n.String(), p.Domain)
		}
		n.Version = version
		for _, name := range p.Output {
			if name == "" {
				n.Outputs = append(n.Outputs, nil)
				continue
			}
			if old := producers[name]; old != nil {
				return nil, fmt.Errorf("onnx: %s and %s both produce %q", old.String(), n.String(), name)
			}
			if _, ok := s.values[name]; ok {
				return nil, fmt.Errorf("onnx: %s produces %q, which is already an input or initializer", n.String(), name)
			}
			producers[name] = n
			n.Outputs = append(n.Outputs, &Value{Name: s.shared.unique(s.path + name), Producer: n, inner: s.path != ""})
		}
		nodes[i] = n
	}
	for i, n := range nodes {
		for k, v := range n.Outputs {
			if v != nil {
				s.values[file[i].Output[k]] = v
			}
		}
	}
	for _, n := range nodes {
		if err := s.link(n); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// link finds what a node and its subgraphs read.
func (s *scope) link(n *Node) error {
	for _, name := range n.file.Input {
		if name == "" {
			n.Inputs = append(n.Inputs, nil)
			continue
		}
		v, ok := s.find(name)
		if !ok {
			return fmt.Errorf("onnx: %s reads %q, which nothing produces", n.String(), name)
		}
		n.Inputs = append(n.Inputs, v)
	}
	for _, a := range n.file.Attribute {
		for _, name := range s.shared.freeNames(a.G) {
			v, ok := s.find(name)
			if !ok {
				return fmt.Errorf("onnx: %s reads %q in its subgraph %q, which nothing produces", n.String(), name, a.Name)
			}
			n.file.captures = append(n.file.captures, v)
		}
	}
	return nil
}

// freeNames lists the outer values that a subgraph and its nested subgraphs read, in the order
// of reading.
func (s *shared) freeNames(g *onnxpb.GraphProto) []string {
	if g == nil {
		return nil
	}
	if known, ok := s.free[g]; ok {
		return known
	}
	var free []string
	own := map[string]bool{"": true}
	for _, p := range g.Input {
		own[p.Name] = true
	}
	for _, p := range g.Initializer {
		own[p.Name] = true
	}
	for _, n := range g.Node {
		for _, name := range n.Output {
			own[name] = true
		}
	}
	read := func(name string) {
		if !own[name] {
			own[name] = true
			free = append(free, name)
		}
	}
	for _, n := range g.Node {
		for _, name := range n.Input {
			read(name)
		}
		for _, a := range n.Attribute {
			for _, name := range s.freeNames(a.G) {
				read(name)
			}
		}
	}
	for _, p := range g.Output {
		read(p.Name)
	}
	s.free[g] = free
	return free
}
