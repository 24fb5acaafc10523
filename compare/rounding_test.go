package compare

import (
	"slices"
	"testing"
)

// TestSettle: rounding errors become 0, small numbers stay.
func TestSettle(t *testing.T) {
	rows := 3e-15
	p := Predictor{
		Mean: Mean{Change: Change{2, 2, 4e-16}, Rows: -1e-15, Rest: 1e-6}, Variance: change(0.9, 1),
		Terms: []Term{{Rows: &rows, Variance: &Change{1e-17, 0.3, 0.3}, Curve: &Shift{RMS: 1e-16, Largest: 1e-8}}},
	}
	p.settle()
	c := p.Terms[0]
	if p.Mean.Change.Change != 0 || p.Mean.Rows != 0 || *c.Rows != 0 || c.Variance.A != 0 || c.Curve.RMS != 0 {
		t.Errorf("rounding is left: %+v, %+v", p, c)
	}
	if p.Mean.Rest != 1e-6 || c.Variance.B != 0.3 || c.Curve.Largest != 1e-8 || p.Mean.A != 2 {
		t.Errorf("what is small is gone: %+v, %+v", p, c)
	}
}

// TestOfBoth: a common grid is close where either of the two is.
func TestOfBoth(t *testing.T) {
	var a, b []float64
	for i := range 101 {
		a, b = append(a, float64(i)/100), append(b, float64(i*i)/10)
	}
	x := ofBoth(a, b, 0, 1)
	if len(x) > commonPoints || len(x) < 60 || x[0] != 0 || x[len(x)-1] != 1 || !slices.IsSorted(x) {
		t.Fatalf("%v", x)
	}
	x = ofBoth(b, append(a, 900), 0, 900)
	fine := 0
	for _, v := range x {
		if v <= 1 {
			fine++
		}
	}
	if len(x) != commonPoints || fine < 40 || x[len(x)-1] != 900 {
		t.Errorf("%d of %d points up to 1", fine, len(x))
	}
}
