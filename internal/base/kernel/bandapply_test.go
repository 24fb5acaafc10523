package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// checkMulBand compares with the formula bit for bit. Now and then a row begins
// where none may.
func checkMulBand(t testing.TB, s isa, rng *rand.Rand, n, starts int) {
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
	dst, a, b := newGuarded[float64](n, rng.IntN(8)), newGuarded[float64](Band*n, rng.IntN(8)), newGuarded[float64](starts+Band-1, rng.IntN(8))
	special := rng.IntN(2) == 0
	awkward(rng, a.v, special)
	awkward(rng, b.v, special)
	if got := mulBand(s, dst.v, first, a.v, b.v); got != stop {
		t.Fatalf("%v: %d rows, want %d of %d", s, got, stop, n)
	}
	dst.check(t)
	for i, f := range first[:stop] {
		v, c := a.v[Band*i:], b.v[f:]
		want := (float64(v[0]*c[0]) + float64(v[1]*c[1])) + (float64(v[2]*c[2]) + float64(v[3]*c[3]))
		if !same(dst.v[i], want) {
			t.Fatalf("%v: row %d of %d: %v, want %v", s, i, n, dst.v[i], want)
		}
	}
}

func TestMulBand(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(5, 6))
		for n := range 70 {
			for _, starts := range []int{1, 2, 17, 200} {
				checkMulBand(t, s, rng, n, starts)
			}
		}
		if got := mulBand(s, nil, nil, nil, nil); got != 0 {
			t.Error(got)
		}
		if got := mulBand(s, make([]float64, 4), make([]int32, 4), make([]float64, 16), make([]float64, 3)); got != 0 {
			t.Errorf("%d rows of four values times three coefficients", got)
		}
	})
}

func FuzzMulBand(f *testing.F) {
	f.Add(uint64(1), uint8(17), uint8(20))
	f.Fuzz(func(t *testing.T, seed uint64, n, starts uint8) {
		for _, s := range supported() {
			checkMulBand(t, s, rand.New(rand.NewPCG(seed, 1)), int(n), 1+int(starts))
		}
	})
}

func BenchmarkMulBand(b *testing.B) {
	const n, starts = 256, 17
	rng := rand.New(rand.NewPCG(1, 2))
	first, a, c, dst := make([]int32, n), make([]float64, Band*n), make([]float64, starts+Band-1), make([]float64, n)
	for i := range first {
		first[i] = int32(rng.IntN(starts))
	}
	awkward(rng, a, false)
	awkward(rng, c, false)
	for _, s := range supported() {
		b.Run(s.String(), func(b *testing.B) {
			for b.Loop() {
				mulBand(s, dst, first, a, c)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}
