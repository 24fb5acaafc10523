package graph

import (
	"errors"
	"fmt"
	"math"
)

// branch expands an If whose condition is known at load.
func (c *checker) branch(n *Node) error {
	cond := n.Inputs[0]
	if cond == nil {
		return errors.New("input 0 is left out")
	}
	yes, err := c.truth(cond)
	if err != nil {
		return fmt.Errorf("its condition %w; compute both branches and choose row by row with Where", err)
	}
	name := "else_branch"
	if yes {
		name = "then_branch"
	}
	g, err := c.subgraph(n, name)
	if err != nil {
		return err
	}
	outs, err := c.body(n, g, name+"/", nil)
	if err != nil {
		return err
	}
	if len(outs) < len(n.Outputs) {
		return fmt.Errorf("has %d outputs, and its %s %d", len(n.Outputs), name, len(outs))
	}
	for i, v := range outs {
		c.bind(n, i, v)
	}
	return nil
}

func (c *checker) truth(v *Value) (bool, error) {
	switch {
	case v == nil:
		return false, errors.New("is left out")
	case v.Const != nil && v.Type == Bool && len(v.Const.I) == 1:
		return v.Const.I[0] != 0, nil
	case v.Const != nil:
		return false, fmt.Errorf("(%q) must be one truth value, is %s of shape %v", v.Name, v.Type, v.Shape)
	case v.Type == 0:
		return false, fmt.Errorf("(%q) is not computed at inference", v.Name)
	}
	if _, ok := c.sizes[v]; ok {
		return false, fmt.Errorf("(%q) depends on how many rows there are: what a row gives would depend on the others", v.Name)
	}
	return false, fmt.Errorf("(%q) is computed from the rows, and decides for all rows together: what a row gives would depend on the others", v.Name)
}

// loop expands a Loop whose number of passes is known at load.
func (c *checker) loop(n *Node) error {
	g, err := c.subgraph(n, "body")
	if err != nil {
		return err
	}
	if done, err := c.overBags(n, g); done || err != nil {
		return err
	}
	l := &unrolled{checker: c, node: n, state: append([]*Value(nil), n.Inputs[2:]...)}
	scans := len(g.Output) - 1 - len(l.state)
	if scans < 0 || len(g.Input) != 2+len(l.state) {
		return fmt.Errorf("carries %d values, and its subgraph has %d inputs and %d outputs", len(l.state), len(g.Input), len(g.Output))
	}
	l.scans = make([][]*Value, scans)
	if c.countsRows(n) {
		return c.loopOverRows(n, g, l)
	}
	trips, err := c.trips(n)
	if err != nil {
		return err
	}
	going := true
	if n.Inputs[1] != nil {
		if going, err = c.truth(n.Inputs[1]); err != nil {
			return loopError(err)
		}
	}
	for i := 0; going && int64(i) < trips; i++ {
		args := append([]*Value{c.scalar(n, Int64, int64(i)), c.scalar(n, Bool, 1)}, l.state...)
		outs, err := c.body(n, g, passLabel(i), args)
		if err != nil {
			return err
		}
		if going, err = c.truth(outs[0]); err != nil {
			return loopError(err)
		}
		l.pass(outs[1:])
	}
	return l.bind(nil, nil)
}

func loopError(err error) error {
	return fmt.Errorf("its condition %w; export it with a fixed number of passes, in which Where keeps the values of rows that are done", err)
}

// trips is how often a Loop runs at most.
func (c *checker) trips(n *Node) (int64, error) {
	v := n.Inputs[0]
	switch {
	case v == nil && n.Inputs[1] == nil:
		return 0, errors.New("has neither a number of passes nor a condition: it never ends")
	case v == nil:
		return math.MaxInt64, nil
	case v.Const != nil && !v.Type.Floating() && len(v.Const.I) == 1:
		return v.Const.I[0], nil
	case v.Const != nil:
		return 0, fmt.Errorf("its number of passes (%q) must be one integer, is %s of shape %v", v.Name, v.Type, v.Shape)
	case v.Type == 0:
		return 0, c.noTensor(0, v)
	}
	if _, ok := c.sizes[v]; ok {
		return 0, fmt.Errorf("its number of passes (%q) depends on how many rows there are: what a row gives would depend on the others", v.Name)
	}
	return 0, fmt.Errorf("its number of passes (%q) is computed from the rows: what a row gives would depend on the others; export it with a fixed number of passes", v.Name)
}

// unrolled collects what the passes of a Loop or Scan leave.
type unrolled struct {
	*checker
	node  *Node
	state []*Value
	scans [][]*Value // by scan output, by pass
}

// pass takes the outputs of a pass: state, then what the scan outputs gather.
func (l *unrolled) pass(outs []*Value) {
	l.state = outs[:len(l.state):len(l.state)]
	for k := range l.scans {
		l.scans[k] = append(l.scans[k], outs[len(l.state)+k])
	}
}

// bind settles the outputs of the node; what the scan outputs gather is stacked along
// their axes (nil: the first), the last pass first if backwards.
func (l *unrolled) bind(axes, backwards []int64) error {
	for i, v := range l.state {
		if v == nil {
			return fmt.Errorf("value %d that it carries is left out", i)
		}
		l.checker.bind(l.node, i, v)
	}
	for k, parts := range l.scans {
		i := len(l.state) + k
		if i >= len(l.node.Outputs) || l.node.Outputs[i] == nil || len(parts) == 0 {
			continue
		}
		if k < len(backwards) && backwards[k] != 0 {
			parts = reversed(parts)
		}
		var axis int64
		if k < len(axes) {
			axis = axes[k]
		}
		v, err := l.join(l.node, parts, axis, true)
		if err != nil {
			return err
		}
		l.checker.bind(l.node, i, v)
	}
	return nil
}

func reversed(list []*Value) []*Value {
	out := make([]*Value, len(list))
	for i, v := range list {
		out[len(list)-1-i] = v
	}
	return out
}
