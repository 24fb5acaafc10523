package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestMulSkipsZeros: products with 0 that are left out leave every bit as it is.
func TestMulSkipsZeros(t *testing.T) {
	eachSparseISA(t, func(t *testing.T, s isa) {
		skipsZeros[float64](t, s)
		skipsZeros[float32](t, s)
	})
}

// eachSparseISA runs f for each instruction set that leaves out products with 0; those the machine
// lacks are reported as skipped.
func eachSparseISA(t *testing.T, f func(t *testing.T, s isa)) {
	for _, s := range []isa{avx2, avx512} {
		t.Run(s.String(), func(t *testing.T) {
			if !runs(s) {
				t.Skipf("this machine does not run %s", s)
			}
			f(t, s)
		})
	}
}

func skipsZeros[T Float](t *testing.T, s isa) {
	rng := rand.New(rand.NewPCG(5, 17))
	took, tookLine := map[int]bool{}, map[int]bool{}
	for _, m := range []int{1, sparseLeast - 1, sparseLeast, sparseLeast + 1, rowBlock + 1} {
		for _, n := range []int{15, 31, 40, 50, 64, 65, 96, 128, 200, 333} {
			for _, k := range []int{0, 1, 63, 64, 65, 200, manyMasks/rowBlock*sparseChunk + 70} {
				if m > rowBlock && k > 200 && n > 96 {
					continue // takes long
				}
				for _, share := range []float64{0, 0.3, 0.6, 1} {
					checkSkips[T](t, s, rng, m, n, k, share, took, tookLine)
				}
			}
		}
	}
	for _, panels := range map[isa][]int{avx2: {0, 3, 4, 5, 6}, avx512: {0, 2, 3, 4}}[s] {
		if !took[panels] {
			t.Errorf("%T: no product was by %d panels without zeros", T(0), panels)
		}
	}
	for _, panels := range map[isa][]int{avx2: {0, 3, 4, 5, 6}, avx512: {0, 2, 3, 4, 5, 6}}[s] {
		if !tookLine[panels] {
			t.Errorf("%T: no row was multiplied by %d panels without zeros", T(0), panels)
		}
	}
}

func checkSkips[T Float](t *testing.T, s isa, rng *rand.Rand, m, n, k int, share float64, took, tookLine map[int]bool) {
	t.Helper()
	lda, ldc := k+rng.IntN(3), n+rng.IntN(3)
	a, b, bias := newGuarded[T](max(0, (m-1)*lda+k), rng.IntN(8)), make([]T, k*n), make([]T, n)
	awkward(rng, a.v, rng.IntN(2) == 0)
	awkward(rng, bias, false)
	awkward(rng, b, false)
	for i := range a.v {
		if rng.Float64() > share {
			a.v[i] = T(math.Copysign(0, rng.Float64()-0.1))
		}
	}
	for j := range n { // sums that vanish, and end at either zero
		if rng.IntN(20) == 0 {
			bias[j] = T(math.Copysign(0, rng.Float64()-0.5))
			for l := range k {
				b[l*n+j] = T(math.Copysign(float64(rng.IntN(2))*1e-300, rng.Float64()-0.9))
			}
		}
	}
	whole, skipping := packWeights(s, k, n, b, false), packWeights(s, k, n, b, false).SkipZeros()
	for _, relu := range []bool{false, true} {
		for _, bias := range [][]T{nil, bias} {
			want, got := make([]T, m*n), newGuarded[T]((m-1)*ldc+n, rng.IntN(8))
			whole.mul(want, n, a.v, lda, m, bias, relu, nil)
			skipping.mul(got.v, ldc, a.v, lda, m, bias, relu, nil)
			compare(t, fmt.Sprintf("m %d n %d k %d share %g relu %v bias %v", m, n, k, share, relu, bias != nil), got.v, ldc, want, m, n)
			got.check(t)
		}
	}
	if !skipping.skips {
		return
	}
	cols := skipping.mulSparse(make([]T, m*n), n, a.v, lda, min(m, manyMasks/skipping.chunks()), nil, false)
	if m == 1 {
		took, cols = tookLine, skipping.lineNonzeros(make([]T, n), a.v, nil, false, 0, n)
	}
	took[0] = took[0] || cols == 0
	nr := 2 * lanes[T](s)
	for j := 0; j < cols; {
		panels := sparsePanels(s, (n-j)/nr, m)
		took[panels] = true
		j += panels * nr
	}
}

