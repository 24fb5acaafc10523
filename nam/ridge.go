package nam

import (
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/penalty"
)

// withRidges gives each learned term that has no penalty a ridge on what moves to it, in
// columns of standard deviation 1: the scale of a hidden unit says nothing, for the next
// layer undoes it. Linear terms have no penalty: next to ridges their split is identified.
func withRidges(m decompose.Model) decompose.Model {
	r := &withBlocks{Model: m}
	for k := range m.Predictors() {
		blocks := append([]decompose.Block(nil), m.Blocks(k)...)
		for j := range blocks {
			b := &blocks[j]
			if learned(*b) && len(b.Penalty.S) == 0 && !b.Constraint.Equal(decompose.Kept()) && b.Coordinates.Map() == nil {
				b.Penalty = penalty.Penalty{S: []mat.Symmetric{penalty.Ridge(b.Term.Dim())}}
				b.Coordinates = decompose.Standardised()
			}
		}
		r.blocks = append(r.blocks, blocks)
	}
	return r
}
