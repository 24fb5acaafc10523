package nam

import (
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/penalty"
)

// ridged gives each learned term a ridge on its increment in standardised columns:
// what a hidden unit is multiplied by is arbitrary, for the next layer undoes it.
// A linear term has no penalty: its split is identified next to ridges.
func ridged(m decompose.Model) decompose.Model {
	r := &rewritten{Model: m}
	for k := range m.Predictors() {
		blocks := append([]decompose.Block(nil), m.Blocks(k)...)
		for j := range blocks {
			b := &blocks[j]
			if learned(*b) && len(b.Penalty.S) == 0 && !b.Constraint.Equal(decompose.Kept()) && b.Coordinates.Map() == nil {
				b.Penalty = penalty.Penalty{S: []*mat.SymDense{penalty.Ridge(b.Term.Dim())}}
				b.Coordinates = decompose.Standardised()
			}
		}
		r.blocks = append(r.blocks, blocks)
	}
	return r
}
