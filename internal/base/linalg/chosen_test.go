package linalg

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestChosen: a matrix counts as the identity among zeros if that is what its entries are, one by one.
func TestChosen(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	taken := 0
	for range 2000 {
		rows, columns, first, skip := 1+rng.IntN(30), 1+rng.IntN(30), rng.IntN(3), rng.IntN(3)
		z := mat.NewDense(rows, columns, nil)
		for i := first; i < rows && i-first+skip < columns; i++ {
			z.Set(i, i-first+skip, 1)
		}
		if rng.IntN(2) == 0 { // something else, which may be no difference
			z.Set(rng.IntN(rows), rng.IntN(columns), []float64{0, math.Copysign(0, -1), 1, 5e-324}[rng.IntN(4)])
		}
		p, ok := chosen(z)
		if !ok {
			if first < rows && skip < columns && rows-first >= columns-skip && one(z, first, skip) {
				t.Fatalf("not taken: %v", mat.Formatted(z))
			}
			continue
		}
		taken++
		if !one(z, p.first, p.skip) {
			t.Fatalf("taken for the identity from %d, %d on: %v", p.first, p.skip, mat.Formatted(z))
		}
	}
	if taken < 500 {
		t.Errorf("only %d are taken", taken)
	}
}

// one tells whether z is the identity from row first and column skip on, and 0 elsewhere.
func one(z *mat.Dense, first, skip int) bool {
	rows, columns := z.Dims()
	for i := range rows {
		for j := range columns {
			want := 0.0
			if i >= first && j == i-first+skip {
				want = 1
			}
			if z.At(i, j) != want {
				return false
			}
		}
	}
	return true
}

// TestInner is x's y from one triangle next to the product.
func TestInner(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 7, 40} {
		x, y := make([]float64, n), make([]float64, n)
		if n == 0 {
			if v := Inner(&mat.SymDense{}, x, y); v != 0 {
				t.Errorf("of nothing: %g", v)
			}
			continue
		}
		s := mat.NewSymDense(n, nil)
		for i := range n {
			x[i], y[i] = rng.NormFloat64(), rng.NormFloat64()
			for j := i; j < n; j++ {
				s.SetSym(i, j, rng.NormFloat64())
			}
		}
		want := mat.Inner(mat.NewVecDense(n, x), s, mat.NewVecDense(n, y))
		if got := Inner(s, x, y); math.Abs(got-want) > 1e-12*float64(n*n) {
			t.Errorf("%d: %g, want %g", n, got, want)
		}
	}
}
