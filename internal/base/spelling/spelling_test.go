package spelling_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pho-go/pho/internal/base/spelling"
)

func TestNearest(t *testing.T) {
	known := []string{"gaussian", "binomial", "poisson", "s", "te"}
	for name, want := range map[string]string{
		"gausian": "gaussian", "Poisson": "poisson", "posison": "poisson", "et": "te",
		"x": "", "gamma": "", "": "",
	} {
		if got := spelling.Nearest(name, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
	if got := spelling.Closest("zzz", []string{"alpha", "beta"}); got != "beta" {
		t.Errorf("Closest is %q", got)
	}
	if got := spelling.Closest("zzz", nil); got != "" {
		t.Errorf("Closest of nothing is %q", got)
	}
	if got := spelling.Closest(strings.Repeat("z", 1000), []string{"alpha"}); got != "" {
		t.Errorf("Closest of a long name is %q", got)
	}
}

func TestDistanceIsAMetricOfShortNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.SampledFrom([]rune("abé")), 0, 6, -1)
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := spelling.Distance(a, b)
		if d != spelling.Distance(b, a) || (d == 0) != (a == b) {
			t.Errorf("Distance(%q, %q) = %d", a, b, d)
		}
		if longest := max(len([]rune(a)), len([]rune(b))); d > longest {
			t.Errorf("Distance(%q, %q) = %d is more than %d letters", a, b, d, longest)
		}
	})
	if spelling.Distance("ab", "ba") != 1 || spelling.Distance(strings.Repeat("a", 300), "a") != math.MaxInt {
		t.Error("a swap is one step, a long name is far")
	}
}
