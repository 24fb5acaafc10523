package basis

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/cubic"
	"github.com/pho-go/pho/basis/internal/knot"
)

// CR is the cubic regression spline basis (Wood 2017, 5.3.1): the coefficients
// are the values of a natural cubic spline at K knots, the penalty its integrated
// squared second derivative. Knots are the type 7 quantiles of the distinct
// values. Outside the knots the function goes on as a straight line.
type CR struct {
	K     int       // basis dimension, at least 3; 0: 10, or the number of Knots
	Knots []float64 // K increasing values; nil: from the data
	// Shrink penalises straight lines and constants too (mgcv's bs = "cs"): the line
	// by a tenth, the constant by a hundredth of what the smoothest curve has, so that
	// the whole term can go to 0.
	Shrink bool
}

func (s CR) label() string {
	if s.Shrink {
		return "cs"
	}
	return "cr"
}

// valued: the coefficients are the function's values.
func (s CR) valued() bool { return true }

func (s CR) settings() (k int, err error) {
	k = s.K
	if k == 0 {
		k = 10
		if len(s.Knots) > 0 {
			k = len(s.Knots)
		}
	}
	if k < 3 || k > maxK {
		return 0, fmt.Errorf("k = %d: %s takes k from 3 to %d", k, s.label(), maxK)
	}
	if n := len(s.Knots); n != 0 && n != k {
		return 0, fmt.Errorf("%d knots: %s takes as many as k, %d", n, s.label(), k)
	}
	return k, knot.Check(s.Knots)
}

func (s CR) check() error {
	_, err := s.settings()
	return err
}

func (s CR) scan(column string) columnScan {
	if len(s.Knots) > 0 {
		return scanFew(column, len(s.Knots))
	}
	return scanAll(column)
}

func (s CR) build(v *columnScan) (spline, *mat.SymDense, error) {
	k, err := s.settings()
	if err != nil {
		return nil, nil, err
	}
	if err := enough(v, k, 3); err != nil {
		return nil, nil, err
	}
	knots := slices.Clone(s.Knots)
	switch {
	case len(knots) == 0:
		knots = v.Quantiles(k, v.Min, v.Max)
	case knots[k-1] <= v.Min || knots[0] >= v.Max:
		return nil, nil, fmt.Errorf("column %q goes from %g to %g, and all knots lie outside, from %g to %g: give knots among the data, or leave them out", v.column, v.Min, v.Max, knots[0], knots[k-1])
	}
	b, err := cubic.NewNatural(knots)
	if err != nil {
		return nil, nil, fmt.Errorf("column %q: %w", v.column, err)
	}
	if s.Shrink {
		p, err := b.ShrunkPenalty()
		return b, p, err
	}
	return b, b.Penalty(), nil
}
