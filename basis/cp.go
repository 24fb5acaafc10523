package basis

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/bspline"
	"github.com/pho-go/pho/basis/internal/knot"
)

// CP is the cyclic P-spline basis: K periodic B-splines of degree m1+1 on K
// equispaced intervals of the period, and the squared m2-th differences around
// the circle as penalty (Eilers and Marx 1996; Wood 2017, 5.3.3). Other values
// are taken modulo the period.
type CP struct {
	K int   // basis dimension, at least m1+2; 0: 10, or what Knots say
	M []int // m1, m2; one value stands for both; nil: 2, 2
	// Period are the two ends that are one point; nil: the range of the data. The
	// data must lie between them.
	Period []float64
	Knots  []float64 // K+1 increasing values, the ends of the period included; nil: equispaced
}

func (s CP) label() string { return "cp" }

// hasPeriod tells whether somebody said which values are one point.
func (s CP) hasPeriod() bool { return len(s.Period)+len(s.Knots) > 0 }

func (s CP) settings() (k, m1, m2 int, err error) {
	if m1, m2, err = orders(s.label(), s.M); err != nil {
		return 0, 0, 0, err
	}
	k = s.K
	if k == 0 {
		k = 10
		if len(s.Knots) > 0 {
			k = len(s.Knots) - 1
		}
	}
	if lowest := max(3, m1+2); k < lowest || k > maxK {
		return 0, 0, 0, fmt.Errorf("k = %d: cp with m1 = %d takes k from %d to %d", k, m1, lowest, maxK)
	}
	if m2 < 0 || m2 >= k {
		return 0, 0, 0, fmt.Errorf("m2 = %d: differences of %d coefficients have order 0 to %d", m2, k, k-1)
	}
	if n := len(s.Knots); n != 0 && n != k+1 {
		return 0, 0, 0, fmt.Errorf("%d knots: cp takes k + 1 = %d", n, k+1)
	}
	return k, m1, m2, checkPeriod(s.label(), s.Period, s.Knots)
}

func (s CP) check() error {
	_, _, _, err := s.settings()
	return err
}

func (s CP) scan(column string) columnScan {
	k, _, _, _ := s.settings()
	return scanFew(column, max(k, 512)) // so that whole numbers are known as such
}

func (s CP) build(v *columnScan) (spline, *mat.SymDense, error) {
	k, m1, m2, err := s.settings()
	if err != nil {
		return nil, nil, err
	}
	if err := enough(v, k, max(3, m1+2)); err != nil {
		return nil, nil, err
	}
	knots := slices.Clone(s.Knots)
	if len(knots) == 0 {
		lo, hi := v.Min, v.Max
		if len(s.Period) == 2 {
			lo, hi = s.Period[0], s.Period[1]
			if err := within(v, lo, hi, "period="); err != nil {
				return nil, nil, err
			}
		}
		knots = knot.Equispaced(lo, hi, k)
	}
	if err := within(v, knots[0], knots[k], "knots="); err != nil {
		return nil, nil, err
	}
	b, err := bspline.NewPeriodic(m1+1, knots)
	if err != nil {
		return nil, nil, fmt.Errorf("column %q: %w", v.column, err)
	}
	return b, bspline.PeriodicDifference(k, m2), nil
}
