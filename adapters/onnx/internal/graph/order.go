package graph

import "fmt"

// connect creates the nodes and the values they produce.
func (b *builder) connect() error {
	producers := map[string]*Node{}
	for i, p := range b.pb.Node {
		n := &Node{Index: i, Name: p.Name, Op: p.OpType, Domain: domain(p.Domain), Texts: b.budget.texts}
		if n.Name == "" && len(p.Output) > 0 {
			n.Name = p.Output[0]
		}
		version, ok := b.opsets[n.Domain]
		if !ok {
			return fmt.Errorf("onnx: %s is of domain %q, which the model does not import", n.String(), p.Domain)
		}
		n.Version = version
		for _, name := range p.Output {
			if name == "" {
				n.Outputs = append(n.Outputs, nil)
				continue
			}
			if old := producers[name]; old != nil {
				return fmt.Errorf("onnx: %s and %s both produce %q", old.String(), n.String(), name)
			}
			if _, ok := b.values[name]; ok {
				return fmt.Errorf("onnx: %s produces %q, which is already an input or initializer", n.String(), name)
			}
			producers[name] = n
			n.Outputs = append(n.Outputs, &Value{Name: name, Producer: n})
		}
		b.nodes = append(b.nodes, n)
	}
	for _, n := range b.nodes {
		for _, v := range n.Outputs {
			if v != nil {
				b.values[v.Name] = v
			}
		}
	}
	for i, n := range b.nodes {
		for _, name := range b.pb.Node[i].Input {
			if name == "" {
				n.Inputs = append(n.Inputs, nil)
				continue
			}
			v, ok := b.values[name]
			if !ok {
				return fmt.Errorf("onnx: %s reads %q, which nothing produces", n.String(), name)
			}
			n.Inputs = append(n.Inputs, v)
		}
	}
	if len(b.pb.Output) == 0 {
		return fmt.Errorf("onnx: the graph has no outputs")
	}
	seen := map[*Value]bool{}
	for _, p := range b.pb.Output {
		v, ok := b.values[p.Name]
		if !ok {
			return fmt.Errorf("onnx: graph output %q is produced by nothing", p.Name)
		}
		if seen[v] {
			return fmt.Errorf("onnx: two graph outputs are named %q", p.Name)
		}
		seen[v] = true
		b.outs = append(b.outs, v)
	}
	return nil
}

// order returns the nodes the outputs need in topological order: each node
// after what it reads, otherwise in file order. The walk keeps its own stack, so
// deep graphs cost no call depth.
func (b *builder) order() ([]*Node, error) {
	needed := map[*Node]bool{}
	var stack []*Node
	visit := func(v *Value) {
		if v != nil && v.Producer != nil && !needed[v.Producer] {
			needed[v.Producer] = true
			stack = append(stack, v.Producer)
		}
	}
	for _, v := range b.outs {
		visit(v)
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, v := range n.Inputs {
			visit(v)
		}
	}
	const (
		white = iota
		grey
		black
	)
	type frame struct {
		n    *Node
		next int
	}
	state := make(map[*Node]int, len(needed))
	ordered := make([]*Node, 0, len(needed))
	for _, root := range b.nodes {
		if !needed[root] || state[root] != white {
			continue
		}
		path := []frame{{n: root}}
		state[root] = grey
		for len(path) > 0 {
			f := &path[len(path)-1]
			if f.next == len(f.n.Inputs) {
				state[f.n] = black
				ordered = append(ordered, f.n)
				path = path[:len(path)-1]
				continue
			}
			v := f.n.Inputs[f.next]
			f.next++
			if v == nil || v.Producer == nil {
				continue
			}
			switch p := v.Producer; state[p] {
			case white:
				state[p] = grey
				path = append(path, frame{n: p})
			case grey:
				return nil, fmt.Errorf("onnx: the graph has a cycle through %s and %s (tensor %q)", p.String(), f.n.String(), v.Name)
			}
		}
	}
	return ordered, nil
}
