package importance

import (
	"slices"

	"github.com/pho-go/pho/decompose"
)

// drop is a set of terms that are left out together.
type drop struct {
	feature string  // "": a single term
	terms   [][]int // by predictor
}

// drops lists what is left out in turn: every feature with all terms that
// contain it, then every term that is not already a feature's only one.
func drops(r *decompose.Result) []drop {
	var all []drop
	at := map[string]int{}
	for k, d := range r.Predictors {
		for j, t := range d.Terms {
			for _, f := range t.Features {
				i, ok := at[f]
				if !ok {
					i = len(all)
					at[f] = i
					all = append(all, drop{feature: f, terms: make([][]int, len(r.Predictors))})
				}
				if !slices.Contains(all[i].terms[k], j) {
					all[i].terms[k] = append(all[i].terms[k], j)
				}
			}
		}
	}
	features := all
	for k, d := range r.Predictors {
		for j := range d.Terms {
			own := drop{terms: make([][]int, len(r.Predictors))}
			own.terms[k] = []int{j}
			if !slices.ContainsFunc(features, func(f drop) bool { return f.only(k, j) }) {
				all = append(all, own)
			}
		}
	}
	return all
}

// only reports whether term j of predictor k is all that is dropped.
func (d drop) only(k, j int) bool {
	for i, terms := range d.terms {
		switch {
		case i == k && !slices.Equal(terms, []int{j}):
			return false
		case i != k && len(terms) > 0:
			return false
		}
	}
	return true
}
