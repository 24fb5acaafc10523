package compare_test

import (
	"math"
	"slices"
	"testing"

	"github.com/pho-go/pho/compare"
	"github.com/pho-go/pho/decompose"
)

// Terms of the same columns are one line, whatever they are called: of a spline and a line, of surfaces whose columns stand
// in another order, of a sum and a term. What they have of the variance adds up as before.
func TestTermsOfTheSameColumns(t *testing.T) {
	m := &box{func(x0, x1, g float64) float64 { return math.Sin(2*x0) + x1/2 + x0*x1/2 + g }}
	first, second := drawn{n: 400, seed: 21, names: three}.table(t), drawn{n: 300, seed: 22, names: three}.table(t)
	for _, of := range []struct {
		a, b  string
		lines []string
		same  bool // the two span the same functions
	}{
		{`~ s(x0, k=7) + x1 + g`, `~ x0 + s(x1, k=5) + g`, []string{"s(x0), in B x0", "x1, in B s(x1)", "g"}, false},
		{`~ x0 + x1 + ti(x0, x1, k=4)`, `~ x1 + x0 + ti(x1, x0, k=4)`, []string{"x0", "x1", "ti(x0,x1), in B ti(x1,x0)"}, true},
		{`~ x0 + s(x0, k=7) + x1`, `~ s(x0, k=7) + x1`, []string{"x0 + s(x0), in B s(x0)", "x1"}, true},
		{`~ s(x0, k=7) + x1`, `~ x1 + s(x0, k=7) + x0`, []string{"s(x0), in B s(x0) + x0", "x1"}, true},
		{`~ x0 + s(x0, k=7) + x1`, `~ x0 + s(x0, k=7) + x1`, []string{"x0 + s(x0)", "x1"}, true},
		{`~ x0 + x1`, `~ s(x0, k=7) + g`, []string{"x0, in B s(x0)", "x1", "g"}, false},
	} {
		t.Run(of.a+" and "+of.b, func(t *testing.T) {
			a, _ := side(t, "A", m, first, terms(t, m, first, of.a), "")
			alike, _ := side(t, "A", m, first, terms(t, m, first, of.b), "")
			b, _ := side(t, "B", m, second, terms(t, m, second, of.b), "")
			c := compared(t, a, b)
			var lines []string
			for _, term := range c.Predictors[0].Terms {
				lines = append(lines, term.Shown())
				if term.In == "both" && (term.Curve == nil || term.Curve.Ratio == nil) {
					t.Errorf("%s has no curve, or no standard errors: %+v", term.Name, term)
				}
			}
			if !slices.Equal(lines, of.lines) || len(c.Predictors[0].Sums) != 0 {
				t.Errorf("the lines are %q and %d sums, want %q", lines, len(c.Predictors[0].Sums), of.lines)
			}
			addUp(t, c)
			for _, term := range compared(t, a, alike).Predictors[0].Terms {
				if of.same && !(term.Curve.RMS <= 1e-6) {
					t.Errorf("%s: curves of the same rows and functions differ by %g", term.Name, term.Curve.RMS)
				}
			}
		})
	}
}

// addUp checks that what the lines and the remainder have of the variance adds up to it.
func addUp(t *testing.T, c *compare.Comparison) {
	t.Helper()
	p := c.Predictors[0]
	sum := *p.Unstructured
	for _, term := range p.Terms {
		sum.A, sum.B = sum.A+term.Variance.A, sum.B+term.Variance.B
	}
	if math.Abs(sum.A-p.Variance.A) > 1e-9 || math.Abs(sum.B-p.Variance.B) > 1e-9 {
		t.Errorf("the parts add up to %+v of %+v", sum, p.Variance)
	}
}

// Sums that both have and the rows tell apart stand beside their terms, and add nothing to the variance.
func TestSumsBesideTheirTerms(t *testing.T) {
	m := &box{func(x0, x1, g float64) float64 { return math.Sin(2*x0) + x1/2 + g }}
	first, second := drawn{n: 400, seed: 21, names: three}.table(t), drawn{n: 300, seed: 22, names: three}.table(t)
	const formula = `~ x0 + s(x0, k=7) + x1`
	a, _ := side(t, "A", m, first, terms(t, m, first, formula), "")
	b, _ := side(t, "B", m, second, terms(t, m, second, formula), "")
	for _, s := range []compare.Side{a, b} { // as if the rows told them apart
		s.Result.Predictors[0].Entangled = []decompose.Entanglement{}
	}
	c := compared(t, a, b)
	if p := c.Predictors[0]; len(p.Terms) != 3 || len(p.Sums) != 1 || p.Sums[0].Variance != nil {
		t.Errorf("%+v", p)
	}
	addUp(t, c)
}

// TestOnlySums: a change of one of several terms of other columns that the rows tell only together is one of how these were
// split, and says so.
func TestOnlySums(t *testing.T) {
	m := &box{func(x0, x1, g float64) float64 { return x0 + x1 + g }}
	tab := drawn{n: 300, seed: 21, names: three}.table(t)
	formula := `~ x0 + x1 + g`
	a, _ := side(t, "A", m, tab, terms(t, m, tab, formula), "")
	b, _ := side(t, "B", m, tab, terms(t, m, tab, formula), "")
	together := []decompose.Entanglement{{Terms: []string{"x0", "x1"}}}
	for _, of := range []struct {
		inA, inB []decompose.Entanglement
		note     string
	}{
		{nil, nil, ""},
		{together, together, "the rows tell only x0 + x1, not this term"},
		{together, nil, "the rows of A tell only x0 + x1, not this term"},
		{nil, together, "the rows of B tell only x0 + x1, not this term"},
	} {
		a.Result.Predictors[0].Entangled, b.Result.Predictors[0].Entangled = of.inA, of.inB
		c := compared(t, a, b)
		if x0, g := term(t, c, "x0").Note, term(t, c, "g").Note; x0 != of.note || g != "" {
			t.Errorf("notes %q and %q, want %q and none", x0, g, of.note)
		}
	}
}
