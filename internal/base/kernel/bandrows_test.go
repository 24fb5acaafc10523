package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// checkMulBandRows compares with the formula bit for bit, in the middle of larger matrices. Now and
// then a row begins where none may.
func checkMulBandRows(t testing.TB, s isa, rng *rand.Rand, n, starts, q int) {
	t.Helper()
	first := make([]int32, n)
	for i := range first {
		first[i] = int32(rng.IntN(starts))
	}
	stop := n
	if n > 0 && rng.IntN(3) == 0 {
		stop = rng.IntN(n)
		first[stop] = []int32{-1, math.MinInt32, int32(starts), math.MaxInt32}[rng.IntN(4)]
	}
	rows, ldd, ldb := starts+Band-1, q+rng.IntN(3), q+rng.IntN(3)
	dst, a, b := newGuarded[float64](max(0, (n-1)*ldd+q), rng.IntN(8)), newGuarded[float64](Band*n, rng.IntN(8)), newGuarded[float64]((rows-1)*ldb+q, rng.IntN(8))
	special := rng.IntN(2) == 0
	for _, v := range [][]float64{dst.v, a.v, b.v} {
		awkward(rng, v, special)
	}
	before := append([]float64(nil), dst.v...)
	if got := mulBandRows(s, dst.v, ldd, first, a.v, b.v, ldb, rows, q); got != stop {
		t.Fatalf("%v: %d rows, want %d of %d", s, got, stop, n)
	}
	dst.check(t)
	for at, got := range dst.v {
		i, j := at/ldd, at%ldd
		if i >= stop {
			break
		}
		want := before[at]
		if j < q {
			f := func(l int) float64 { return float64(a.v[Band*i+l] * b.v[(int(first[i])+l)*ldb+j]) }
			want = (f(0) + f(1)) + (f(2) + f(3))
		}
		if !same(got, want) {
			t.Fatalf("%v: row %d of %d, column %d of %d: %v, want %v", s, i, n, j, q, got, want)
		}
	}
}

func TestMulBandRows(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(5, 8))
		for n := range 12 {
			for q := 1; q < 20; q++ {
				checkMulBandRows(t, s, rng, n, 1+rng.IntN(20), q)
			}
		}
		if got := mulBandRows(s, make([]float64, 4), 1, make([]int32, 4), make([]float64, 16), make([]float64, 3), 1, 3, 1); got != 0 {
			t.Errorf("%d rows of four values times three rows", got)
		}
	})
}

func FuzzMulBandRows(f *testing.F) {
	f.Add(uint64(1), uint8(17), uint8(20), uint8(18))
	f.Fuzz(func(t *testing.T, seed uint64, n, starts, q uint8) {
		for _, s := range supported() {
			checkMulBandRows(t, s, rand.New(rand.NewPCG(seed, 1)), int(n), 1+int(starts), 1+int(q)%40)
		}
	})
}

func BenchmarkMulBandRows(b *testing.B) {
	const n, starts, q = 512, 2000, 18
	rng := rand.New(rand.NewPCG(1, 2))
	first, a, c, dst := make([]int32, n), make([]float64, Band*n), make([]float64, (starts+3)*q), make([]float64, n*q)
	for i := range first {
		first[i] = int32(rng.IntN(starts))
	}
	awkward(rng, a, false)
	awkward(rng, c, false)
	for _, s := range supported() {
		b.Run(s.String(), func(b *testing.B) {
			for b.Loop() {
				mulBandRows(s, dst, q, first, a, c, q, starts+3, q)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}
