package penalty

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// Any moments of any data: no panic, no NaN, and a minimum where one is claimed.
func TestSelectProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		rng := rand.New(rand.NewPCG(seed, 7))
		n := rapid.IntRange(1, 60).Draw(t, "n")
		terms := randomTerms()
		if rapid.Bool().Draw(t, "one term") {
			terms = terms[1:2]
		}
		dim := 0
		for i := range terms {
			terms[i].Start = dim
			dim += terms[i].Dim
			for range terms[i].S {
				terms[i].SP = append(terms[i].SP, []float64{-1, -1, 0, 1e-3, 1, 1e10}[rng.IntN(6)])
			}
		}
		if len(terms) > 1 && rapid.Bool().Draw(t, "linked") {
			terms[1].Link, terms[3].Link = []string{"a"}, []string{"a"}
			terms[3].SP = nil
		}
		levels := rapid.SampledFrom([]int{0, 2, 3}).Draw(t, "levels") // discrete columns are often aliased
		x, z, w := mat.NewDense(n, dim, nil), make([]float64, n), make([]float64, n)
		for i := range n {
			w[i] = []float64{0, 1, 1, 0.3}[rng.IntN(4)]
			if i == 0 {
				w[i] = 1
			}
			z[i] = rng.NormFloat64()
			for j := range dim {
				v := rng.NormFloat64()
				if levels > 0 {
					v = float64(rng.IntN(levels))
				}
				x.Set(i, j, v)
				z[i] += v / float64(1+j)
			}
		}
		p := momentsOf(x, z, w, rapid.Bool().Draw(t, "intercept"))
		p.Terms = terms
		o := rapid.SampledFrom(criteria).Draw(t, "criterion")
		f, err := Select(p, &o)
		if err != nil {
			t.Skip(err.Error()) // gamma too large for so few rows
		}
		checkFinite(t, f)
		// With fewer rows than columns the least smoothing leaves X'WX + S with a
		// condition of 1e12 and more.
		// A fit that interpolates has n, to few digits: there the Hessian is close to singular.
		if f.EDFTotal > 1.05*float64(n) || f.EDFTotal < 0 || f.Rank > dim {
			t.Errorf("edf %g and rank %d with %d rows and %d columns", f.EDFTotal, f.Rank, n, dim)
		}
		// When a fit comes to interpolate, the criterion holds zero by zero, and
		// rounding ends the search.
		interpolates := f.EDFTotal > 0.9*float64(p.Rows)
		if !interpolates && (f.Status == StepFailed || f.Status == IterationLimit) {
			t.Errorf("%v after %d steps: %+v; sp given %v", f.Status, len(f.Log), f.Log[len(f.Log)-1], f.Fixed)
		}
		// No neighbour is better.
		if !interpolates && f.Status == Converged && f.Hessian != nil {
			for j := range f.Lambda {
				for _, by := range []float64{0.9, 1.1} {
					sp := append([]float64(nil), f.Lambda...)
					sp[j] *= by
					for l, first := range p.links() {
						sp[l] = sp[first]
					}
					if p.links()[j] != j {
						continue
					}
					q, err := Select(p.at(sp), &o)
					if err == nil && !f.Fixed[j] && q.Status == Converged && q.Score < f.Score-1e-6*(1+math.Abs(f.Score)) {
						t.Errorf("score %.10g, but %.10g with lambda %d times %g: rows %d, edf %.6g, lambda %.3g, last step %+v", f.Score, q.Score, j, by, p.Rows, f.EDFTotal, f.Lambda, f.Log[len(f.Log)-1])
					}
				}
			}
		}
	})
}

// Groups of any rows, targets of any size: an error or a finite fit that keeps
// them.
func TestGroupsAndTargetsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		rng := rand.New(rand.NewPCG(seed, 8))
		terms := randomTerms()
		dim := 0
		for i := range terms {
			terms[i].Start = dim
			dim += terms[i].Dim
			if len(terms[i].S) > 0 && rng.IntN(2) == 0 {
				terms[i].DF = 13 * rng.Float64()
			}
		}
		intercept, levels := rapid.Bool().Draw(t, "intercept"), rapid.SampledFrom([]int{0, 2, 3}).Draw(t, "levels")
		var groups []*Problem
		rows := 0
		for range rapid.IntRange(1, 5).Draw(t, "groups") {
			n := rapid.IntRange(1, 30).Draw(t, "n")
			rows += n
			x, z, w := mat.NewDense(n, dim, nil), make([]float64, n), make([]float64, n)
			for i := range n {
				w[i] = []float64{0, 1, 1, 0.3}[rng.IntN(4)]
				for j := range dim {
					v := rng.NormFloat64()
					if levels > 0 {
						v = float64(rng.IntN(levels))
					}
					x.Set(i, j, v)
					z[i] += v / float64(1+j)
				}
				z[i] += rng.NormFloat64()
			}
			p := momentsOf(x, z, w, intercept)
			if p.Rows == 0 {
				p = &Problem{Intercept: intercept}
			}
			p.Terms = terms
			groups = append(groups, p)
		}
		f, err := SelectGrouped(groups, nil)
		if err != nil {
			t.Skip(err.Error())
		}
		checkFinite(t, f)
		for i, term := range terms {
			if term.DF > 0 && f.Status != ZeroResidual && !close(f.EDF[i], term.DF, 1e-4) {
				t.Errorf("%s has edf %g, asked for %g (%v)", term.Name, f.EDF[i], term.DF, f.Status)
			}
		}
		// With fewer rows than columns the fits without a group interpolate as
		// lambda goes to zero, and rounding ends the search.
		if rows > 2*dim && f.Status == StepFailed {
			t.Errorf("%v after %d steps, edf %g of %d rows: %+v", f.Status, len(f.Log), f.EDFTotal, rows, f.Log[len(f.Log)-2:])
		}
	})
}
