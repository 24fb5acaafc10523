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
	features := byFeature(r)
	all := features
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

// byFeature lists every feature with all terms that contain it. Columns that a factor
// alone is made of, as those of a one-hot group, are one feature of the factor's name.
func byFeature(r *decompose.Result) []drop {
	var all []drop
	at := map[string]int{}
	for k, d := range r.Predictors {
		for j, t := range d.Terms {
			names := t.Features
			if t.Kind == decompose.Factor && ownColumns(r, &t) {
				names = []string{t.Name}
			}
			for _, f := range names {
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
	return all
}

// ownColumns tells whether no other term has any of the several columns of t.
func ownColumns(r *decompose.Result, t *decompose.TermResult) bool {
	for _, d := range r.Predictors {
		for _, o := range d.Terms {
			if o.Name != t.Name && slices.ContainsFunc(o.Features, func(f string) bool { return slices.Contains(t.Features, f) }) {
				return false
			}
		}
	}
	return len(t.Features) > 1
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
