package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// checkBilinear compares with the formula bit for bit, in the middle of a larger matrix.
// Now and then a row begins where none may.
func checkBilinear(t testing.TB, s isa, rng *rand.Rand, n, p, q int) {
	t.Helper()
	row, col := make([]int32, n), make([]int32, n)
	for i := range row {
		row[i], col[i] = int32(rng.IntN(p-3)), int32(rng.IntN(q-3))
	}
	stop := n
	if n > 0 && rng.IntN(3) == 0 {
		stop = rng.IntN(n)
		to, starts := row, p-3
		if rng.IntN(2) == 0 {
			to, starts = col, q-3
		}
		to[stop] = []int32{-1, math.MinInt32, int32(starts), math.MaxInt32}[rng.IntN(4)]
	}
	ldc := q + rng.IntN(3)
	dst, c := newGuarded[float64](n, rng.IntN(8)), newGuarded[float64]((p-1)*ldc+q, rng.IntN(8))
	a, b := newGuarded[float64](Band*n, rng.IntN(8)), newGuarded[float64](Band*n, rng.IntN(8))
	special := rng.IntN(2) == 0
	for _, v := range [][]float64{dst.v, c.v, a.v, b.v} {
		awkward(rng, v, special)
	}
	before := append([]float64(nil), dst.v...)
	if got := addBilinear(s, dst.v, c.v, ldc, p, q, row, a.v, col, b.v); got != stop {
		t.Fatalf("%v: %d rows, want %d of %d", s, got, stop, n)
	}
	dst.check(t)
	for i := range stop {
		var sum [4]float64
		for m := range sum {
			at := int(row[i])*ldc + int(col[i]) + m
			f := func(l int) float64 { return float64(a.v[4*i+l] * c.v[at+l*ldc]) }
			sum[m] = float64(((f(0) + f(1)) + (f(2) + f(3))) * b.v[4*i+m])
		}
		want := before[i] + ((sum[0] + sum[1]) + (sum[2] + sum[3]))
		if !same(dst.v[i], want) {
			t.Fatalf("%v: row %d of %d: %v, want %v", s, i, n, dst.v[i], want)
		}
	}
}

func TestAddBilinear(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(5, 7))
		for n := range 40 {
			for _, size := range [][2]int{{4, 4}, {5, 9}, {20, 20}, {30, 4}} {
				checkBilinear(t, s, rng, n, size[0], size[1])
			}
		}
		if got := addBilinear(s, make([]float64, 4), nil, 4, 3, 4, make([]int32, 4), make([]float64, 16), make([]int32, 4), make([]float64, 16)); got != 0 {
			t.Errorf("%d rows of a matrix of three rows", got)
		}
	})
}

func FuzzAddBilinear(f *testing.F) {
	f.Add(uint64(1), uint8(17), uint8(20), uint8(3))
	f.Fuzz(func(t *testing.T, seed uint64, n, p, q uint8) {
		for _, s := range supported() {
			checkBilinear(t, s, rand.New(rand.NewPCG(seed, 1)), int(n), 4+int(p)%40, 4+int(q)%40)
		}
	})
}

func BenchmarkAddBilinear(b *testing.B) {
	const n, d = 256, 20
	rng := rand.New(rand.NewPCG(1, 2))
	row, col := make([]int32, n), make([]int32, n)
	x, y, c, dst := make([]float64, Band*n), make([]float64, Band*n), make([]float64, 200*200), make([]float64, n)
	for i := range row {
		row[i], col[i] = int32(rng.IntN(d-3)), int32(rng.IntN(d-3))
	}
	for _, v := range [][]float64{x, y, c} {
		awkward(rng, v, false)
	}
	for _, s := range supported() {
		b.Run(s.String(), func(b *testing.B) {
			for b.Loop() {
				addBilinear(s, dst, c, 200, d, d, row, x, col, y)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}
