package basis

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestSubsampleIsTold(t *testing.T) {
	spec := Smooth("x", CR{}, nil).Scanner().(*smoothScan)
	spec.x.Limit = 100
	if len(spec.Notes()) != 0 {
		t.Errorf("notes before the scan: %v", spec.Notes())
	}
	buildWith(t, spec, numbers(t, "x", step(1000, 1000)))
	if n := spec.Notes(); len(n) != 1 || !strings.HasPrefix(n[0], `term s(x): column "x" has more than 100 distinct values; the knots are quantiles of `) {
		t.Errorf("notes: %q", n)
	}
}

func TestLevelOrder(t *testing.T) {
	for _, c := range []struct{ cells, want []string }{
		{[]string{"10", "9", "-1", "1e1", "2.5"}, []string{"-1", "2.5", "9", "10", "1e1"}},
		{[]string{"10", "9", "a"}, []string{"10", "9", "a"}},
		{[]string{"b", "B", "ä", "a", ""}, []string{"", "B", "a", "b", "ä"}},
		{[]string{"NaN", "1", "Inf"}, []string{"1", "Inf", "NaN"}},
	} {
		b := numbers(t, "unused", make([]float64, len(c.cells)))
		must(t, b.SetCodes("g", encode(c.cells)))
		term := mustBuild(t, Factor("g", nil), b)[0].Term.(*FactorTerm)
		if !slices.Equal(term.Levels(), c.want) {
			t.Errorf("levels of %q are %q, want %q", c.cells, term.Levels(), c.want)
		}
	}
}

// TestLevelsOfNumbersAndText: a factor of numbers meets the same column as text,
// and the reverse; -0 is 0.
func TestLevelsOfNumbersAndText(t *testing.T) {
	asNumbers := numbers(t, "g", []float64{1000001, 0.5, math.Copysign(0, -1), 0})
	asText := numbers(t, "unused", make([]float64, 4))
	must(t, asText.SetCodes("g", encode([]string{"1000001", "0.5", "0", "0"})))
	a, b := mustBuild(t, Factor("g", nil), asNumbers)[0].Term, mustBuild(t, Factor("g", nil), asText)[0].Term
	if want := []string{"0", "0.5", "1000001"}; !slices.Equal(a.(*FactorTerm).Levels(), want) || !slices.Equal(b.(*FactorTerm).Levels(), want) {
		t.Fatalf("levels %q and %q", a.(*FactorTerm).Levels(), b.(*FactorTerm).Levels())
	}
	bits(t, "text by a factor of numbers", evaluate(t, a, asText), evaluate(t, b, asNumbers))
}
