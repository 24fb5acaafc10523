package penalty

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// ridges is a problem of terms with a ridge penalty: k functions each, of columns that
// differ by noise of size eps.
func ridges(seed uint64, terms, k int, eps float64, f func(v float64, j int) float64) *Problem {
	const n = 100
	rng := rand.New(rand.NewPCG(seed, 3))
	x, z, w := mat.NewDense(n, terms*k, nil), make([]float64, n), make([]float64, n)
	for i := range n {
		v := rng.Float64()
		for t := range terms {
			for j := range k {
				x.Set(i, t*k+j, f(v, j+1))
			}
			v += eps * rng.NormFloat64()
		}
		z[i], w[i] = math.Sin(6*v)+0.3*rng.NormFloat64(), 1
	}
	p := momentsOf(x, z, w, true)
	for t := range terms {
		p.Terms = append(p.Terms, Component{Name: string(rune('a' + t)), Start: t * k, Dim: k, S: []mat.Symmetric{Ridge(k)}})
	}
	return p
}

// TestTargetsOfConcurveTerms: two terms of almost the same functions, of which one is to
// have nearly all of its freedom and the other nearly none. Newton's method for both
// does not find its way there; one after the other they are reached.
func TestTargetsOfConcurveTerms(t *testing.T) {
	for seed := range uint64(6) {
		p := ridges(seed, 2, 4, 1e-4, func(v float64, j int) float64 { return math.Cos(math.Pi * float64(j) * v) })
		p.Terms[0].DF, p.Terms[1].DF = 3.9, 0.2
		f, err := Select(p, &Options{Criterion: DF})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		for i, term := range p.Terms {
			if !close(f.EDF[i], term.DF, 1e-7) {
				t.Errorf("seed %d: %s has edf %.10g, asked for %.10g", seed, term.Name, f.EDF[i], term.DF)
			}
		}
		g := mustSelect(t, p.at(f.Lambda), &Options{Criterion: Fixed})
		if !close(g.EDF[0], 3.9, 1e-6) || !close(g.EDF[1], 0.2, 1e-6) {
			t.Errorf("seed %d: with these lambdas given the edf are %g", seed, g.EDF)
		}
	}
}

// TestTargetsOutOfReach: powers of a column hardly differ, and the weakest penalty that
// is tried still leaves less than is asked for. The message says how much can be had.
func TestTargetsOutOfReach(t *testing.T) {
	p := ridges(1, 1, 9, 0, func(v float64, j int) float64 { return math.Pow(v, float64(j)) })
	p.Terms[0].DF = 8.99
	_, err := Select(p, &Options{Criterion: DF})
	if err == nil || !strings.Contains(err.Error(), `term "a": 8.99 degrees of freedom cannot be had: it has at least`) {
		t.Fatalf("error: %v", err)
	}
	t.Log(err)
}
