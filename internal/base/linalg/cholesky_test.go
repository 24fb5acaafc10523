package linalg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
)

// sizes lie beside and on the borders of strips, panels and chunks.
var sizes = []int{1, 2, 7, 8, 9, 33, 63, 64, 65, 130, 257, 400}

// gram is X'X/n of random columns, the last of which are condition times as long as the first.
func gram(n int, condition float64) *mat.SymDense {
	random := rand.New(rand.NewPCG(uint64(n), 1))
	rows := n + n/2 + 2
	x := make([]float64, rows*n)
	step := math.Pow(condition, 1/float64(n))
	for i := range rows {
		scale := 1 / math.Sqrt(float64(n))
		for j := range n {
			x[i*n+j] = random.NormFloat64() * scale
			scale *= step
		}
	}
	s := mat.NewSymDense(n, nil)
	kernel.AddGram(s.RawSymmetric().Data, n, x, n, n, rows, nil)
	return s
}

func clone(s *mat.SymDense) *mat.SymDense {
	c := mat.NewSymDense(s.SymmetricDim(), nil)
	c.CopySym(s)
	return c
}

// Next to gonum's: residuals relative to what rounding allows, n times epsilon.
func TestCholesky(t *testing.T) {
	for _, n := range sizes {
		a := gram(n, 10)
		f := clone(a)
		var c Cholesky
		if !c.Factorize(f) {
			t.Fatalf("%d: not positive definite", n)
		}
		var judge mat.Cholesky
		judge.Factorize(a)
		tolerance := 1e-15 * float64(n+10)
		if d := math.Abs(c.LogDet() - judge.LogDet()); d > tolerance*(1+math.Abs(judge.LogDet())) {
			t.Errorf("%d: log determinant differs by %g", n, d)
		}
		u := mat.NewTriDense(n, mat.Upper, nil)
		for i := range n {
			for j := i; j < n; j++ {
				u.SetTri(i, j, f.At(i, j))
			}
		}
		var back mat.Dense
		back.Mul(u.T(), u)
		back.Sub(&back, a)
		if r := mat.Norm(&back, 2) / mat.Norm(a, 2); r > tolerance {
			t.Errorf("%d: |U'U - A| is %g of |A|", n, r)
		}
		x, b := make([]float64, n), make([]float64, n)
		for i := range b {
			b[i] = math.Sin(float64(i))
		}
		copy(x, b)
		c.Solve(x)
		var left mat.VecDense
		left.MulVec(a, mat.NewVecDense(n, x))
		left.SubVec(&left, mat.NewVecDense(n, b))
		if r := mat.Norm(&left, 2) / (mat.Norm(a, 2) * mat.Norm(mat.NewVecDense(n, x), 2)); r > tolerance {
			t.Errorf("%d: |Ax - b| is %g of |A||x|", n, r)
		}
		c.Invert()
		var one mat.Dense
		one.Mul(a, f)
		for i := range n {
			one.Set(i, i, one.At(i, i)-1)
			for j := range i {
				if f.RawSymmetric().Data[i*n+j] != f.At(i, j) {
					t.Fatalf("%d: the triangles differ", n)
				}
			}
		}
		if r := mat.Norm(&one, 2) / (mat.Norm(a, 2) * mat.Norm(f, 2)); r > tolerance {
			t.Errorf("%d: |A A^-1 - I| is %g of |A||A^-1|", n, r)
		}
	}
}

func TestInverseFactor(t *testing.T) {
	for _, n := range sizes {
		a := gram(n, 10)
		f := clone(a)
		var c Cholesky
		c.Factorize(f)
		x := mat.NewDense(n, n, nil)
		x.Set(n-1, 0, 5) // what was there does not count
		c.InverseFactorTo(x)
		var one mat.Dense
		one.Product(x.T(), a, x)
		for i := range n {
			one.Set(i, i, one.At(i, i)-1)
			for j := range i {
				if x.At(i, j) != 0 {
					t.Fatalf("%d: not zero below the diagonal", n)
				}
			}
		}
		if r := mat.Norm(&one, math.Inf(1)); r > 1e-13*float64(n+10) {
			t.Errorf("%d: |U^-T A U^-1 - I| is %g", n, r)
		}
	}
}

func TestNotPositiveDefinite(t *testing.T) {
	for _, n := range sizes {
		for _, at := range []int{0, n / 2, n - 1} {
			a := gram(n, 1)
			a.SetSym(at, at, -1e-3)
			if new(Cholesky).Factorize(a) {
				t.Errorf("%d: a matrix with %d negative is taken for positive definite", n, at)
			}
		}
		a := gram(n, 1)
		a.SetSym(n-1, n-1, math.NaN())
		if new(Cholesky).Factorize(a) {
			t.Errorf("%d: a matrix with NaN is taken for positive definite", n)
		}
	}
}

// The same bits for any number of processors, hence also for any number of columns at once.
func TestWorkers(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	const n = 1100
	if one, two, five := columnsAtOnce(n, 1), columnsAtOnce(n, 2), columnsAtOnce(n, 5); one == two || two == five {
		t.Fatalf("%d, %d and %d columns at once: they are to differ", one, two, five)
	}
	inverse := func(workers int) *mat.SymDense {
		runtime.GOMAXPROCS(workers)
		a := gram(n, 10)
		Invert(a)
		return a
	}
	one := inverse(1)
	for _, workers := range []int{2, 3, 5} {
		if !mat.Equal(one, inverse(workers)) {
			t.Errorf("%d processors give other bits than one", workers)
		}
	}
}

func BenchmarkInvert(b *testing.B) {
	for _, n := range []int{10, 30, 100, 200, 500, 1000, 2000, 4000} {
		a := gram(n, 10)
		f := mat.NewSymDense(n, nil)
		b.Run(fmt.Sprintf("Factorize/%d", n), func(b *testing.B) {
			var c Cholesky
			for b.Loop() {
				f.CopySym(a)
				c.Factorize(f)
			}
		})
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var c Cholesky
			for b.Loop() {
				f.CopySym(a)
				c.Factorize(f)
				c.Invert()
			}
		})
	}
}
