package penalty

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestFactor(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	var f factor
	for _, n := range []int{1, 2, 8, 9, 63, 64, 65, 73, 128, 200, 301, 7} {
		x := mat.NewDense(n+5, n, nil)
		for i := range n + 5 {
			for j := range n {
				x.Set(i, j, rng.NormFloat64())
			}
		}
		a := mat.NewSymDense(n, nil)
		a.SymOuterK(1, x.T())
		var want mat.Cholesky
		if !want.Factorize(a) {
			t.Fatal("not positive definite")
		}
		if !f.factorize(a) || !close(f.logDet(), want.LogDet(), 1e-11) {
			t.Fatalf("n = %d: log determinant %g, want %g", n, f.logDet(), want.LogDet())
		}
		inverse := mat.NewSymDense(n, nil)
		f.inverseTo(inverse)
		var one mat.Dense
		one.Mul(a, inverse)
		b := make([]float64, n)
		for i := range b {
			b[i] = rng.NormFloat64()
			for j := range n {
				want := 0.0
				if i == j {
					want = 1
				}
				if !close(one.At(i, j), want, 1e-7) {
					t.Fatalf("n = %d: A A^-1 has %g at %d,%d", n, one.At(i, j), i, j)
				}
			}
		}
		solved := append([]float64(nil), b...)
		f.solve(solved)
		var back mat.VecDense
		back.MulVec(a, mat.NewVecDense(n, solved))
		for i := range b {
			if !close(back.AtVec(i), b[i], 1e-8) {
				t.Fatalf("n = %d: A x is %g at %d, should be %g", n, back.AtVec(i), i, b[i])
			}
		}
		a.SetSym(n/2, n/2, -1)
		if f.factorize(a) {
			t.Errorf("n = %d: an indefinite matrix was factored", n)
		}
	}
}

// Large products are cut in parts for several goroutines: for any number of
// processors the same bits.
func TestAnyProcessors(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, n := range []int{200, 300} {
		x := mat.NewDense(n+5, n, nil)
		for i := range n + 5 {
			for j := range n {
				x.Set(i, j, rng.NormFloat64())
			}
		}
		a := mat.NewSymDense(n, nil)
		a.SymOuterK(1, x.T())
		var want, want2 *mat.SymDense
		for _, processors := range []int{1, 2, 3, 7} {
			before := runtime.GOMAXPROCS(processors)
			inverse := mat.NewSymDense(n, nil)
			ok := Invert(inverse, a)
			squared := sandwich(x, inverse)
			runtime.GOMAXPROCS(before)
			if !ok {
				t.Fatal("not positive definite")
			}
			if processors == 1 {
				want, want2 = inverse, squared
			} else if !mat.Equal(inverse, want) || !mat.Equal(squared, want2) {
				t.Errorf("n = %d: other results on %d processors than on one", n, processors)
			}
		}
	}
}
