package simulation

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCoefficients(t *testing.T) {
	if got, want := Coefficients(10), []float64{-2.5, -2, -1.5, -1, -0.5, 0.5, 1, 1.5, 2, 2.5}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestDraw: y less the effects is a standard normal error up to a constant.
func TestDraw(t *testing.T) {
	const n = 20000
	s, err := Draw(rand.New(rand.NewPCG(1, 2)), n, Functions(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Deep) != 13 || s.Deep[12] != "z2" || s.Table.Rows() != n || s.Formula("s(%s)")[:18] != "y ~ s(x0) + s(x1) " {
		t.Errorf("features %v, %d rows, %q", s.Deep, s.Table.Rows(), s.Formula("s(%s)"))
	}
	e := slices.Clone(s.Y)
	for _, truth := range s.Truth {
		for i, v := range truth {
			e[i] -= v
		}
	}
	if sd := RMSE(Centred(e), make([]float64, n)); math.Abs(sd-1) > 0.02 {
		t.Errorf("the error has standard deviation %g", sd)
	}
	if m := Centred(s.Y); math.Abs(m[0]-s.Y[0]) > 1e-12 {
		t.Errorf("the mean of y is %g", s.Y[0]-m[0])
	}
	for j, f := range []float64{math.Cos(5), math.Tanh(3), -1, -3 * math.Cos(1), math.Exp(0.5) - 1, 1, math.Sin(1) * math.Cos(1), 1, 0.24197072451914337 - 0.125, -math.Tanh(3) * math.Sin(4)} {
		if got := Functions()[j](1); math.Abs(got-f) > 1e-15 {
			t.Errorf("f_%d(1) = %v, want %v", j, got, f)
		}
	}
	if len(Names()) != 10 {
		t.Error("a name is missing")
	}
}
