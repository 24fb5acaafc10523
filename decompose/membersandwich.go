package decompose

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/design"
)

// The sandwich of several networks is the mean of theirs. With one A for all of them that is
// one sum, in which the mean over the networks of r_m^2 takes the place of r^2:
//
//	sum_i mean_m (w_i r_mi/(1-h_i))^2 x_i x_i'

// remainders are the roots of those means at n rows, by predictor, in the memory of s; nil
// for one network.
func (s *splitter) remainders(n int, out *Outputs, x []design.Columns) ([][]float64, error) {
	if s.result.Networks == nil {
		return nil, nil
	}
	if s.spread == nil {
		s.spread = make([][]float64, len(s.result.Predictors))
	}
	for k := range s.result.Predictors {
		d := &s.result.Predictors[k]
		s.spread[k] = sized(s.spread[k], n)
		if d.apart() { // there is no sandwich
			continue
		}
		squares := s.spread[k]
		clear(squares)
		left, values := make([]float64, n), make([]float64, n)
		for m := range d.Members {
			own := &d.Members[m]
			for i := range left {
				left[i] = out.Taps[zetaOfEach].At(i, m*len(s.result.Predictors)+k) - (own.Intercept - own.InterceptBefore)
			}
			for j := range d.Terms {
				t := &d.Terms[j].Members[m]
				if err := s.multiply(values, x[s.at[k][j]], t.Alpha); err != nil {
					return nil, fmt.Errorf("decompose: term %q: %w", d.Terms[j].Name, err)
				}
				floats.AddConst(-t.Moved.Mean, values)
				floats.Sub(left, values)
			}
			for i, v := range left {
				squares[i] += v * v / float64(len(d.Members))
			}
		}
		for i, v := range squares {
			squares[i] = math.Sqrt(v)
		}
	}
	return s.spread, nil
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
