package structure

import (
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/internal/tree"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// Cuts are, by column, the numbers with which trees and comparisons of the graph compare the column as it is, increasing: from
// each on, the network may compute something else. bound are the columns of each input.
func Cuts(g *graph.Graph, bound [][]string) map[string][]float64 {
	c := &cutter{plain: map[*graph.Value][]string{}, cuts: map[string][]float64{}}
	for i, v := range g.Inputs {
		if len(bound[i]) == v.Width() {
			c.plain[v] = bound[i]
		}
	}
	for _, n := range g.Nodes {
		switch n.Op {
		case "Identity", "Cast":
			c.plain[n.Outputs[0]] = c.plain[n.Inputs[0]]
		case "Concat":
			c.plain[n.Outputs[0]] = c.joined(n)
		case "Less", "LessOrEqual", "Greater", "GreaterOrEqual":
			c.compare(n)
		}
		if t, ok := n.Resolved.(*operator.Trees); ok {
			c.trees(c.plain[n.Inputs[0]], t.Ensemble.Forest())
		}
	}
	for column, cuts := range c.cuts {
		slices.Sort(cuts)
		c.cuts[column] = slices.Compact(cuts)
	}
	return c.cuts
}

type cutter struct {
	plain map[*graph.Value][]string // the columns that tensors of one row of numbers hold as they are
	cuts  map[string][]float64
}

// joined are the columns of a Concat of columns side by side; nil of another.
func (c *cutter) joined(n *graph.Node) (columns []string) {
	if axis := n.Attrs["axis"].Int; axis != 1 && axis != -1 || len(n.Outputs[0].Shape) != 2 {
		return nil
	}
	for _, v := range n.Inputs {
		if c.plain[v] == nil {
			return nil
		}
		columns = append(columns, c.plain[v]...)
	}
	return columns
}

// compare notes the numbers of a comparison of columns with a constant: one, or one for each.
func (c *cutter) compare(n *graph.Node) {
	x, with, below := n.Inputs[0], n.Inputs[1], n.Op == "Less" || n.Op == "GreaterOrEqual" // x < t, x >= t: t is above
	if x.Const != nil {
		x, with, below = with, x, !below
	}
	columns := c.plain[x]
	if with.Const == nil || len(with.Const.F) != 1 && len(with.Const.F) != len(columns) {
		return
	}
	for i, column := range columns {
		c.note(column, with.Const.F[i%len(with.Const.F)], below)
	}
}

// trees notes the numbers of splits.
func (c *cutter) trees(columns []string, f *tree.Forest) {
	for _, n := range f.Nodes {
		if int(n.Feature) >= len(columns) {
			continue
		}
		switch n.Mode {
		case tree.LEQ, tree.GT:
			c.note(columns[n.Feature], n.Value, false)
		case tree.LT, tree.GTE:
			c.note(columns[n.Feature], n.Value, true)
		}
	}
}

// note notes that t, or what is next above it, begins something else.
func (c *cutter) note(column string, t float64, itself bool) {
	if math.IsNaN(t) || math.IsInf(t, 0) {
		return
	}
	if !itself {
		next := float32(t)
		if float64(next) <= t {
			next = math.Nextafter32(next, float32(math.Inf(1)))
		}
		t = float64(next)
	}
	c.cuts[column] = append(c.cuts[column], t)
}
