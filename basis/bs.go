package basis

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/bspline"
	"github.com/pho-go/pho/basis/internal/knot"
	"github.com/pho-go/pho/penalty"
)

// BS is the B-spline basis with derivative penalties (Wood 2017, 5.3.3): K
// B-splines of degree m[0] on equispaced knots over the data range widened by
// 0.1 % on each side, and for each further entry d of m the integral of the
// squared d-th derivative as a penalty of its own. Outside the (widened) range the
// function goes on as a straight line.
type BS struct {
	K int   // basis dimension, at least m[0]+1; 0: 10, or what Knots say
	M []int // degree, orders; a degree alone is penalised at one order less; nil: 3, 2
	// Knots, nil: from the data. Two values: the range, widened in the same way.
	// K+m[0]+1 increasing values: all knots. The data must lie within.
	Knots []float64
	// Quantiles puts the knots within the range, its ends among them, at quantiles of the rows that lie closer together
	// towards the ends, in which a value counts for no more rows than there are between two knots: where the rows
	// are, the function may bend.
	// Knots beyond the ends lie as far apart as the last two before. Of more than 4,096 distinct values so many
	// are looked at, chosen by hash.
	Quantiles bool
}

// quantileValues is how many distinct values quantiles are of, at most.
const quantileValues = 4096

func (s BS) label() string { return "bs" }

// settings are K, the degree and the orders with defaults filled in.
func (s BS) settings() (k, degree int, orders []int, err error) {
	degree, orders = 3, []int{2}
	if len(s.M) > 0 {
		degree = s.M[0]
		orders = []int{max(0, degree-1)}
	}
	if len(s.M) > 1 {
		orders = s.M[1:]
	}
	if degree < 1 || degree > bspline.MaxDegree {
		return 0, 0, nil, fmt.Errorf("m[1] = %d: bs takes splines of degree 1 to %d", degree, bspline.MaxDegree)
	}
	for i, d := range orders {
		if d < 0 || d > degree {
			return 0, 0, nil, fmt.Errorf("m has %d: splines of degree %d have derivatives of order 0 to %d to penalise", d, degree, degree)
		}
		if slices.Contains(orders[:i], d) {
			return 0, 0, nil, fmt.Errorf("m has two penalties of order %d: each order once", d)
		}
	}
	k = s.K
	if k == 0 {
		k = max(10, degree+1)
		if len(s.Knots) > 2 {
			k = len(s.Knots) - degree - 1
		}
	}
	if k < degree+1 || k > maxK {
		return 0, 0, nil, fmt.Errorf("k = %d: bs of degree %d takes k from %d to %d", k, degree, degree+1, maxK)
	}
	if s.Quantiles && len(s.Knots) > 0 {
		return 0, 0, nil, fmt.Errorf("both knots and their quantiles are asked for: give one of them")
	}
	if n := len(s.Knots); n != 0 && n != 2 && n != k+degree+1 {
		return 0, 0, nil, fmt.Errorf("%d knots: bs takes 2 (the range) or k + m[1] + 1 = %d", n, k+degree+1)
	}
	return k, degree, orders, knot.Check(s.Knots)
}

func (s BS) check() error {
	_, _, _, err := s.settings()
	return err
}

func (s BS) scan(column string) columnScan {
	if s.Quantiles {
		return scanCounts(column, quantileValues)
	}
	k, _, _, _ := s.settings()
	return scanFew(column, k)
}

func (s BS) build(v *columnScan) (spline, *mat.SymDense, error) {
	k, degree, orders, err := s.settings()
	if err != nil {
		return nil, nil, err
	}
	knots := s.Knots
	if s.Quantiles {
		if err := enough(v, k, degree+1); err != nil {
			return nil, nil, err
		}
		knots = bspline.Extended(v.Points.Quantiles(k-degree+1, v.Min, v.Max), degree)
	}
	b, _, err := PS{K: k, M: []int{degree - 1, 0}, Knots: knots}.build(v)
	if err != nil {
		return nil, nil, err
	}
	p, err := penalty.BSplineDerivative(b.(*bspline.Basis).Knots(), degree, orders[0])
	return b, p, err
}

// further are the penalties of the second and later orders.
func (s BS) further(b spline) ([]*mat.SymDense, error) {
	_, degree, orders, err := s.settings()
	if err != nil {
		return nil, err
	}
	var all []*mat.SymDense
	for _, d := range orders[1:] {
		p, err := penalty.BSplineDerivative(b.(*bspline.Basis).Knots(), degree, d)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}
