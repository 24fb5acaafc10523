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

// TestTriangleTimes compares with gonum's product, for sizes around those of blocks of rows.
func TestTriangleTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 255, 256, 257, 700} {
		s, x, got := mat.NewSymDense(n, nil), make([]float64, n), make([]float64, n)
		for i := range n {
			x[i], got[i] = r.NormFloat64(), math.NaN()
			for j := i; j < n; j++ {
				s.SetSym(i, j, r.NormFloat64())
			}
			for j := range i { // nobody reads the lower triangle
				s.RawSymmetric().Data[i*n+j] = math.NaN()
			}
		}
		TriangleTimes(got, s, x)
		var want mat.VecDense
		want.MulVec(s, mat.NewVecDense(n, x))
		for i, v := range got {
			if !(math.Abs(v-want.AtVec(i)) <= 1e-12*float64(n)) {
				t.Fatalf("n = %d: number %d is %g, want %g", n, i, v, want.AtVec(i))
			}
		}
	}
}
