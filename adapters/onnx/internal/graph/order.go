package graph

import "fmt"

// read is what the node needs, by number; ok is false beyond the last.
func (n *Node) read(i int) (v *Value, ok bool) {
	if i < len(n.Inputs) {
		return n.Inputs[i], true
	}
	if i -= len(n.Inputs); n.file != nil && i < len(n.file.captures) {
		return n.file.captures[i], true
	}
	return nil, false
}

// needed marks those of the nodes that the outputs need.
func needed(nodes []*Node, outputs []*Value) map[*Node]bool {
	here := make(map[*Node]bool, len(nodes))
	for _, n := range nodes {
		here[n] = true
	}
	needed := map[*Node]bool{}
	var stack []*Node
	visit := func(v *Value) {
		if v != nil && here[v.Producer] && !needed[v.Producer] {
			needed[v.Producer] = true
			stack = append(stack, v.Producer)
		}
	}
	for _, v := range outputs {
		visit(v)
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for i := 0; ; i++ {
			v, ok := n.read(i)
			if !ok {
				break
			}
			visit(v)
		}
	}
	return needed
}

// order returns the nodes the outputs need in topological order: each node
// after what it reads, otherwise in file order. The walk keeps its own stack, so
// deep graphs cost no call depth.
func order(nodes []*Node, outputs []*Value) ([]*Node, error) {
	needed := needed(nodes, outputs)
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
	for _, root := range nodes {
		if !needed[root] || state[root] != white {
			continue
		}
		path := []frame{{n: root}}
		state[root] = grey
		for len(path) > 0 {
			f := &path[len(path)-1]
			v, more := f.n.read(f.next)
			if !more {
				state[f.n] = black
				ordered = append(ordered, f.n)
				path = path[:len(path)-1]
				continue
			}
			f.next++
			if v == nil || !needed[v.Producer] {
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
