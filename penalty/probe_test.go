package penalty

import (
	"math"
	"testing"
)

// What changeAlone says without solving is what eval finds, up and down, from where terms are
// free and from infinity.
func TestChangeAlone(t *testing.T) {
	single, _, _, _ := randomProblem(4, 200, true, true)
	linked, _, _, _ := randomProblem(5, 200, false, true)
	linked.Terms[1].Link, linked.Terms[3].Link = []string{"one"}, []string{"one"}
	several := severalResponses(6)
	for name, p := range map[string]*Problem{"single": single, "linked": linked, "several": several} {
		for _, o := range []Options{{Gamma: 1}, {Gamma: 1.4}, {Gamma: 1, Scale: 0.8}} {
			opts, err := o.withDefaults()
			if err != nil {
				t.Fatal(err)
			}
			c := mustCriterion(t, p, &opts)
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
