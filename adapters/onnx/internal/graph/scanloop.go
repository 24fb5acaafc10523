package graph

import "fmt"

// scanNode is a Scan (opset 9 on) as its attributes say. Its sequences are read along an
// axis each, an element a pass.
type scanNode struct {
	sequences             []*Value
	axes, backwards       []int64 // of the sequences
	outAxes, outBackwards []int64 // of the scan outputs
}

// scan expands a Scan, whose sequences have a fixed length.
func (c *checker) scan(n *Node) error {
	if n.Version < 9 {
		return c.scan8(n)
	}
	g, err := c.subgraph(n, "body")
	if err != nil {
		return err
	}
	count := n.AttrInt("num_scan_inputs", 0)
	if count < 1 || count > int64(len(n.Inputs)) {
		return fmt.Errorf("attribute \"num_scan_inputs\" is %d, and it has %d inputs", count, len(n.Inputs))
	}
	carried := len(n.Inputs) - int(count)
	s := &scanNode{sequences: n.Inputs[carried:]}
	l := &unrolled{checker: c, node: n, state: append([]*Value(nil), n.Inputs[:carried]...)}
	if len(g.Output) < carried {
		return fmt.Errorf("carries %d values, and its subgraph has %d outputs", carried, len(g.Output))
	}
	l.scans = make([][]*Value, len(g.Output)-carried)
	if err := s.read(n, len(l.scans)); err != nil {
		return err
	}
	length, err := c.scanLength(s)
	if err != nil {
		return err
	}
	if length == Batch {
		return c.scanRows(n, g, s, l)
	}
	for i := range length {
		args := append([]*Value(nil), l.state...)
		for k, v := range s.sequences {
			at := i
			if s.backwards[k] != 0 {
				at = length - 1 - i
			}
			e, err := c.pick(n, v, int(s.axes[k]), at)
			if err != nil {
				return err
			}
			args = append(args, e)
		}
		outs, err := c.body(n, g, passLabel(i), args)
		if err != nil {
			return err
		}
		l.pass(outs)
	}
	return l.bind(s.outAxes, s.outBackwards)
}

// read reads the lists of axes and directions, one entry a sequence.
func (s *scanNode) read(n *Node, outputs int) error {
	list := func(name string, count int) ([]int64, error) {
		a, given := n.Attrs[name]
		if !given {
			return make([]int64, count), nil
		}
		if len(a.Ints) != count {
			return nil, fmt.Errorf("attribute %q has %d entries, needs %d", name, len(a.Ints), count)
		}
		return a.Ints, nil
	}
	var err error
	if s.axes, err = list("scan_input_axes", len(s.sequences)); err != nil {
		return err
	}
	if s.backwards, err = list("scan_input_directions", len(s.sequences)); err != nil {
		return err
	}
	if s.outAxes, err = list("scan_output_axes", outputs); err != nil {
		return err
	}
	s.outBackwards, err = list("scan_output_directions", outputs)
	return err
}

// scanLength is the size that the sequences have in common, Batch for the rows.
func (c *checker) scanLength(s *scanNode) (length int, err error) {
	axes := make([]int64, len(s.axes))
	for k, v := range s.sequences {
		if v == nil || v.Type == 0 || c.lifted[v] {
			return 0, fmt.Errorf("sequence %d is no tensor that it can run along", k)
		}
		at, err := Axis(s.axes[k], len(v.Shape))
		if err != nil {
			return 0, err
		}
		axes[k] = int64(at)
		if d := v.Shape[at]; k == 0 {
			length = d
		} else if d != length {
			return 0, fmt.Errorf("its sequences have lengths %d and %d", length, d)
		}
	}
	s.axes = axes
	return length, nil
}
