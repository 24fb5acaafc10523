package basis

import (
	"encoding/json"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
)

// TestRBFKeepsTheLaws is the one test that a new basis needs; the others say what
// is special about it.
func TestRBFKeepsTheLaws(t *testing.T) {
	for _, text := range []string{
		`~ s(x, z, bs="rbf", k=12)`, `~ s(x, bs="rbf", k=5)`, `~ s(x, z, bs="rbf", knots=c(0,0, 1,1, -1,2))`, `~ s(x, z, h, bs="rbf", k=9, by=g)`,
	} {
		f, err := Parse(text, &Options{Schema: sampleSchema()})
		must(t, err)
		if err := decomposetest.Spec(f.Specs[0], Decode, sample(t, 60, 3)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestRBFIsGaussian(t *testing.T) {
	b := sample(t, 200, 1)
	block := mustBuild(t, Surface([]string{"x", "z"}, RBF{Knots: []float64{0, 0, 3, 1}, Width: 2}, nil), b)[0]
	x, z := mustNumeric(t, b, "x"), mustNumeric(t, b, "z")
	sx, sz := deviation(x), deviation(z)
	got := evaluate(t, block.Term, b)
	gauss := func(u, v float64) float64 {
		return math.Exp(-(math.Pow(u/sx/2, 2) + math.Pow(v/sz/2, 2)) / 2)
	}
	for i := range x {
		if d := math.Abs(got.At(i, 1) - gauss(x[i]-3, z[i]-1)); d > 1e-14 {
			t.Fatalf("row %d differs by %g", i, d)
		}
	}
	if d := block.Penalty.S[0].At(0, 1) - gauss(3, 1); math.Abs(d) > 1e-15 || block.Penalty.S[0].At(1, 1) != 1 {
		t.Errorf("penalty %v", mat.Formatted(block.Penalty.S[0]))
	}
}

func deviation(x []float64) float64 {
	mean, square := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		square += (v - mean) * (v - mean) / float64(len(x))
	}
	return math.Sqrt(square)
}

func TestRBFRefuses(t *testing.T) {
	for _, c := range []struct {
		spec decompose.Spec
		x    []float64
		want string
	}{
		{Surface([]string{"x"}, RBF{K: 9}, nil), step(20, 5), `term s(x): column "x": 5 distinct points, fewer than k = 9: set k = 5 or less`},
		{Surface([]string{"x"}, RBF{}, nil), step(20, 1), `term s(x): column "x" has 1 distinct value, 0: leave the term out`},
		{Surface([]string{"x"}, RBF{K: 1}, nil), step(20, 5), `term s(x): k = 1: rbf takes k from 2 to 1000`},
		{Surface([]string{"x"}, RBF{Width: -1}, nil), step(20, 5), `term s(x): rbf: the width is -1: a positive number of standard deviations, or 0`},
		{Surface([]string{"x"}, RBF{Knots: []float64{1, 2, 1}}, nil), step(20, 5), `term s(x): knots 1 and 3 are the same`},
		{Surface([]string{"x"}, RBF{Knots: []float64{1, 2}, K: 3}, nil), step(20, 5), `term s(x): knots has 2 numbers: rbf of 1 column with k = 3 takes 3 knots of 1 each`},
		{Surface([]string{"x"}, RBF{Knots: []float64{1, math.NaN()}}, nil), step(20, 5), `term s(x): number 2 of knots is NaN`},
	} {
		got := ""
		if err := scanAndBuild(c.spec, c.x); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// TestDecodeRBF: centres that do not fit the columns, or are too few, are refused.
func TestDecodeRBF(t *testing.T) {
	for _, c := range []struct {
		knots, inverse []float64
		ok             bool
	}{
		{[]float64{0, 1, 2}, []float64{1, 1}, false},
		{[]float64{0, 1, 2, 3}, []float64{1}, false},
		{[]float64{0, 1}, []float64{1, 1}, false}, // one centre
		{[]float64{0, 1, 2, 3}, []float64{1, 1}, true},
	} {
		raw, err := json.Marshal(radialJSON{c.knots, c.inverse})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decodeRBF(raw, 2); (err == nil) != c.ok {
			t.Errorf("%v, %v: %v", c.knots, c.inverse, err)
		}
	}
}
