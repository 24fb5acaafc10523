package basis

import (
	"errors"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/knot"
	"github.com/pho-go/pho/basis/internal/thinplate"
)

// TP is the thin plate regression spline basis of 1 to 3 columns (Wood 2003;
// Wood 2017, 5.5.1): the functions of the full thin plate spline on the distinct
// points, its radial part truncated to the leading eigenvectors, next to the
// polynomials that the penalty does not see. It is isotropic: for columns of
// different units te is meant. Beyond the points it goes on as the spline does; in
// one dimension that is a polynomial of degree M - 1, by default a straight line.
type TP struct {
	K int // basis dimension; 0: the polynomials and 8, 27 or 100 in 1, 2 or 3 dimensions
	// M is the order of the derivatives in the penalty, 2M > d; 0: the least with
	// 2M > d + 1, which is 2, 2 or 3.
	M int
	// Shrink penalises the polynomials too, by a tenth of what the smoothest other
	// function has (mgcv's bs = "ts"): the whole term can go to 0.
	Shrink bool
	// Knots are at least K distinct points to use in place of the data's, row by
	// row (d numbers each); nil: the data's, at most 2000.
	Knots []float64
}

// Class is "tp", or "ts" with Shrink.
func (s TP) Class() string {
	if s.Shrink {
		return "ts"
	}
	return "tp"
}

func (s TP) label() string { return s.Class() }
func (s TP) check() error  { return s.Check(1) }

func (s TP) scan(column string) columnScan { return scanCounts(column, thinplate.MaxPoints) }

func (s TP) build(v *columnScan) (spline, *mat.SymDense, error) {
	b, penalty, err := s.construct(sampleOf([]string{v.column}, v.Points, nil, nil))
	if err != nil {
		return nil, nil, err
	}
	return b, penalty, nil
}

// Check refuses settings that do not suit so many columns.
func (s TP) Check(columns int) error {
	_, err := s.space(columns)
	return err
}

// Limit is 2000, the most points that a basis is made from.
func (s TP) Limit() int { return thinplate.MaxPoints }

// Build makes the basis and its one penalty.
func (s TP) Build(data *Sample) (Evaluator, []*mat.SymDense, error) {
	b, penalty, err := s.construct(data)
	if err != nil {
		return nil, nil, err
	}
	return b, []*mat.SymDense{penalty}, nil
}

// space is what the settings mean for d columns, defaults filled in.
func (s TP) space(d int) (p thinplate.Space, err error) {
	name := s.label()
	if d < 1 || d > 3 {
		return p, fmt.Errorf("%s takes 1 to 3 columns, not %d: use te() of fewer, or bs = \"rbf\"", name, d)
	}
	p.D, p.M = d, s.M
	if p.M == 0 {
		p.M = thinplate.DefaultOrder(d)
	}
	if p.M < 1 || 2*p.M <= d || p.M > thinplate.MaxOrder {
		return p, fmt.Errorf("m = %d: %s of %s takes m from %d to %d (the functions are continuous only if 2m is greater than the number of columns)", s.M, name, columns(d), d/2+1, thinplate.MaxOrder)
	}
	null := p.Polynomials()
	p.K = s.K
	if p.K == 0 {
		p.K = null + []int{8, 27, 100}[d-1]
	}
	if p.K <= null || p.K > maxK {
		return p, fmt.Errorf("k = %d: %s of %s with m = %d takes k from %d (%d polynomials and one function more) to %d", p.K, name, columns(d), p.M, null+1, null, maxK)
	}
	if n := len(s.Knots); n > 0 && (n%d != 0 || n/d < p.K || n/d > thinplate.MaxPoints) {
		return p, fmt.Errorf("knots has %d numbers: %s of %s takes %d to %d knots of %d each", n, name, columns(d), p.K, thinplate.MaxPoints, d)
	}
	return p, finiteKnots(s.Knots)
}

// finiteKnots refuses knots that are not numbers.
func finiteKnots(knots []float64) error {
	for i, v := range knots {
		if !knot.Finite(v) {
			return fmt.Errorf("number %d of knots is %v", i+1, v)
		}
	}
	return nil
}

// construct makes the basis from what was found of its columns.
func (s TP) construct(data *Sample) (thinPlate, *mat.SymDense, error) {
	p, err := s.space(len(data.Columns))
	if err != nil {
		return thinPlate{}, nil, err
	}
	if err := data.enough(p.K, p.Polynomials()+1); err != nil {
		return thinPlate{}, nil, err
	}
	b, penalty, err := thinplate.Construct(p, data.collected(), s.Knots)
	if err != nil {
		return thinPlate{}, nil, explain(err, p, data.Columns)
	}
	if s.Shrink {
		p.Shrink(penalty)
	}
	return thinPlate{b}, penalty, nil
}

// explain says of which columns points have no basis, and what to do.
func explain(err error, p thinplate.Space, names []string) error {
	var far *thinplate.FarError
	switch {
	case errors.As(err, &far):
		return tooFarApart(names, far.Farthest)
	case errors.Is(err, thinplate.ErrRange):
		return fmt.Errorf("columns %q have too wide a range for 64-bit numbers: rescale them", names)
	case errors.Is(err, thinplate.ErrScale):
		return fmt.Errorf("columns %q: %w", names, err)
	case !errors.Is(err, thinplate.ErrNotUnisolvent):
		return err
	case p.M == 2 && p.D > 1:
		what := "a line"
		if p.D == 3 {
			what = "a plane"
		}
		return fmt.Errorf("the points of %s lie on %s, so one column follows from the others: use a smooth of fewer columns", quoted(names), what)
	}
	return fmt.Errorf("the points of %s are too special: a polynomial of degree less than m = %d is 0 on all of them: set a smaller m or use a smooth of fewer columns", quoted(names), p.M)
}

func tooFarApart(names []string, farthest []float64) error {
	where := make([]string, len(farthest))
	for j, v := range farthest {
		where[j] = fmt.Sprintf("%.6g", v)
	}
	value := "value " + where[0]
	if len(where) > 1 {
		value = "point (" + strings.Join(where, ", ") + ")"
	}
	return fmt.Errorf("%s has values so far from all others that 64-bit numbers do not hold thin plate splines of them, the farthest being the %s: leave such rows out, transform the column, or take a basis with knots at quantiles, as bs = \"cr\" or te()", quoted(names), value)
}
