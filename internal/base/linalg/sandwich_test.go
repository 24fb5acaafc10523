package linalg

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestSandwich compares with two products of gonum's, for sizes around those of panels.
func TestSandwich(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{1, 7, 64, 65, 200, preparedColumns + 9} {
		c, m := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				c.SetSym(i, j, r.NormFloat64())
				m.SetSym(i, j, r.NormFloat64())
			}
		}
		var want mat.Dense
		want.Product(c, m, c)
		got, largest := Sandwich(c, m), mat.Max(&want)
		for i := range n {
			for j := range n {
				if far := math.Abs(got.At(i, j) - want.At(i, j)); !(far <= 1e-12*float64(n)*math.Abs(largest)) {
					t.Fatalf("n = %d: entry %d, %d is %g, want %g", n, i, j, got.At(i, j), want.At(i, j))
				}
			}
		}
	}
}
