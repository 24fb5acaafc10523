package decompose

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/internal/base/linalg"
)

// MeansOver are, for each term of predictor k of r, the weighted mean of its function over
// the rows of other less that over r's own: the change of the function's mean that the other rows
// make. It needs no row: means of columns are among the moments. NaN where other did not accumulate
// the same columns, to the last bit of knots and levels. Learned columns are the same only in the
// same network, which the caller knows.
//
// An error: one of the results was read without moments.
func (r *Result) MeansOver(k int, other *Result, sameNetwork bool) ([]float64, error) {
	if r.sum == nil || other.sum == nil {
		return nil, errors.New("decompose: a result was read without its moments: there are no means of columns")
	}
	own, there := r.columnMeans(), other.columnMeans()
	d := &r.Predictors[k]
	shift := make([]float64, len(d.Terms)) // of each term's columns times coefficients
	moved := func(t *TermResult, coef []float64) (float64, error) {
		if t.Kind == Learned && !sameNetwork {
			return math.NaN(), nil
		}
		id, err := identify(t.term)
		if err != nil {
			return 0, err
		}
		from, to := own[id.text], there[id.text]
		if id.text == "" || from == nil || to == nil {
			return math.NaN(), nil
		}
		return floats.Dot(to, coef) - floats.Dot(from, coef), nil
	}
	at := map[string]int{}
	for j := range d.Terms {
		at[d.Terms[j].Name] = j
	}
	for j := range d.Terms {
		t := &d.Terms[j]
		coef := make([]float64, len(t.Alpha))
		floats.AddTo(coef, t.Beta, t.Alpha)
		v, err := moved(t, coef)
		if err != nil {
			return nil, err
		}
		shift[j] += v
		for _, m := range t.Margins { // belongs to the other term
			i, ok := at[m.Term]
			if !ok || len(m.Coef) != len(d.Terms[i].Alpha) {
				return nil, errors.New("decompose: a margin names a term that is not there")
			}
			if v, err = moved(&d.Terms[i], m.Coef); err != nil {
				return nil, err
			}
			shift[j], shift[i] = shift[j]-v, shift[i]+v
		}
	}
	return shift, nil
}

// columnMeans are the weighted means of the columns of every basis, by its ID.
func (r *Result) columnMeans() map[string][]float64 {
	total := r.sum.Total()
	used := map[int]bool{} // only bases in a predictor have weighted means
	for _, bases := range total.Layout.Predictors {
		for _, b := range bases {
			used[b] = true
		}
	}
	out, at := map[string][]float64{}, 0
	for i, b := range total.Layout.Bases {
		if used[i] {
			out[b.ID] = total.Mean[at : at+b.Dim]
		}
		at += b.Dim
	}
	return out
}

// StructuredOver is the weighted variance that the structured part of predictor k of r has over
// the rows of other: of r's functions, on other's rows. false where other has no predictor
// with the columns of all terms (see MeansOver), or a result no moments.
func (r *Result) StructuredOver(k int, other *Result, sameNetwork bool) (variance float64, ok bool) {
	if r.sum == nil || other.sum == nil {
		return 0, false
	}
	total := other.sum.Total()
	for l := range total.Layout.Predictors {
		view := total.Predictor(l)
		coef := make([]float64, len(view.Mean))
		if !r.place(coef, k, total.Layout, view, sameNetwork) {
			continue
		}
		if len(coef) == 0 {
			return 0, true
		}
		return linalg.Bilinear(view.XX, coef, coef) / view.SumW, true
	}
	return 0, false
}

// place adds the coefficients of the terms of predictor k where the view has their columns;
// false if it has not all of them.
func (r *Result) place(coef []float64, k int, l moments.Layout, view moments.View, sameNetwork bool) bool {
	for j := range r.Predictors[k].Terms {
		t := &r.Predictors[k].Terms[j]
		id, err := identify(t.term)
		if err != nil || id.text == "" || t.Kind == Learned && !sameNetwork {
			return false
		}
		at := slices.IndexFunc(view.Bases, func(b int) bool { return l.Bases[b].ID == id.text })
		if at < 0 {
			return false
		}
		for i := range t.Alpha {
			coef[view.Starts[at]+i] += t.Beta[i] + t.Alpha[i]
		}
	}
	return true
}
