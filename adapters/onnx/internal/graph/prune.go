package graph

import (
	"fmt"
	"strings"
)

// refuse notes that the outputs of n cannot be computed.
func (c *checker) refuse(n *Node, err error) {
	if c.first == nil {
		c.first = err
	}
	for _, v := range n.Outputs {
		if v != nil {
			c.refused[v] = err
		}
	}
}

// refusedInput is why an input of n cannot be computed; nil if all can.
func (c *checker) refusedInput(n *Node) error {
	for _, v := range n.Inputs {
		if v != nil && c.refused[v] != nil {
			return c.refused[v]
		}
	}
	return nil
}

// prune leaves out the outputs that cannot be computed, as long as one remains that can
// be decomposed, and the nodes that no other output needs.
func (c *checker) prune(nodes []*Node) ([]*Node, error) {
	usable := func(v *Value) bool { return v.Type.Floating() && v.BatchAxis() >= 0 }
	remain := 0
	for _, v := range c.b.outs {
		if c.refused[v] == nil && usable(v) {
			remain++
		}
	}
	var outs []*Value
	for i, v := range c.b.outs {
		err := c.refused[v]
		if err == nil {
			outs = append(outs, v)
			c.declared = append(c.declared, c.b.pb.Output[i])
			continue
		}
		if remain == 0 {
			return nil, c.first
		}
		c.notes = append(c.notes, fmt.Sprintf("output %q is left out, it cannot be computed: %s", v.Name, strings.TrimPrefix(err.Error(), "onnx: ")))
	}
	c.b.outs = outs
	return needed(nodes, outs), nil
}

// needed keeps the nodes that the outputs need.
func needed(nodes []*Node, outs []*Value) []*Node {
	need := map[*Node]bool{}
	mark := func(list []*Value) {
		for _, v := range list {
			if v != nil && v.Producer != nil {
				need[v.Producer] = true
			}
		}
	}
	mark(outs)
	for i := len(nodes) - 1; i >= 0; i-- {
		if need[nodes[i]] {
			mark(nodes[i].Inputs)
		}
	}
	kept := nodes[:0]
	for _, n := range nodes {
		if need[n] {
			kept = append(kept, n)
		}
	}
	return kept
}
