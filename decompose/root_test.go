package decompose

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Either root of a singular covariance gives it back, and no more columns than its rank.
func TestRoots(t *testing.T) {
	const n, rank = 40, 25
	r := rand.New(rand.NewPCG(1, 2))
	x := mat.NewDense(n, rank, nil)
	for i := range n {
		for j := range rank {
			x.Set(i, j, r.NormFloat64())
		}
	}
	s := mat.NewSymDense(n, nil)
	s.SymOuterK(1.0/n, x)
	for name, root := range map[string]func(*mat.SymDense) *mat.Dense{"eigenvectors": eigenRoot, "Cholesky": choleskyRoot} {
		l := root(s)
		if _, got := l.Dims(); got != rank {
			t.Errorf("%s: rank %d, want %d", name, got, rank)
		}
		var back mat.Dense
		back.Mul(l, l.T())
		for i := range n {
			for j := range n {
				if math.Abs(back.At(i, j)-s.At(i, j)) > 1e-13 {
					t.Fatalf("%s: %g at %d, %d, want %g", name, back.At(i, j), i, j, s.At(i, j))
				}
			}
		}
		if zero := root(mat.NewSymDense(3, nil)); mat.Norm(zero, 1) != 0 {
			t.Errorf("%s: the root of 0 is %v", name, zero)
		}
	}
}
