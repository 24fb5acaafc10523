package basis

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/bspline"
	"github.com/pho-go/pho/basis/internal/knot"
	"github.com/pho-go/pho/penalty"
)

// PS is the P-spline basis (Eilers and Marx 1996; Wood 2017, 5.3.3): K B-splines
// of degree m1+1 on equispaced knots over the data range widened by 0.1 % on
// each side, and the squared m2-th differences of adjacent coefficients as
// penalty. Outside the (widened) range the function goes on as a straight line;
// with m1 = 0 it does so on both sides (mgcv 1.8 goes on as a constant on the
// right).
type PS struct {
	K int   // basis dimension, at least m1+2; 0: 10, or what Knots say
	M []int // m1, m2; one value stands for both; nil: 2, 2 (cubic, second differences)
	// Knots, nil: from the data. Two values: the range, widened in the same way.
	// K+m1+2 increasing values: all knots. The data must lie within.
	Knots []float64
}

func (s PS) label() string { return "ps" }

// settings are K, m1 and m2 with defaults filled in.
func (s PS) settings() (k, m1, m2 int, err error) {
	if m1, m2, err = orders(s.label(), s.M); err != nil {
		return 0, 0, 0, err
	}
	k = s.K
	if k == 0 {
		k = 10
		if len(s.Knots) > 2 {
			k = len(s.Knots) - m1 - 2
		}
		if n := len(s.Knots); n == 1 || n > 2 && k < m1+2 {
			return 0, 0, 0, fmt.Errorf("%d knots: ps with m1 = %d takes 2 (the range) or all k + m1 + 2 of them, %d at least", n, m1, 2*m1+4)
		}
	}
	if k < m1+2 || k > maxK {
		return 0, 0, 0, fmt.Errorf("k = %d: ps with m1 = %d takes k from %d to %d", k, m1, m1+2, maxK)
	}
	if m2 < 0 || m2 >= k {
		return 0, 0, 0, fmt.Errorf("m2 = %d: differences of %d coefficients have order 0 to %d", m2, k, k-1)
	}
	if n := len(s.Knots); n != 0 && n != 2 && n != k+m1+2 {
		return 0, 0, 0, fmt.Errorf("%d knots: ps takes 2 (the range) or k + m1 + 2 = %d", n, k+m1+2)
	}
	return k, m1, m2, knot.Check(s.Knots)
}

// orders are the splines' degree less one and the order of the differences in m.
func orders(label string, m []int) (m1, m2 int, err error) {
	m1, m2 = 2, 2
	switch len(m) {
	case 0:
	case 1:
		m1, m2 = m[0], m[0]
	case 2:
		m1, m2 = m[0], m[1]
	default:
		return 0, 0, fmt.Errorf("m has %d values: %s takes m = c(m1, m2), the splines' degree less one and the order of the differences", len(m), label)
	}
	if m1 < 0 || m1+1 > bspline.MaxDegree {
		return 0, 0, fmt.Errorf("m1 = %d: %s takes 0 (broken lines), 1, 2 (cubic) to %d", m1, label, bspline.MaxDegree-1)
	}
	return m1, m2, nil
}

func (s PS) check() error {
	_, _, _, err := s.settings()
	return err
}

func (s PS) scan(column string) columnScan {
	k, _, _, _ := s.settings()
	return scanFew(column, k)
}

func (s PS) build(v *columnScan) (spline, *mat.SymDense, error) {
	k, m1, m2, err := s.settings()
	if err != nil {
		return nil, nil, err
	}
	if err := enough(v, k, m1+2); err != nil {
		return nil, nil, err
	}
	knots := s.Knots
	if len(knots) <= 2 {
		lo, hi := v.Min, v.Max
		if len(knots) == 2 {
			lo, hi = knots[0], knots[1]
		}
		knots = bspline.Equispaced(lo, hi, k, m1+1)
		if knot.Check(knots) != nil {
			return nil, nil, fmt.Errorf("column %q: the range from %v to %v is too wide or too narrow for %d knots in 64-bit numbers: rescale the column", v.column, lo, hi, len(knots))
		}
	}
	b, err := bspline.New(m1+1, slices.Clone(knots))
	if err != nil {
		return nil, nil, fmt.Errorf("column %q: %w", v.column, err)
	}
	if lo, hi := b.Range(); len(s.Knots) > 0 && (v.Min < lo || v.Max > hi) {
		return nil, nil, fmt.Errorf("column %q runs from %v to %v, beyond the knots, which carry splines from %.6g to %.6g: widen knots=", v.column, v.Min, v.Max, lo, hi)
	}
	p, err := penalty.Difference(k, m2)
	return b, p, err
}
