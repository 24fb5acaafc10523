package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func random[T Float](rng *rand.Rand, n int) []T {
	v := make([]T, n)
	for i := range v {
		if v[i] = T(rng.NormFloat64()); rng.IntN(4) == 0 {
			v[i] = 0 // as after a Relu
		}
	}
	return v
}

// naive sums in the same order as the kernels.
func naive[T Float](a []T, lda int, b []T, bias []T, m, n, k int) []T {
	c := make([]T, m*n)
	for i := range m {
		for j := range n {
			var s T
			if bias != nil {
				s = bias[j]
			}
			for l := range k {
				s += T(a[i*lda+l] * b[l*n+j])
			}
			c[i*n+j] = s
		}
	}
	return c
}

func testMul[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, m := range []int{1, 2, 3, 4, 5, 63, 64, 65, 130} {
		for _, n := range []int{1, 2, 3, 5, 17, 64, 193, 200} {
			for _, k := range []int{0, 1, 2, 4, 7, 65, 129} {
				lda, ldc := k+2, n+3
				a, b, bias := random[T](rng, m*lda), random[T](rng, k*n), random[T](rng, n)
				want := naive(a, lda, b, bias, m, n, k)
				bt := make([]T, n*k)
				for l := range k {
					for j := range n {
						bt[j*k+l] = b[l*n+j]
					}
				}
				for _, w := range []*Weights[T]{Pack(k, n, b, false), Pack(k, n, bt, true)} {
					c := make([]T, m*ldc)
					for i := range c {
						c[i] = T(math.NaN())
					}
					w.Mul(c, ldc, a, lda, m, bias)
					for i := range m {
						for j := range n {
							if c[i*ldc+j] != want[i*n+j] {
								t.Fatalf("m %d n %d k %d: element %d,%d is %v, want %v", m, n, k, i, j, c[i*ldc+j], want[i*n+j])
							}
						}
						for j := n; j < ldc; j++ {
							if c[i*ldc+j] == c[i*ldc+j] {
								t.Fatalf("m %d n %d k %d: wrote beyond column %d", m, n, k, n)
							}
						}
					}
				}
			}
		}
	}
}

// Every path sums in order of k, so results equal a plain loop's bit for bit.
func TestMul(t *testing.T) {
	t.Run("float64", testMul[float64])
	t.Run("float32", testMul[float32])
}

// Zeros of A times infinite weights are NaN, as IEEE arithmetic has it.
func TestMulInfiniteWeights(t *testing.T) {
	w := Pack(2, 2, []float64{math.Inf(1), 1, 2, 3}, false)
	c := make([]float64, 2)
	w.Mul(c, 2, []float64{0, 1}, 2, 1, nil)
	if !math.IsNaN(c[0]) || c[1] != 3 {
		t.Fatalf("got %v, want [NaN 3]", c)
	}
}

func TestScaleKeepsSource(t *testing.T) {
	b := []float64{1, 2}
	w := Pack(1, 2, b, false)
	w.Scale(3)
	c := make([]float64, 2)
	w.Mul(c, 2, []float64{2}, 1, 1, nil)
	if c[0] != 6 || c[1] != 12 || b[0] != 1 || b[1] != 2 {
		t.Fatalf("product %v, source %v", c, b)
	}
}

func benchMul[T Float](b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	const m, n, k = 256, 200, 200
	a, w, c := make([]T, m*k), make([]T, k*n), make([]T, m*n)
	for i := range a {
		a[i] = T(rng.NormFloat64())
	}
	for i := range w {
		w[i] = T(rng.NormFloat64())
	}
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(2*m*n*k*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
	p := Pack(k, n, w, false)
	run("weights", func() { p.Mul(c, n, a, k, m, nil) })
	run("plain", func() { Gemm(c, a, w, m, n, k) })
}

func BenchmarkMul(b *testing.B) {
	b.Run("float64", benchMul[float64])
	b.Run("float32", benchMul[float32])
}
