package cubic

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestPenaltiesMeasureRoughness: the cr penalty is the integral of the squared
// second derivative, found here by Simpson's rule on each interval (exact).
func TestPenaltiesMeasureRoughness(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	knots := make([]float64, 9)
	for i := range knots {
		knots[i] = r.Float64() * r.Float64()
	}
	slices.Sort(knots)
	c, err := NewNatural(knots)
	if err != nil {
		t.Fatal(err)
	}
	a := mat.NewVecDense(9, nil)
	for i := range 9 {
		a.SetVec(i, r.NormFloat64())
	}
	delta := make([]float64, 9)
	for i, f := range c.f {
		delta[i] = mat.Dot(mat.NewVecDense(9, f), a)
	}
	want := 0.0
	for i, h := range c.knots[1:] {
		mid := (delta[i] + delta[i+1]) / 2
		want += (h - c.knots[i]) / 6 * (delta[i]*delta[i] + 4*mid*mid + delta[i+1]*delta[i+1])
	}
	if got := mat.Inner(a, c.Penalty(), a); math.Abs(got/want-1) > 1e-10 {
		t.Errorf("a'Sa = %v, the integral is %v", got, want)
	}
}

// The interval of a cyclic spline is that of a search, on knots of any distances.
func TestCyclicInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		knots := []float64{r.NormFloat64()}
		for range 3 + r.IntN(20) {
			step := r.ExpFloat64() + 0.01
			if r.IntN(4) == 0 {
				step *= 50
			}
			knots = append(knots, knots[len(knots)-1]+step)
		}
		c, err := NewCyclic(knots)
		if err != nil {
			t.Fatal(err)
		}
		n := len(knots) - 1
		for i := range 200 {
			x := knots[0] + r.Float64()*(knots[n]-knots[0])
			if i <= n {
				x = knots[i]
			}
			want := sort.Search(n-1, func(i int) bool { return x < knots[i+1] })
			if got := c.interval(x); got != want {
				t.Fatalf("x %v is in interval %d of %v, got %d", x, want, knots, got)
			}
		}
	}
}

// TestShrunkPenalty: the constant costs a hundredth and the line a tenth of the smoothest
// curve, whose cost stays as it was.
func TestShrunkPenalty(t *testing.T) {
	knots := []float64{0, 1, 1.5, 3, 4, 7}
	c, err := NewNatural(knots)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.ShrunkPenalty()
	if err != nil {
		t.Fatal(err)
	}
	values := func(m *mat.SymDense) []float64 {
		var d mat.EigenSym
		d.Factorize(m, false)
		return d.Values(nil)
	}
	plain, shrunk := values(c.Penalty()), values(s)
	for i, want := range []float64{plain[2] / 100, plain[2] / 10, plain[2], plain[3], plain[4], plain[5]} {
		if math.Abs(shrunk[i]-want) > 1e-12*plain[5] {
			t.Errorf("eigenvalue %d is %v, want %v", i, shrunk[i], want)
		}
	}
}
