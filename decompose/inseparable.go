package decompose

import (
	"cmp"
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// inseparable puts terms together whose columns are dependent but for less than these rows can tell: by themselves they
// have standard errors above the standard deviation of the whole predictor, so that they may be as large as one likes and
// cancel, and their sum has not. Groups grow from the unit of largest error by the one whose error cancels most of theirs, in
// whatever order terms are.
func (s *solver) inseparable(context.Context) error {
	d := &s.out
	squared := func(terms []int) float64 {
		return d.meanSquaredError(func(v mat.Symmetric, terms ...int) float64 {
			return linalg.Trace(v, s.columns.Products(terms...))
		}, terms...)
	}
	var unsure []unsureUnit
	for _, unit := range d.units() {
		if slices.ContainsFunc(unit, func(j int) bool { return d.Terms[j].Concurvity.Worst > weakConcurvity }) {
			if se2 := squared(unit); se2 > d.Variance.Total {
				unsure = append(unsure, unsureUnit{unit, se2})
			}
		}
	}
	slices.SortStableFunc(unsure, func(a, b unsureUnit) int { return cmp.Compare(b.se2, a.se2) })
	var found [][]int
	for len(unsure) > 0 {
		group, rest := unsure[0], unsure[1:]
		for group.se2 > d.Variance.Total {
			best, cancelled := -1, 0.0
			var sum unsureUnit
			for i, u := range rest {
				terms := slices.Concat(group.terms, u.terms)
				se2 := squared(terms)
				if c := group.se2 + u.se2 - se2; c > cancelled {
					best, cancelled, sum = i, c, unsureUnit{terms, se2}
				}
			}
			if best < 0 {
				break
			}
			group, rest = sum, slices.Concat(rest[:best], rest[best+1:])
		}
		if group.se2 > d.Variance.Total {
			unsure = unsure[1:]
			continue
		}
		slices.Sort(group.terms)
		found, unsure = append(found, group.terms), rest
	}
	slices.SortFunc(found, slices.Compare)
	for _, terms := range found {
		s.putTogether(terms)
	}
	return nil
}

// unsureUnit is a unit of terms and its squared standard error.
type unsureUnit struct {
	terms []int
	se2   float64
}

// units are the groups of terms of which only the sum is identified, and the other terms one by one.
func (d *Predictor) units() [][]int {
	units := d.groups()
	grouped := slices.Concat(units...)
	for j := range d.Terms {
		if !slices.Contains(grouped, j) {
			units = append(units, []int{j})
		}
	}
	return units
}

// putTogether makes one group of terms, increasing, and of the groups among them.
func (s *solver) putTogether(terms []int) {
	d := &s.out
	e := Entanglement{Because: []Reason{{Kind: ReasonNearlyDependent}}}
	for _, j := range terms {
		e.Terms = append(e.Terms, d.Terms[j].Name)
	}
	d.Entangled = slices.DeleteFunc(d.Entangled, func(part Entanglement) bool {
		within := contains(e.Terms, part.Terms[0])
		if within {
			e.Because = append(e.Because, part.Because...)
		}
		return within
	})
	e.Because = labelling{raw: d}.told(e.Because)
	e.Reason = because(e.Because)
	e.Before, e.After = s.sumMoments(terms)
	d.Entangled = append(d.Entangled, e)
}
