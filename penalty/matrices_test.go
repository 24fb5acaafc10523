package penalty

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func quadratic(s *mat.SymDense, a []float64) float64 {
	v := mat.NewVecDense(len(a), a)
	return mat.Inner(v, s, v)
}

func TestDifference(t *testing.T) {
	s, err := Difference(5, 2)
	if err != nil {
		t.Fatal(err)
	}
	a := []float64{1, 4, 2, 2, 7}
	want := 0.0
	for i := range 3 {
		d := a[i] - 2*a[i+1] + a[i+2]
		want += d * d
	}
	if got := quadratic(s, a); got != want {
		t.Errorf("a'Sa = %g, want %g", got, want)
	}
	if s, err := Difference(3, 0); err != nil || !mat.Equal(s, Ridge(3)) {
		t.Errorf("order 0 is not the ridge: %v, %v", s, err)
	}
	for _, c := range []struct{ k, order int }{{2, 2}, {0, 0}, {5, -1}} {
		if _, err := Difference(c.k, c.order); err == nil {
			t.Errorf("Difference(%d, %d) should be an error", c.k, c.order)
		}
	}
}

// With knots at the Greville points' rule, the spline with coefficients
// xi_i = mean of the degree inner knots is x itself; products of knots give x^2
// and x^3 (Marsden). The integrals of their derivatives are known.
func TestBSplineDerivativeOnPolynomials(t *testing.T) {
	knots := []float64{-1, -0.5, 0, 0.2, 1, 1.1, 1.5, 2.5, 3, 3, 4, 6} // one is double
	degree := 3
	k := len(knots) - degree - 1
	lo, hi := knots[degree], knots[k]
	x1, x2, x3 := make([]float64, k), make([]float64, k), make([]float64, k)
	for i := range k {
		a, b, c := knots[i+1], knots[i+2], knots[i+3]
		x1[i], x2[i], x3[i] = (a+b+c)/3, (a*b+a*c+b*c)/3, a*b*c
	}
	power := func(p float64) float64 { return (math.Pow(hi, p+1) - math.Pow(lo, p+1)) / (p + 1) }
	for _, c := range []struct {
		order int
		a     []float64
		want  float64
	}{
		{0, x1, power(2)}, {0, x3, power(6)}, {1, x1, hi - lo}, {1, x2, 4 * power(2)}, {1, x3, 9 * power(4)},
		{2, x1, 0}, {2, x2, 4 * (hi - lo)}, {2, x3, 36 * power(2)}, {3, x2, 0}, {3, x3, 36 * (hi - lo)},
	} {
		s, err := BSplineDerivative(knots, degree, c.order)
		if err != nil {
			t.Fatal(err)
		}
		if got := quadratic(s, c.a); math.Abs(got-c.want) > 1e-11*(1+c.want) {
			t.Errorf("derivative %d: integral %.14g, want %.14g", c.order, got, c.want)
		}
	}
	for _, c := range []struct {
		knots         []float64
		degree, order int
		message       string
	}{
		{knots, 3, 4, "the order must lie in 0..degree"},
		{knots[:6], 3, 2, "6 knots are too few"},
		{[]float64{0, 1, 2, 3, 2.5, 5, 6, 7}, 3, 2, "knot 5 (2.5) is not finite or below"},
		{make([]float64, 8), 3, 2, "the knots span no interval"},
	} {
		if _, err := BSplineDerivative(c.knots, c.degree, c.order); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("error %v, should say %q", err, c.message)
		}
	}
}

func TestScale(t *testing.T) {
	s := mat.NewSymDense(2, []float64{3, -1, -1, 2})
	scaled, factor := Scale(s, 4)
	if factor != 16.0/4 || scaled.At(0, 1) != -4 || s.At(0, 1) != -1 {
		t.Errorf("factor %g, entry %g, original %g", factor, scaled.At(0, 1), s.At(0, 1))
	}
	if _, factor := Scale(mat.NewSymDense(2, nil), 4); factor != 1 {
		t.Errorf("a zero penalty has factor %g", factor)
	}
}
