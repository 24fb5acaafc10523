package bspline

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// values are all functions at x.
func values(b interface {
	Dim() int
	Width() int
	Row([]float64, float64) int
}, x float64) []float64 {
	out, row := make([]float64, b.Dim()), make([]float64, b.Width())
	first := b.Row(row, x)
	for l, v := range row {
		out[(first+l)%len(out)] += v
	}
	return out
}

// TestSumsToOne, and the sum of knot averages times functions is x (Marsden's identity),
// within the range and on the lines beyond.
func TestSumsToOne(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for degree := 1; degree <= MaxDegree; degree++ {
		knots := []float64{r.NormFloat64()}
		for range 2*degree + 6 {
			knots = append(knots, knots[len(knots)-1]+0.1+r.ExpFloat64())
		}
		b, err := New(degree, knots)
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := b.Range()
		for range 100 {
			x := lo + (hi-lo)*(1.4*r.Float64()-0.2)
			sum, line := 0.0, 0.0
			for j, v := range values(b, x) {
				average := 0.0
				for _, k := range knots[j+1 : j+1+degree] {
					average += k / float64(degree)
				}
				sum += v
				line += v * average
			}
			if math.Abs(sum-1) > 1e-10 || math.Abs(line-x) > 1e-9*(1+math.Abs(x)) {
				t.Fatalf("degree %d at %v: the functions sum to %v, the line is %v", degree, x, sum, line)
			}
		}
	}
}

// TestBandIsRow: the fast way gives the values of Row, and refuses what it cannot do.
func TestBandIsRow(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	b, err := New(3, Equispaced(-2, 5, 12, 3))
	if err != nil {
		t.Fatal(err)
	}
	if lo, hi := b.Range(); math.Abs(lo+2.007) > 1e-12 || math.Abs(hi-5.007) > 1e-12 { // a thousandth wider
		t.Fatalf("the range of equispaced knots is %v to %v", lo, hi)
	}
	x := make([]float64, 37)
	for i := range x {
		x[i] = -2 + 7*r.Float64()
	}
	first, out := make([]int32, len(x)), make([]float64, 4*len(x))
	if !b.Band(first, out, x) {
		t.Fatal("equispaced cubic splines have no band")
	}
	for i, v := range x {
		row := make([]float64, 4)
		b.cubic(row, v, b.interval(v))
		if got, want := int(first[i]), b.interval(v)-3; got != want {
			t.Fatalf("at %v the first function is %d, want %d", v, got, want)
		}
		for l := range row {
			if math.Abs(row[l]-out[4*i+l]) > 1e-13 {
				t.Fatalf("at %v: %v, want %v", v, out[4*i:4*i+4], row)
			}
		}
	}
	x[3] = 6
	if b.Band(first, out, x) {
		t.Error("a value beyond the range has no band")
	}
}

// TestPeriodic: a period further on the functions are the same, and differences around
// the circle leave constants alone.
func TestPeriodic(t *testing.T) {
	b, err := NewPeriodic(3, []float64{0, 1, 2.5, 3, 4.5, 6, 7})
	if err != nil {
		t.Fatal(err)
	}
	for x := 0.05; x < 7; x += 0.1 {
		here, there := values(b, x), values(b, x+21)
		sum := 0.0
		for j, v := range here {
			sum += v
			if math.Abs(v-there[j]) > 1e-12 {
				t.Fatalf("function %d at %v is %v, three periods on %v", j, x, v, there[j])
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("at %v the functions sum to %v", x, sum)
		}
	}
	for order := 1; order < 5; order++ {
		s, ones := PeriodicDifference(6, order), mat.NewVecDense(6, []float64{1, 1, 1, 1, 1, 1})
		if v := mat.Inner(ones, s, ones); v != 0 {
			t.Errorf("order %d: a constant costs %v", order, v)
		}
		if one := mat.NewVecDense(6, []float64{0, 0, 1, 0, 0, 0}); mat.Inner(one, s, one) != choose(2*order, order) {
			t.Errorf("order %d: a peak costs %v, want %v", order, mat.Inner(one, s, one), choose(2*order, order))
		}
	}
}

func choose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return c
}