// TestSkippedNegativeZeros: where a sum of what is left is -0, the products left out may make it +0.
func TestSkippedNegativeZeros(t *testing.T) {
	eachSparseISA(t, skippedNegativeZeros)
}

func skippedNegativeZeros(t *testing.T, s isa) {
	const m, k, n = sparseLeast, 3, 200
	b, bias := make([]float64, k*n), make([]float64, n)
	for i := range b {
		b[i] = float64(1 - 2*(i%2))
	}
	bias[160], bias[161] = math.Copysign(0, -1), math.Copysign(0, -1)
	w := packWeights(s, k, n, b, false).SkipZeros()
	a, c := make([]float64, m*k), make([]float64, m*n)
	before := map[isa]int{avx2: 4 * 5 * 8, avx512: 128}[s] // whole groups of panels before a sum of -0
	if cols := w.mulSparse(c, n, a, k, m, bias, false); cols != before {
		t.Errorf("%d columns without zeros, want %d", cols, before)
	}
	w.mul(c, n, a, k, m, bias, false, nil)
	want := make([]float64, m*n)
	packWeights(s, k, n, b, false).mul(want, n, a, k, m, bias, false, nil)
	compare(t, "sums of -0 and zeros", c, n, want, m, n)
	if math.Signbit(c[160]) || !math.Signbit(c[161]) {
		t.Errorf("-0 plus 0 times 1 is %g, 0 times -1 %g", c[160], c[161])
	}
}

// TestSkipsNothingInfinite: 0 times what is not finite is not 0.
func TestSkipsNothingInfinite(t *testing.T) {
	const m, k, n = sparseLeast, 2, 128
	for _, x := range []float64{math.Inf(1), math.NaN()} {
		b, c := make([]float64, k*n), make([]float64, m*n)
		b[n+5] = x
		Pack(k, n, b, false).SkipZeros().Mul(c, n, make([]float64, m*k), k, m, nil)
		for i, y := range c {
			if math.IsNaN(y) != (i%n == 5) {
				t.Fatalf("row %d, column %d is %g", i/n, i%n, y)
			}
		}
	}
}

func BenchmarkMulSkipsZeros(b *testing.B) {
	for _, shape := range [][3]int{{256, 512, 512}, {256, 64, 64}, {256, 200, 200}} {
		for _, share := range []float64{0.25, 0.5, 0.7} {
			benchmarkSkips[float64](b, shape, share)
			benchmarkSkips[float32](b, shape, share)
		}
	}
}

func benchmarkSkips[T Float](b *testing.B, shape [3]int, share float64) {
	m, k, n := shape[0], shape[1], shape[2]
	rng := rand.New(rand.NewPCG(1, 1))
	x, y, c := make([]T, m*k), make([]T, k*n), make([]T, m*n)
	for i := range x {
		if rng.Float64() < share {
			x[i] = T(rng.Float64())
		}
	}
	for i := range y {
		y[i] = T(rng.NormFloat64())
	}
	for name, w := range map[string]*Weights[T]{"all": Pack(k, n, y, false), "without zeros": Pack(k, n, y, false).SkipZeros()} {
		b.Run(fmt.Sprintf("%T, %d x %d, share %g, %s", x[0], k, n, share, name), func(b *testing.B) {
			for b.Loop() {
				w.MulRelu(c, n, x, k, m, y[:n])
			}
			b.ReportMetric(float64(m*k*n)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "products/ns")
		})
	}
}
