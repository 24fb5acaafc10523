package decompose

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/design"
)

// errorForm is the squared standard error of a term at a row, (x - m)'V(x - m): x the raw
// columns of the term and of the margins that it gives to, m their means and V their
// coefficients' covariance.
type errorForm struct {
	form   *design.Quadratic // nil: the term is not identified, or no covariance is at hand
	pieces []int             // the terms of the predictor whose columns these are
}

// errorForms are those of each term, by predictor.
func (r *Result) errorForms() [][]errorForm {
	out := make([][]errorForm, len(r.Predictors))
	for k := range r.Predictors {
		d := &r.Predictors[k]
		for j := range d.Terms {
			u, err := d.uncertainty(j)
			if err != nil { // what was computed once from the same products fails
				u = &uncertainty{}
			}
			out[k] = append(out[k], u.form(d))
		}
	}
	return out
}

// form is u's; its columns are of terms of d.
func (u *uncertainty) form(d *Predictor) errorForm {
	if u.cov == nil {
		return errorForm{}
	}
	var dims []int
	for _, p := range u.pieces {
		dims = append(dims, len(d.Terms[p].Alpha))
	}
	form, err := design.NewQuadratic(dims, u.cov, u.mean)
	if err != nil { // the covariance is of these columns
		return errorForm{}
	}
	return errorForm{form, u.pieces}
}

// standardErrors writes those of predictor k at n rows with the columns x of all terms to
// dst, row by row.
func (s *splitter) standardErrors(dst []float64, n, k int, x []design.Columns) error {
	if s.forms == nil {
		s.forms = make([][]*design.QuadraticWork, len(s.errors))
	}
	forms := s.errors[k]
	if s.forms[k] == nil {
		s.forms[k] = make([]*design.QuadraticWork, len(forms))
	}
	s.spans = sized(s.spans, n*len(forms))
	for j, e := range forms {
		to := s.spans[j*n:][:n]
		if e.form == nil {
			for i := range to {
				to[i] = math.NaN()
			}
			continue
		}
		if s.forms[k][j] == nil {
			s.forms[k][j] = e.form.Work()
		}
		s.pieces = s.pieces[:0]
		for _, p := range e.pieces {
			s.pieces = append(s.pieces, x[s.at[k][p]])
		}
		if err := s.forms[k][j].Rows(to, s.pieces); err != nil {
			return fmt.Errorf("decompose: standard errors of term %q: %w", s.result.Predictors[k].Terms[j].Name, err)
		}
		for i, v := range to {
			to[i] = math.Sqrt(math.Max(v, 0))
		}
	}
	transpose(dst, s.spans, n)
	return nil
}
