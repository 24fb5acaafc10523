package basis

import (
	"slices"
	"testing"
)

// TestPoints: the middle of a range is taken where it is more than ten ranges away from 0, on either side.
func TestPoints(t *testing.T) {
	for _, c := range []struct{ lo, hi, want float64 }{
		{99, 101, 100}, {21, 23, 22}, {19, 21, 0}, {-23, -21, -22}, {-21, -19, 0}, {-1, 1, 0}, {0.42, 0.46, 0.44}, {7, 7, 0}, {1, -1, 0},
	} {
		r := &ranges{columns: []string{"x"}, lo: []float64{c.lo}, hi: []float64{c.hi}}
		var want []float64
		if c.want != 0 {
			want = []float64{c.want}
		}
		if got := r.points(); !slices.Equal(got, want) && !(len(got) == 1 && c.want != 0 && got[0]-c.want < 1e-12 && c.want-got[0] < 1e-12) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
