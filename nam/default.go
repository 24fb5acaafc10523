package nam

import (
	"slices"

	"github.com/pho-go/pho/decompose"
)

// Default is the projection of m where nobody asked for one: Learned if m is a neural
// additive model, that is, if a term of its own is learned and has several columns and all
// others are learned or linear; "" for any other model, which has no variant. What a
// formula adds does not count. method is the one asked for: PHO leaves out penalties, and so
// there is none. Several networks have no variant either.
//
// Why Learned, and what the others do: docs/phonam.md, with figures on six data sets. In
// short, projecting on learned bases without a penalty was the worst of three in each
// measure, and splines, though steadier, split every curve in two terms.
func Default(m decompose.Model, method decompose.Method) Variant {
	if _, joined := m.(*decompose.Members); joined || method == decompose.PHO {
		return ""
	}
	several := false
	for k := range m.Predictors() {
		own := slices.DeleteFunc(slices.Clone(m.Blocks(k)), ofFormula)
		for _, b := range own {
			if !learned(b) && b.Term.Kind() != decompose.Linear {
				return ""
			}
			several = several || learned(b) && b.Term.Dim() > 1
		}
	}
	if several {
		return Learned
	}
	return ""
}
