package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestAddTransMul(t *testing.T) {
	testTransMul[float64](t, 1e-12)
	testTransMul[float32](t, 2e-4)
}

func testTransMul[T Float](t *testing.T, tolerance float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range supported() {
		for _, dim := range [][3]int{{1, 1, 1}, {3, 17, 1}, {40, 5, 33}, {300, 13, 70}, {600, 37, 2}} {
			n, p, q := dim[0], dim[1], dim[2]
			t.Run(fmt.Sprintf("%T/%v/%dx%dx%d", T(0), s, n, p, q), func(t *testing.T) {
				lda, ldb, ldc := p+3, q+1, q+2
				a, b, c := normals[T](rng, n*lda), normals[T](rng, n*ldb), normals[T](rng, p*ldc)
				want := make([]float64, p*ldc)
				for i, x := range c {
					want[i] = float64(x)
				}
				for i := range n {
					for j := range p {
						for k := range q {
							want[j*ldc+k] += float64(a[i*lda+j]) * float64(b[i*ldb+k])
						}
					}
				}
				parts := slices.Clone(c)
				addTransMul(s, c, ldc, a, lda, p, b, ldb, q, n)
				for i := range want {
					if math.Abs(float64(c[i])-want[i]) > tolerance*math.Max(1, math.Abs(want[i])) {
						t.Fatalf("element %d is %v, want %v", i, c[i], want[i])
					}
				}
				// Sharing out columns changes no bit.
				h := q / 2
				addTransMul(s, parts, ldc, a, lda, p, b, ldb, h, n)
				addTransMul(s, parts[h:], ldc, a, lda, p, b[h:], ldb, q-h, n)
				if !slices.Equal(c, parts) {
					t.Fatal("halves of the columns give other bits than all of them")
				}
			})
		}
	}
}

func TestPackTransposed(t *testing.T) {
	testPackTransposed[float64](t)
	testPackTransposed[float32](t)
}

func testPackTransposed[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, s := range supported() {
		for _, dim := range [][2]int{{1, 1}, {37, 1}, {1, 37}, {7, 45}, {33, 16}, {3, 64}, {8, 8}, {21, 53}, {200, 200}} {
			k, n := dim[0], dim[1]
			w, turned := normals[T](rng, k*n), make([]T, k*n)
			for l := range k {
				for j := range n {
					turned[j*k+l] = w[l*n+j]
				}
			}
			if !slices.Equal(packWeights(s, k, n, turned, true).data, packWeights(s, k, n, w, false).data) {
				t.Errorf("%T, %v, %d x %d: transposed weights are packed otherwise", T(0), s, k, n)
			}
		}
	}
}

func TestReluGrad(t *testing.T) {
	nan := math.NaN()
	y := []float64{0, 1, math.Copysign(0, -1), 5e-324, math.Inf(1), 0}
	dy := []float64{1, -2, 3, 4, -5, nan}
	got := make([]float64, len(y))
	ReluGrad(got, dy, y)
	if want := []float64{0, -2, 0, 4, -5, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	single := []float32{1, 2}
	ReluGrad(single, single, []float32{0, 1e-45})
	if single[0] != 0 || single[1] != 2 {
		t.Errorf("float32: %v", single)
	}
}

// TestVectors: assembly and Go give the same bits, wherever slices are cut.
func TestVectors(t *testing.T) {
	testVectors[float64](t)
	testVectors[float32](t)
}

func testVectors[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{0, 1, 7, 8, 9, 31, 64, 1003} {
		g, y := normals[T](rng, n), normals[T](rng, n)
		for i := range g {
			switch rng.IntN(4) {
			case 0:
				g[i], y[i] = 0, 0
			case 1:
				g[i] = 1e-20
			}
		}
		a := &adam[T]{beta1: 0.9, c1: 0.1, beta2: 0.999, c2: 0.001, keep: 0.99, rate: 0.01, eps: 1e-8, tiny: 1e-30}
		start := normals[T](rng, n)
		var want [][]T
		for _, s := range supported() {
			got := [][]T{slices.Clone(start), make([]T, n), make([]T, n), make([]T, n)}
			for range 3 {
				h := n / 3
				adamStep(s, got[0][:h], g, got[1], got[2], a)
				adamStep(s, got[0][h:], g[h:], got[1][h:], got[2][h:], a)
			}
			reluGrad(s, got[3], g, y)
			if want == nil {
				want = got
			}
			for k := range want {
				if !slices.Equal(got[k], want[k]) {
					t.Errorf("%T, n = %d, %v: result %d differs from plain", T(0), n, s, k)
				}
			}
		}
	}
}

func BenchmarkAdamStep32(b *testing.B) {
	const n = 50000
	w, g, m, v := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range g {
		g[i] = float32(i%7) - 3
	}
	for b.Loop() {
		AdamStep(w, g, m, v, 0.9, 0.999, 1e-3, 1e-8, 0)
	}
}

// TestAdamStep compares with the formulas of the paper, step by step.
func TestAdamStep(t *testing.T) {
	const beta1, beta2, rate, eps = 0.9, 0.999, 0.01, 1e-8
	w, m, v := []float64{1, -2, 0.5}, make([]float64, 3), make([]float64, 3)
	x, first, second := slices.Clone(w), make([]float64, 3), make([]float64, 3)
	for step := 1; step <= 5; step++ {
		g := []float64{w[0], -0.3 * float64(step), 0}
		c1, c2 := 1-math.Pow(beta1, float64(step)), 1-math.Pow(beta2, float64(step))
		for i := range x {
			first[i] = beta1*first[i] + (1-beta1)*g[i]
			second[i] = beta2*second[i] + (1-beta2)*g[i]*g[i]
			x[i] -= rate * (first[i] / c1) / (math.Sqrt(second[i]/c2) + eps)
		}
		AdamStep(w, g, m, v, beta1, beta2, rate*math.Sqrt(c2)/c1, eps*math.Sqrt(c2), 0)
		for i := range x {
			if math.Abs(w[i]-x[i]) > 1e-14 {
				t.Fatalf("step %d: value %d is %v, want %v", step, i, w[i], x[i])
			}
		}
	}
}

func normals[T Float](rng *rand.Rand, n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = T(rng.NormFloat64())
	}
	return v
}
