package projection

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/penalty"
)

// TestGramSpectrum: directions of correlations below the square of the tolerance, relative to the largest, are dropped; the others have
// the singular values of the standardised columns, and what they explain is taken from the sum of squares.
func TestGramSpectrum(t *testing.T) {
	const tiny = 1e-6 // eigenvalues 1 + r, 1 - r and 1
	r := 1 - tiny
	corr := mat.NewSymDense(3, []float64{1, r, 0, r, 1, 0, 0, 0, 1})
	p := &penalty.Problem{XZ: []float64{8, 8, 6}, ZZ: 100, SumW: 4}
	for tolerance, rank := range map[float64]int{1e-4: 3, 1e-3: 2, 1e-2: 2} {
		s, err := gramSpectrum(p, corr, []float64{1, 1, 2}, tolerance)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.values) != rank || (s.dropped == nil) != (rank == 3) {
			t.Fatalf("tolerance %g: %d directions, want %d", tolerance, len(s.values), rank)
		}
		values := s.values[rank-2:]
		if math.Abs(values[0]-2) > 1e-9 || math.Abs(values[1]-2*math.Sqrt(1+r)) > 1e-9 {
			t.Errorf("tolerance %g: singular values %v", tolerance, values)
		}
		// the third column explains (6/2)^2/4, the two others together (16/sqrt 2)^2/(4 (1 + r))
		if want := 100 - 9.0/4 - 128/(4*(1+r)); math.Abs(s.rss-want) > 1e-9 {
			t.Errorf("tolerance %g: %g is left, want %g", tolerance, s.rss, want)
		}
	}
}

// TestDependentColumns: of columns that depend on one another the last are picked, in their order.
func TestDependentColumns(t *testing.T) {
	for _, c := range []struct {
		null *mat.Dense
		want []int
	}{
		{mat.NewDense(4, 1, []float64{1, 0, -2, 0}), []int{2}},
		{mat.NewDense(5, 2, []float64{1, 0, 0, 1, -1, 0, 0, 0, 0, -1}), []int{2, 4}},
		{mat.NewDense(5, 3, []float64{1, 1, 0, 0, 0, 1, -1, 0, 0, 0, -1, 0, 0, 0, -1}), []int{2, 3, 4}},
		{mat.NewDense(4, 2, []float64{1, 0, 0, 1, 1, 1, 1, 1}), []int{1, 3}}, // the last two are dependent on one direction
	} {
		if got := dependentColumns(c.null); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", mat.Formatted(c.null), got, c.want)
		}
	}
}

// TestPreparedPairs: pairs that have next to nothing in common are known to be apart, whichever comes first.
func TestPreparedPairs(t *testing.T) {
	const rows = 4000
	random := rand.New(rand.NewPCG(8, 8))
	x := mat.NewDense(rows, 6, nil)
	for i := range rows {
		for j := range 6 {
			x.Set(i, j, random.NormFloat64())
		}
		x.Set(i, 4, x.At(i, 0)+0.1*x.At(i, 4)) // the third term has nearly a column of the first
	}
	s := spansOf(x, []int{0, 2, 4, 6})
	for j := range s.terms {
		s.terms[j] = newSpannable(s.terms[j].corr, []float64{1, 1}, nil)
	}
	_, apart, err := s.prepared(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []bool{false, true, false, true, false, true, false, true, false}; !slices.Equal(apart, want) {
		t.Errorf("apart %v, want %v", apart, want)
	}
}
