package decompose

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/decompose/internal/projection"
)

// resolved are a predictor's blocks as the projection takes them: constraints as
// vectors, penalty scales as numbers, both from the moments.
func (p *plan) resolved(d planned, m *moments.Moments, o *Options) []projection.Block {
	var out []projection.Block
	for _, b := range d.blocks {
		r := projection.Block{
			Beta: b.Coef, Normal: p.normal(b, m), Map: b.Coordinates.toRaw, Norm: p.norm(b, m),
			Penalty: b.Penalty, Standardised: b.Coordinates.standardised, Select: b.Select, DF: o.DF[b.Term.Name()],
			Kept: b.isKept(), Learned: b.Term.Kind() == Learned, Variables: b.variables(),
		}
		if sp, ok := o.SP[b.Term.Name()]; ok {
			r.Penalty.SP = sp
		}
		out = append(out, r)
	}
	return out
}

// normal is the vector that the raw coefficients are orthogonal to; nil: none.
func (p *plan) normal(b Block, m *moments.Moments) []float64 {
	d := b.Term.Dim()
	switch b.Constraint.kind {
	case sumToZero:
		sum := make([]float64, d)
		for _, t := range b.base() {
			at := p.offset[p.index[t]]
			floats.Add(sum, m.Sum[at:at+d])
		}
		return sum
	case treatment:
		reference, at := make([]float64, d), p.offset[p.index[b.Term]]
		reference[max(0, slices.IndexFunc(m.Sum[at:at+d], func(n float64) bool { return n != 0 }))] = 1
		return reference
	case orthogonalTo:
		return b.Constraint.normal
	}
	return nil
}

// norm is the largest row 1-norm of the base basis, or of what stands for it.
func (p *plan) norm(b Block, m *moments.Moments) float64 {
	var norm float64
	terms := b.Coordinates.norm
	if len(terms) == 0 {
		terms = b.base()
	}
	for _, t := range terms {
		norm = math.Max(norm, m.MaxRowNorm[p.index[t]])
	}
	return norm
}

func (b Block) base() []Term {
	if len(b.Base) > 0 {
		return b.Base
	}
	return []Term{b.Term}
}

// variables are those of a smooth, by which nested ones are found: its columns, which
// tell a by variable and its level; nil of other terms.
func (b Block) variables() []string {
	if k := b.Term.Kind(); k != Smooth && k != Tensor {
		return nil
	}
	names := slices.Clone(b.Term.Columns())
	t, ok := b.Term.(interface{ By() (column, level string) })
	if !ok {
		return names
	}
	by, level := t.By()
	if by == "" {
		return names
	}
	if len(names) > 1 {
		names = slices.DeleteFunc(names, func(n string) bool { return n == by })
	}
	for i := range names {
		names[i] += "\x00" + by + "\x00" + level
	}
	return names
}
