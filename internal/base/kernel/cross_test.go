package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// checkCross compares the products of one shape with plain loops: bit for bit if
// fused (the weight rounds the factor of the packed side), closely if plain.
func checkCross(t testing.TB, s isa, rng *rand.Rand, n, p, q int, special bool) {
	t.Helper()
	lda, ldb, ldc := p+rng.IntN(4), q+rng.IntN(4), max(p, q)+rng.IntN(3)
	a, b := newGuarded[float64](max(0, (n-1)*lda+p), rng.IntN(8)), newGuarded[float64](max(0, (n-1)*ldb+q), rng.IntN(8))
	awkward(rng, a.v, special)
	awkward(rng, b.v, special)
	var w []float64
	if rng.IntN(3) > 0 {
		w = make([]float64, n)
		for i := range w {
			w[i] = rng.Float64()
		}
	}
	narrow := q < lanes[float64](s) && q < p
	check := func(what string, gram bool, c *guarded[float64], start []float64, p, q int, b []float64, ldb int) {
		t.Helper()
		for j := range p {
			for k := range q {
				sum, abs := start[j*ldc+k], math.Abs(start[j*ldc+k])
				u, v := j, k
				if gram && j > k {
					u, v = k, j
				}
				for i := range n {
					x, y := a.v[i*lda+u], b[i*ldb+v]
					if narrow && !gram {
						sum = fma(y, x*weight(w, i), sum)
					} else {
						sum = fma(x, y*weight(w, i), sum)
					}
					abs += math.Abs(x * y)
				}
				got := c.v[j*ldc+k]
				// Products that are rounded for themselves also lose what is below the least number.
				near := math.Abs(got-sum) <= 1e-14*abs+float64(n+1)*math.SmallestNonzeroFloat64
				if ok := same(got, sum) || s == plain && (near || abs != abs || math.IsInf(abs, 0)); !ok {
					t.Fatalf("%v %s n %d p %d q %d: element %d,%d is %v, want %v", s, what, n, p, q, j, k, got, sum)
				}
			}
			for k := q; k < ldc && j*ldc+k < len(c.v); k++ {
				if c.v[j*ldc+k] != start[j*ldc+k] {
					t.Fatalf("%v %s n %d p %d q %d: wrote in row %d beyond column %d", s, what, n, p, q, j, q)
				}
			}
		}
		c.check(t)
	}
	symmetric := func(p, q int) *guarded[float64] {
		c := newGuarded[float64](max(0, (p-1)*ldc+q), rng.IntN(8))
		for i := range c.v {
			c.v[i] = float64((i/ldc + 1) * (i%ldc + 1) % 17)
		}
		return c
	}
	c := symmetric(p, q)
	start := append([]float64{}, c.v...)
	addCross(s, c.v, ldc, a.v, lda, p, b.v, ldb, q, n, w)
	check("cross", false, c, start, p, q, b.v, ldb)
	c = symmetric(p, p)
	start = append([]float64{}, c.v...)
	addGram(s, c.v, ldc, a.v, lda, p, n, w)
	check("gram", true, c, start, p, p, a.v, lda)
}

func TestCross(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, n := range []int{0, 1, 2, 9, 33} {
			for _, p := range []int{0, 1, 2, 5, 8, 12, 13, 16, 17, 31, 50} {
				for _, q := range []int{0, 1, 2, 3, 4, 7, 8, 9, 16, 17, 33} {
					checkCross(t, s, rng, n, p, q, false)
				}
			}
		}
		checkCross(t, s, rng, kBlock+3, 70, 35, false)
		checkCross(t, s, rng, 2*kBlock+1, 19, 2, false)
		for range 30 {
			checkCross(t, s, rng, rng.IntN(9), rng.IntN(40), rng.IntN(40), true)
		}
	})
}

// Where rows are cut into calls makes no difference to any bit.
func TestCrossCuts(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(3, 4))
		const n, p, q = 600, 30, 5
		a, b, w := make([]float64, n*p), make([]float64, n*q), make([]float64, n)
		awkward(rng, a, false)
		awkward(rng, b, false)
		awkward(rng, w, false)
		whole, cut := make([]float64, p*q), make([]float64, p*q)
		gram, cutGram := make([]float64, p*p), make([]float64, p*p)
		addCross(s, whole, q, a, p, p, b, q, q, n, w)
		addGram(s, gram, p, a, p, p, n, w)
		for i := 0; i < n; {
			rows := min(n-i, 1+rng.IntN(100))
			addCross(s, cut, q, a[i*p:], p, p, b[i*q:], q, q, rows, w[i:])
			addGram(s, cutGram, p, a[i*p:], p, p, rows, w[i:])
			i += rows
		}
		for i, x := range append(whole, gram...) {
			if y := append(cut, cutGram...)[i]; !same(x, y) {
				t.Fatalf("element %d is %v in one call, %v in several", i, x, y)
			}
		}
	})
}

func FuzzCross(f *testing.F) {
	f.Add(uint64(1), uint16(300), uint8(33), uint8(20))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, p, q uint8) {
		rng := rand.New(rand.NewPCG(seed, 7))
		for _, s := range supported() {
			checkCross(t, s, rng, int(n)%600, int(p)%60, int(q)%60, seed%2 == 0)
		}
	})
}

func BenchmarkGram(b *testing.B) {
	const n, p = 256, 200
	rng := rand.New(rand.NewPCG(1, 2))
	a, w, c := make([]float64, n*p), make([]float64, n), make([]float64, p*p)
	awkward(rng, a, false)
	awkward(rng, w, false)
	for _, s := range supported() {
		for _, w := range [][]float64{nil, w} {
			b.Run(fmt.Sprintf("%v/weighted=%v", s, w != nil), func(b *testing.B) {
				for b.Loop() {
					addGram(s, c, p, a, p, p, n, w)
				}
				b.ReportMetric(n*p*(p+1)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
	b.Run("mirror", func(b *testing.B) {
		for b.Loop() {
			mirror(best(), c, p, p, 0, p)
		}
	})
	for _, s := range supported() {
		b.Run(fmt.Sprintf("%v/9x9", s), func(b *testing.B) {
			for b.Loop() {
				addCross(s, c, p, a, p, 9, a[20:], p, 9, n, w)
			}
		})
	}
	r, cr := make([]float64, n*2), make([]float64, p*2)
	for _, s := range supported() {
		b.Run(fmt.Sprintf("%v/narrow", s), func(b *testing.B) {
			for b.Loop() {
				addCross(s, cr, 2, a, p, p, r, 2, 2, n, w)
			}
		})
	}
}
