package linalg

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// deficient is a correlation-like matrix of n columns of which the last r are sums of others.
func deficient(n, r int) *mat.SymDense {
	full := gram(n-r, 3)
	to := mat.NewDense(n-r, n, nil)
	for i := range n - r {
		to.Set(i, i, 1)
	}
	for j := range r {
		to.Set(j, n-r+j, 0.7)
		to.Set(j+1, n-r+j, -0.7)
	}
	var c mat.Dense
	c.Product(to.T(), full, to)
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, c.At(i, j))
		}
	}
	return s
}

// Next to gonum's eigendecomposition.
func TestNullSpace(t *testing.T) {
	for _, n := range []int{130, 200} {
		for _, r := range []int{0, 1, 7, 16, 19} {
			if r >= n/4 {
				continue
			}
			c := deficient(n, r)
			before := clone(c)
			s, ok := NullSpace(c, 1e-12)
			if !ok {
				t.Errorf("%d, %d: not found", n, r)
				continue
			}
			if !mat.Equal(c, before) {
				t.Fatal("the matrix has changed")
			}
			var e mat.EigenSym
			e.Factorize(c, true)
			values := e.Values(nil)
			var vectors mat.Dense
			e.VectorsTo(&vectors)
			found := 0
			if s.Directions != nil {
				_, found = s.Directions.Dims()
			}
			if found != r {
				t.Fatalf("%d: %d directions, there are %d", n, found, r)
			}
			if math.Abs(s.Largest/values[n-1]-1) > 1e-5 || math.Abs(s.Smallest/values[r]-1) > 1e-5 {
				t.Errorf("%d, %d: eigenvalues %g to %g, gonum has %g to %g", n, r, s.Smallest, s.Largest, values[r], values[n-1])
			}
			want := mat.NewSymDense(n, nil) // the inverse by eigenvectors
			for l := r; l < n; l++ {
				want.SymRankOne(want, 1/values[l], vectors.ColView(l))
			}
			var difference mat.Dense
			difference.Sub(want, s.Inverse)
			if d := mat.Norm(&difference, 2) / mat.Norm(want, 2); d > 1e-15*float64(n)*values[n-1]/values[r] {
				t.Errorf("%d, %d: inverses differ by %g", n, r, d)
			}
			if r > 0 { // the same space: the projections agree
				var a, b, d mat.Dense
				a.Mul(s.Directions, s.Directions.T())
				b.Mul(vectors.Slice(0, n, 0, r), vectors.Slice(0, n, 0, r).T())
				d.Sub(&a, &b)
				if norm := mat.Norm(&d, 2); norm > 1e-10 {
					t.Errorf("%d, %d: spaces differ by %g", n, r, norm)
				}
			}
		}
	}
}

// An eigenvalue near the limit is not decided.
func TestNullSpaceNearLimit(t *testing.T) {
	for _, factor := range []float64{0.5, 0.9, 1.1, 2} {
		c := mat.NewSymDense(50, nil)
		for i := range 50 {
			c.SetSym(i, i, 1)
		}
		c.SetSym(10, 10, factor*1e-8)
		if _, ok := NullSpace(c, 1e-8); ok {
			t.Errorf("decided at %g of the limit", factor)
		}
	}
}
