package basis

import (
	"slices"

	"github.com/pho-go/pho/basis/internal/bspline"
	"github.com/pho-go/pho/basis/internal/cubic"
)

// Pieces are a basis of one column whose columns are piecewise polynomials: between
// neighbours of Breaks (increasing, at least two) each is a polynomial of at most
// the given degree, outside them of degree Beyond; if Period is not 0, x is taken into the
// interval from the first to the last break before.
type Pieces struct {
	Breaks         []float64
	Degree, Beyond int
	Period         float64
}

// Pieces describes the smooth's basis, before it is multiplied with the by column,
// if any. ok is false for one that is no spline of this package.
func (t *SmoothTerm) Pieces() (p Pieces, ok bool) { return piecesOf(t.basis) }

func piecesOf(basis spline) (p Pieces, ok bool) {
	switch b := basis.(type) {
	case *bspline.Basis:
		p = Pieces{Breaks: b.Breaks(), Degree: b.Degree(), Beyond: 1}
	case *cubic.Natural:
		p = Pieces{Breaks: slices.Clone(b.Knots()), Degree: 3, Beyond: 1}
	case thinPlate:
		s := b.Space()
		if s.D != 1 {
			return p, false
		}
		p = Pieces{Breaks: b.Breaks(), Degree: 2*s.M - 1, Beyond: s.M - 1}
	case *cubic.Cyclic:
		p = periodic(b.Knots(), 3)
	case *bspline.Periodic:
		p = periodic(b.Knots(), b.Degree())
	default:
		return p, false
	}
	p.Breaks = slices.Compact(p.Breaks)
	return p, true
}

func periodic(knots []float64, degree int) Pieces {
	return Pieces{Breaks: slices.Clone(knots), Degree: degree, Beyond: 1, Period: knots[len(knots)-1] - knots[0]}
}

// Plain is the smooth without its by column; t itself if it has none.
func (t *SmoothTerm) Plain() *SmoothTerm {
	if t.by.column == "" {
		return t
	}
	return &SmoothTerm{name: "s(" + t.column + ")", column: t.column, basis: t.basis}
}

// Margins are the marginal bases of a tensor product, each as a smooth of its one
// column. ok is false if one is of several columns or the levels of a factor.
func (t *TensorTerm) Margins() (margins []*SmoothTerm, ok bool) {
	for _, m := range t.margins {
		if m.spline == nil {
			return nil, false
		}
		margins = append(margins, &SmoothTerm{name: "s(" + m.columns[0] + ")", column: m.columns[0], basis: m.spline})
	}
	return margins, true
}

// MarginDims are the dimensions of the marginal bases of a tensor product of one-column bases, which is not
// multiplied by another column; nil: it is another.
func (t *TensorTerm) MarginDims() []int {
	margins, ok := t.Margins()
	if column, _ := t.By(); !ok || column != "" {
		return nil
	}
	dims := make([]int, len(margins))
	for i, m := range margins {
		dims[i] = m.Dim()
	}
	return dims
}
