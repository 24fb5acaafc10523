package penalty

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// changeAlone predicts, without solving, the change that eval finds, up and down, from where
// terms are free and from infinity.
func TestChangeAlone(t *testing.T) {
	single, _, _, _ := randomProblem(4, 200, true, true)
	linked, _, _, _ := randomProblem(5, 200, false, true)
	linked.Terms[1].Link, linked.Terms[3].Link = []string{"one"}, []string{"one"}
	several := severalResponses(6)
	levels := levelledProblems[slices.IndexFunc(levelledProblems, func(l levelled) bool { return l.name == "three responses" })]
	eliminated := levels.problem(sequence(levels.levels))
	eliminated.Terms[3].S = eliminated.Terms[3].S[:1] // no overlap
	for name, p := range map[string]*Problem{"single": single, "linked": linked, "several": several, "eliminated": eliminated} {
		for _, o := range []Options{{Gamma: 1}, {Gamma: 1.4}, {Gamma: 1, Scale: 0.8}} {
			opts, err := o.withDefaults()
			if err != nil {
				t.Fatal(err)
			}
			c := mustCriterion(t, p, &opts)
			if name == "eliminated" {
				c = mustEliminate(t, p, &opts)
			}
			s := newSearch(c, 1e-9, make([]bool, len(c.penalties)))
			known := 0
			for i := range c.params {
				for _, from := range []float64{-3, 2, s.hi[i] - s.start[i]} {
					rho := append([]float64(nil), s.start...)
					rho[i] += from
					at := c.eval(rho, true)
					for _, to := range []float64{-20, -8, -4, -0.5, 0, 3, 9} {
						next := append([]float64(nil), rho...)
						next[i] += to
						change, rounding, ok := c.changeAlone(at, i, next[i])
						if !ok {
							continue
						}
						known++
						want := c.eval(next, false).objective - at.objective
						if d := math.Abs(change - want); !(d <= rounding+1e-10*(1+math.Abs(at.objective))) {
							t.Errorf("%s, %+v: parameter %d from %g by %g: the objective changes by %g, not %g", name, o, i, rho[i], to, want, change)
						}
						at = c.eval(rho, true)
					}
				}
			}
			if known == 0 {
				t.Errorf("%s: nothing is known without solving", name)
			}
		}
	}
}

// Of penalties that overlap nothing is said.
func TestChangeAloneOverlaps(t *testing.T) {
	p, _, _, _ := randomProblem(4, 200, true, true)
	c := mustCriterion(t, p, &Options{Gamma: 1})
	at := c.eval(make([]float64, c.params), true)
	for i := range c.params {
		_, _, ok := c.changeAlone(at, i, 1)
		if overlaps := !c.apart(i); ok == overlaps {
			t.Errorf("parameter %d: overlaps %v, known %v", i, overlaps, ok)
		}
	}
}

// Of finite lambdas for which infinity alone is better all go there at once, no others, and the
// criterion is better.
func TestToInfinity(t *testing.T) {
	const terms, dim, rows = 40, 12, 1000
	rng := rand.New(rand.NewPCG(9, 1))
	rough, err := Difference(dim, 2)
	if err != nil {
		t.Fatal(err)
	}
	p := &Problem{Rows: rows, SumW: rows, XX: mat.NewSymDense(terms*dim, nil), XZ: make([]float64, terms*dim), ZZ: 2 * rows}
	for j := range terms * dim { // orthogonal columns and noise
		p.XX.(*mat.SymDense).SetSym(j, j, rows)
		p.XZ[j] = 2 * math.Sqrt(rows) * rng.NormFloat64()
	}
	for i := range terms {
		p.Terms = append(p.Terms, Component{Name: fmt.Sprint(i), Start: i * dim, Dim: dim, S: []mat.Symmetric{rough}})
	}
	opts, err := (&Options{}).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	c := mustCriterion(t, p, &opts)
	s := newSearch(c, opts.Tolerance, make([]bool, terms))
	at := s.eval(s.start, true)
	want := make([]bool, terms)
	moved := 0
	for j := range terms {
		rho := append([]float64(nil), at.rho...)
		rho[j] = s.hi[j]
		if want[j] = s.better(s.eval(rho, false), at); want[j] {
			moved++
		}
	}
	if moved < 2 || moved > terms-2 {
		t.Fatalf("%d of %d terms are better at infinity: the test needs some", moved, terms)
	}
	q := s.toInfinity(at)
	if q == nil || !(q.objective < at.objective) {
		t.Fatalf("%d terms are better at infinity, but not together", moved)
	}
	for j, rho := range q.rho {
		if infinite := rho >= s.hi[j]; infinite != want[j] || s.triedInfinity[j] != want[j] {
			t.Errorf("term %d: infinite %v, tried %v; better there: %v", j, infinite, s.triedInfinity[j], want[j])
		}
	}
}
