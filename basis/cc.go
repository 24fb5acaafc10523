package basis

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/cubic"
)

// CC is the cyclic cubic regression spline basis (Wood 2017, 5.3.2): a cubic
// spline through its values at K knots, whose first and last are one point, so
// that value, slope and curvature agree there; K - 1 columns. Other values are
// taken modulo the period.
type CC struct {
	K int // number of knots, at least 4; 0: 10, or the number of Knots
	// Period are the two ends that are one point; nil: the range of the data. The
	// data must lie between them.
	Period []float64
	Knots  []float64 // K increasing values, the ends of the period included; nil: quantiles
}

func (s CC) label() string { return "cc" }

// valued: the coefficients are the function's values.
func (s CC) valued() bool { return true }

// hasPeriod tells whether somebody said which values are one point.
func (s CC) hasPeriod() bool { return len(s.Period)+len(s.Knots) > 0 }

func (s CC) settings() (k int, err error) {
	k = s.K
	if k == 0 {
		k = 10
		if len(s.Knots) > 0 {
			k = len(s.Knots)
		}
	}
	if k < 4 || k > maxK {
		return 0, fmt.Errorf("k = %d: cc takes k from 4 to %d", k, maxK)
	}
	if n := len(s.Knots); n != 0 && n != k {
		return 0, fmt.Errorf("%d knots: cc takes as many as k, %d", n, k)
	}
	return k, checkPeriod(s.label(), s.Period, s.Knots)
}

func (s CC) check() error {
	_, err := s.settings()
	return err
}

func (s CC) scan(column string) columnScan {
	if len(s.Knots) > 0 {
		return scanFew(column, len(s.Knots))
	}
	return scanAll(column)
}

func (s CC) build(v *columnScan) (spline, *mat.SymDense, error) {
	k, err := s.settings()
	if err != nil {
		return nil, nil, err
	}
	if err := enough(v, k, 4); err != nil {
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
		knots = v.Quantiles(k, lo, hi)
	}
	if err := within(v, knots[0], knots[k-1], "knots="); err != nil {
		return nil, nil, err
	}
	b, err := cubic.NewCyclic(knots)
	if err != nil {
		return nil, nil, fmt.Errorf("column %q: %w", v.column, err)
	}
	return b, b.Penalty(), nil
}
