package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// checkRowSums compares with the formulas bit for bit, in the middle of larger matrices.
func checkRowSums(t testing.TB, s isa, rng *rand.Rand, n, q int, indexed bool) {
	t.Helper()
	rows := n
	var index []int32
	if indexed {
		rows = 1 + rng.IntN(9)
		index = make([]int32, n)
		for i := range index {
			index[i] = int32(rng.IntN(rows))
		}
	}
	lda, ldb := q+rng.IntN(3), q+rng.IntN(3)
	dst, sizes := newGuarded[float64](n, rng.IntN(8)), newGuarded[float64](n, rng.IntN(8))
	a, b := newGuarded[float64](max(rows-1, n-1, 0)*lda+q, rng.IntN(8)), newGuarded[float64](max(n-1, 0)*ldb+q, rng.IntN(8))
	special := rng.IntN(2) == 0
	awkward(rng, a.v, special)
	awkward(rng, b.v, special)
	stop := n
	if indexed && n > 0 && rng.IntN(3) == 0 {
		stop = rng.IntN(n)
		index[stop] = []int32{-1, math.MinInt32, int32(rows), math.MaxInt32}[rng.IntN(4)]
	}
	if got := rowDots(s, dst.v, a.v, lda, rows, index, b.v, ldb, q); got != stop {
		t.Fatalf("%v: %d rows, want %d of %d", s, got, stop, n)
	}
	rowSizes(s, sizes.v, a.v, lda, q)
	dst.check(t)
	sizes.check(t)
	sum := func(value func(j int) float64) float64 {
		var sums [8]float64
		for j := range q {
			sums[j%8] += value(j)
		}
		for half := 4; half > 0; half /= 2 {
			for l := range half {
				sums[l] += sums[l+half]
			}
		}
		return sums[0]
	}
	for i := range n {
		row := i
		if indexed && i < stop {
			row = int(index[i])
		}
		if want := sum(func(j int) float64 { return float64(a.v[row*lda+j] * b.v[i*ldb+j]) }); i < stop && !same(dst.v[i], want) {
			t.Fatalf("%v: product of row %d of %d, %d columns: %v, want %v", s, i, n, q, dst.v[i], want)
		}
		if want := sum(func(j int) float64 { return math.Abs(a.v[i*lda+j]) }); !same(sizes.v[i], want) {
			t.Fatalf("%v: size of row %d of %d, %d columns: %v, want %v", s, i, n, q, sizes.v[i], want)
		}
	}
}

func TestRowSums(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(5, 9))
		for n := range 14 {
			for q := range 20 {
				checkRowSums(t, s, rng, n, q, false)
				checkRowSums(t, s, rng, n, q, true)
			}
		}
	})
}

func FuzzRowSums(f *testing.F) {
	f.Add(uint64(1), uint8(17), uint8(20), true)
	f.Fuzz(func(t *testing.T, seed uint64, n, q uint8, indexed bool) {
		for _, s := range supported() {
			checkRowSums(t, s, rand.New(rand.NewPCG(seed, 1)), int(n), int(q)%70, indexed)
		}
	})
}

func BenchmarkRowDots(b *testing.B) {
	const n, q = 512, 20
	rng := rand.New(rand.NewPCG(1, 2))
	dst, x, y := make([]float64, n), make([]float64, n*q), make([]float64, n*q)
	awkward(rng, x, false)
	awkward(rng, y, false)
	for _, s := range supported() {
		b.Run(s.String(), func(b *testing.B) {
			for b.Loop() {
				rowDots(s, dst, x, q, n, nil, y, q, q)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}
