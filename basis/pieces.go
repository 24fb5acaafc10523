package basis

import "slices"

// Pieces describes a smooth of one column without by, whose columns are piecewise
// polynomials: between neighbours of breaks (increasing, at least two) each column
// is a polynomial of at most the given degree, outside them it goes on as a
// straight line. ok is false for a cyclic smooth, one with a by column, and a
// thin plate spline that does not go on as a straight line.
func (t *SmoothTerm) Pieces() (breaks []float64, degree int, ok bool) {
	if column, _ := t.By(); column != "" {
		return nil, 0, false
	}
	switch b := t.basis.(type) {
	case *pspline:
		breaks, degree = append(breaks, b.lo), b.degree
		for _, k := range b.knots {
			if k > b.lo && k < b.hi {
				breaks = append(breaks, k)
			}
		}
		breaks = append(breaks, b.hi)
	case *cubic:
		breaks, degree = slices.Clone(b.knots), 3
	case *plate:
		if b.d != 1 || b.m != 2 {
			return nil, 0, false
		}
		for _, x := range b.points {
			breaks = append(breaks, x+b.shift[0])
		}
		degree = 3
	default:
		return nil, 0, false
	}
	return slices.Compact(breaks), degree, true
}
