package graph

import (
	"fmt"
	"slices"
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

// refusedInput is why an input of n, or what its subgraphs read, cannot be computed; nil
// if all can.
func (c *checker) refusedInput(n *Node) error {
	for _, v := range slices.Concat(n.Inputs, n.file.captures) {
		if v != nil && c.refused[v] != nil {
			return c.refused[v]
		}
	}
	return nil
}

// checkAll checks the nodes of the main graph. One that cannot be computed takes away the
// outputs that need it (prune).
func (c *checker) checkAll(nodes []*Node) error {
	for i, n := range nodes {
		err := c.refusedInput(n)
		if v := c.choice(n); err != nil && v != nil && c.refused[v] == nil {
			c.bind(n, 0, v)
			continue
		}
		if err == nil {
			err = c.node(n)
		}
		if err != nil {
			c.refuse(n, err)
		}
		nodes[i] = nil
	}
	return c.prune()
}

// prune leaves out the outputs that cannot be computed, as long as one remains that can
// be decomposed.
func (c *checker) prune() error {
	remain := 0
	for _, out := range c.b.outs {
		v := c.resolve(out)
		if c.refused[out] == nil && c.isSequence([]*Value{v}) {
			c.refused[out] = fmt.Errorf("onnx: graph output %q is a sequence or optional, not a tensor; export the tensors in it as outputs of their own", out.Name)
			if c.first == nil {
				c.first = c.refused[out]
			}
		}
		if mask := c.chosen[v]; c.refused[out] == nil && mask != nil {
			c.refused[out] = fmt.Errorf("onnx: graph output %q has a row for each one that the mask %q chooses, not for each that is given; export a choice of fixed size (torch.where, jax.numpy.where) in its place", out.Name, mask.Name)
			if c.first == nil {
				c.first = c.refused[out]
			}
		}
		if o := c.ownRows[v]; c.refused[out] == nil && o != nil {
			if c.refused[out] = o.lost; o.lost == nil {
				c.refused[out] = fmt.Errorf("onnx: graph output %q is computed from the number of the row: what a row gives would depend on its position", out.Name)
			}
			if c.first == nil {
				c.first = c.refused[out]
			}
		}
		if c.refused[out] == nil && v.Type == 0 && v.Const == nil && c.sizes[v].D == nil {
			c.refused[out] = fmt.Errorf("onnx: graph output %q is not computed at inference", out.Name)
			if c.first == nil {
				c.first = c.refused[out]
			}
		}
		if c.refused[out] == nil && v.Type.Floating() && v.BatchAxis() >= 0 {
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
			return c.first
		}
		c.notes = append(c.notes, fmt.Sprintf("output %q is left out, it cannot be computed: %s", v.Name, strings.TrimPrefix(err.Error(), "onnx: ")))
	}
	c.b.outs = outs
	return nil
}
