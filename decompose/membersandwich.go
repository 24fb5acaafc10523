package decompose

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/design"
)

// residualsOf are residuals of several networks. Their sandwich is the mean of theirs.
func (s *splitter) residualsOf(k int, of *sandwichOf, n int, out *Outputs, x []design.Columns) error {
	d, each := &s.result.Predictors[k], 1+len(of.splits)
	left, values := make([]float64, n), make([]float64, n)
	squares := s.spread[k][0]
	if of.networks == 1 {
		clear(squares)
	}
	for m := range d.Members {
		own := &d.Members[m]
		for i := range left {
			left[i] = out.Taps[zetaOfEach].At(i, m*len(s.result.Predictors)+k) - (own.Intercept - own.InterceptBefore)
		}
		for j := range d.Terms {
			t := &d.Terms[j].Members[m]
			if err := s.multiply(values, x[s.at[k][j]], t.Alpha); err != nil {
				return fmt.Errorf("decompose: term %q: %w", d.Terms[j].Name, err)
			}
			floats.AddConst(-t.Moved.Mean, values)
			floats.Sub(left, values)
		}
		if of.networks == 1 {
			for i, v := range left {
				squares[i] += v * v / float64(len(d.Members))
			}
			continue
		}
		copy(s.spread[k][m*each], left)
		for j := range of.splits {
			to := s.spread[k][m*each+1+j]
			if err := s.sum(to, of.pieces[m][j], k, x); err != nil {
				return err
			}
		}
	}
	if of.networks == 1 {
		for i, v := range squares {
			squares[i] = math.Sqrt(v)
		}
	}
	return nil
}

// sum sets dst to the values of pieces of predictor k's terms in the rows of x.
func (s *splitter) sum(dst []float64, pieces []piece, k int, x []design.Columns) error {
	clear(dst)
	values := make([]float64, len(dst))
	for _, p := range pieces {
		coef := make([]float64, len(p.moved))
		floats.AddTo(coef, p.before, p.moved)
		if err := s.multiply(values, x[s.at[k][p.term]], coef); err != nil {
			return fmt.Errorf("decompose: term %q: %w", s.result.Predictors[k].Terms[p.term].Name, err)
		}
		floats.AddConst(-p.centre, values)
		floats.Add(dst, values)
	}
	return nil
}

// apart tells whether the networks have columns of their own, so that there is no A for all.
func (d *Predictor) apart() bool {
	for j := range d.Terms {
		for m := range d.Terms[j].Members {
			if len(d.Terms[j].Members[m].Alpha) != len(d.Terms[j].Alpha) {
				return true
			}
		}
	}
	return false
}
