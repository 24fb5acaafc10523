package report

import (
	"testing"

	"github.com/pho-go/pho/compare"
	"github.com/pho-go/pho/decompose"
)

// TestLargestAt: places are written with the digits that a reader can use.
func TestLargestAt(t *testing.T) {
	for _, c := range []struct{ x, x2, want string }{
		{"0.200256", "", "0.2"}, {"0.899445", "-3.61794", "0.899, −3.62"}, {"south", "", "south"}, {"south", "1.50001", "south, 1.5"}, {"1.944 m", "", "1.944 m"},
	} {
		if got := largestAt(&compare.Shift{X: c.x, X2: c.x2}); got != c.want {
			t.Errorf("%q and %q are %q, want %q", c.x, c.x2, got, c.want)
		}
	}
}

// TestResponseText: a class or a count is a whole number.
func TestResponseText(t *testing.T) {
	for v, want := range map[float64]string{4: "4", 44.71: "44.7", 1234: "1234", 0: "0", -2.5: "−2.5"} {
		if got := responseText(&decompose.Result{}, v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}
