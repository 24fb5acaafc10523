package decompose

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// inseparable puts terms together whose columns are dependent but for less than these rows can tell: by themselves they
// have standard errors above the standard deviation of the whole predictor, so that they may be as large as one likes and
// cancel, and their sum has not.
func (s *solver) inseparable(context.Context) error {
	d := &s.out
	squared := func(terms []int) float64 {
		return d.meanSquaredError(func(v mat.Symmetric, terms ...int) float64 {
			return linalg.Trace(v, s.columns.Products(terms...))
		}, terms...)
	}
	unsure := slices.DeleteFunc(d.units(), func(unit []int) bool {
		return !slices.ContainsFunc(unit, func(j int) bool { return d.Terms[j].Concurvity.Worst > weakConcurvity }) || squared(unit) <= d.Variance.Total
	})
	for len(unsure) > 0 {
		group, se2 := unsure[0], math.Inf(1)
		unsure = unsure[1:]
		for se2 > d.Variance.Total && len(unsure) > 0 { // with the unit that leaves least of the error
			best := 0
			se2 = math.Inf(1)
			for i, unit := range unsure {
				if v := squared(slices.Concat(group, unit)); v < se2 {
					best, se2 = i, v
				}
			}
			group, unsure = slices.Concat(group, unsure[best]), slices.Delete(unsure, best, best+1)
		}
		if se2 <= d.Variance.Total {
			s.putTogether(group)
		}
	}
	return nil
}

// units are the groups of terms of which only the sum is identified, and the other terms one by one.
func (d *Predictor) units() (units [][]int) {
	grouped := map[string]int{}
	for i, e := range d.Entangled {
		units = append(units, nil)
		for _, name := range e.Terms {
			grouped[name] = i
		}
	}
	for j, t := range d.Terms {
		if i, ok := grouped[t.Name]; ok {
			units[i] = append(units[i], j)
		} else {
			units = append(units, []int{j})
		}
	}
	return units
}

// putTogether makes one group of terms and of the groups among them.
func (s *solver) putTogether(terms []int) {
	d := &s.out
	slices.Sort(terms)
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
