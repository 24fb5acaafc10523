package knot

import (
	"math"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		knots []float64
		want  string
	}{
		{nil, ""},
		{[]float64{-1, 0, 5e-324}, ""},
		{[]float64{0, math.NaN()}, "knot 2 is NaN"},
		{[]float64{0, 1, 1}, "knot 3 (1) is not greater than the one before (1): knots must increase"},
		{[]float64{-1e308, 1e308}, "the knots are too far apart for 64-bit numbers: rescale the column"},
	} {
		got := ""
		if err := Check(c.knots); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: %q, want %q", c.knots, got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range [][2]float64{{1, 1}, {3, 3}, {2.5, 2.5}, {3.5, 1.5}, {0.5, 2.5}, {-7.5, 2.5}, {11, 1}} {
		if got := Wrap(c[0], 1, 3); math.Abs(got-c[1]) > 1e-15 {
			t.Errorf("%v is %v in the period, want %v", c[0], got, c[1])
		}
	}
	if e := Equispaced(1, 3, 4); len(e) != 5 || e[0] != 1 || e[1] != 1.5 || e[4] != 3 {
		t.Errorf("equispaced: %v", e)
	}
}
