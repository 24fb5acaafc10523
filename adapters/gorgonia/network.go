package gorgonia

import (
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/pho-go/pho/decompose"
)

// Network is a gorgonia graph for a fixed number of rows, and the nodes of it that a
// Model reads and writes. Node values are float64 or float32.
type Network struct {
	Inputs []Input
	// Eta is the network's own additive predictor, link scale: rows x K, or a vector of
	// rows if K is 1.
	Eta *G.Node
	// Zeta is the deep part of it, likewise. nil: the predictor less its intercept, which
	// is right if the Structure has no blocks, a black box.
	Zeta *G.Node
	// Taps are the hidden units that learned terms read, by name: rows x width.
	Taps map[string]*G.Node
}

// Input is a node that takes data columns: rows x len(Columns), or a vector of rows for
// one column.
type Input struct {
	Node    *G.Node
	Columns []string
}

// Structure is what a graph does not say of itself.
type Structure struct {
	// Predictors names the K predictors.
	Predictors []string
	// Intercepts are the constants of the structured part; nil: zeros.
	Intercepts []float64
	// Blocks are the structured terms of each predictor with their coefficients, as
	// decompose.Model has them; nil: none, a black box.
	Blocks [][]decompose.Block
}

// check requires the nodes of n to have the shapes that rows and s ask for.
func (n *Network) check(s *Structure, rows int) error {
	if n == nil || n.Eta == nil || len(n.Inputs) == 0 {
		return fmt.Errorf("gorgonia: the builder gives no network with inputs and a predictor (Network.Inputs, Network.Eta)")
	}
	k := len(s.Predictors)
	for _, in := range n.Inputs {
		if in.Node == nil || in.Node.Op() != nil {
			return fmt.Errorf("gorgonia: the input of columns %q is not an input node of the graph", in.Columns)
		}
		if err := fits(in.Node, rows, len(in.Columns)); err != nil {
			return fmt.Errorf("gorgonia: input of columns %q: %w", in.Columns, err)
		}
	}
	if err := fits(n.Eta, rows, k); err != nil {
		return fmt.Errorf("gorgonia: predictor: %w", err)
	}
	if n.Zeta == nil {
		if slices.ContainsFunc(s.Blocks, func(b []decompose.Block) bool { return len(b) > 0 }) {
			return fmt.Errorf("gorgonia: a network with structured terms needs Network.Zeta, its deep part")
		}
	} else if err := fits(n.Zeta, rows, k); err != nil {
		return fmt.Errorf("gorgonia: deep part: %w", err)
	}
	for name, t := range n.Taps {
		if t == nil || width(t) < 1 {
			return fmt.Errorf("gorgonia: tap %q is no node of rows and units", name)
		}
		if err := fits(t, rows, width(t)); err != nil {
			return fmt.Errorf("gorgonia: tap %q: %w", name, err)
		}
	}
	return nil
}

// width is the number of values that n has for a row.
func width(n *G.Node) int {
	if s := n.Shape(); s.Dims() == 2 {
		return s[1]
	}
	return 1
}

// fits requires n to be rows x width, or a vector of rows if width is 1.
func fits(n *G.Node, rows, width int) error {
	s := n.Shape()
	if !(s.Dims() == 2 && s[0] == rows && s[1] == width) && !(s.Dims() == 1 && s[0] == rows && width == 1) {
		return fmt.Errorf("node %q has shape %v, want %d rows x %d", n.Name(), s, rows, width)
	}
	if t := n.Dtype(); t != tensor.Float64 && t != tensor.Float32 {
		return fmt.Errorf("node %q holds %v; float64 and float32 are taken", n.Name(), t)
	}
	return nil
}
