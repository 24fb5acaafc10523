package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// checkScatter compares rows added to rows with plain sums: bit for bit if fused.
func checkScatter(t testing.TB, s isa, rng *rand.Rand, n, rows, q int) {
	t.Helper()
	k := 1 + rng.IntN(3)
	index, first := make([]int32, n*k), make([]int32, n)
	for i := range index {
		index[i] = int32(rng.IntN(rows))
	}
	for i := range first {
		first[i] = int32(rng.IntN(max(q-Band+1, 1)))
	}
	wrong := func(limit int) int32 {
		return []int32{-1, math.MinInt32, int32(limit), math.MaxInt32}[rng.IntN(4)]
	}
	if n > 0 && rng.IntN(4) == 0 {
		index[rng.IntN(n*k)] = wrong(rows)
	}
	if n > 0 && rng.IntN(4) == 0 {
		first[rng.IntN(n)] = wrong(max(q-Band+1, 0))
	}
	var factor []float64
	if rng.IntN(2) == 0 {
		factor = make([]float64, n*k)
		awkward(rng, factor, false)
	}
	add := func(f int, v, sum float64) float64 {
		if factor == nil {
			return sum + v
		}
		return mulAdd[float64](s)(factor[f], v, sum)
	}
	ldc := q + rng.IntN(3)

	for _, banded := range []bool{false, true} {
		width, ldb := q, q+rng.IntN(3)
		if banded {
			width, ldb = Band, Band
		}
		b := newGuarded[float64](max(0, (n-1)*ldb+width), rng.IntN(8))
		awkward(rng, b.v, false)
		c := newGuarded[float64]((rows-1)*ldc+q, rng.IntN(8))
		awkward(rng, c.v, false)
		want := slices.Clone(c.v)
		stop := n
	sum:
		for i := range n {
			from := 0
			if banded {
				if from = int(first[i]); from < 0 || from > q-Band {
					stop = i
					break
				}
			}
			for l := i * k; l < (i+1)*k; l++ {
				r := int(index[l])
				if r < 0 || r >= rows {
					stop = i
					break sum
				}
				for j := range width {
					at := r*ldc + from + j
					want[at] = add(l, b.v[i*ldb+j], want[at])
				}
			}
		}
		got := 0
		if banded {
			got = scatterBand(s, c.v, ldc, rows, q, index, k, factor, first, b.v)
		} else {
			got = scatterRows(s, c.v, ldc, rows, index, k, factor, b.v, ldb, q, n)
		}
		if got != stop {
			t.Fatalf("%v, banded %v: %d rows of %d, want %d", s, banded, got, n, stop)
		}
		sameBand(t, s, "scatter", c, want)
		b.check(t)
	}
}

func TestScatter(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(1, 5))
		for n := range 12 {
			for q := 1; q < 40; q++ {
				checkScatter(t, s, rng, n, 1+rng.IntN(9), q)
			}
		}
	})
}

func FuzzScatter(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(17), uint8(17))
	f.Fuzz(func(t *testing.T, seed uint64, n, rows, q uint8) {
		for _, s := range supported() {
			checkScatter(t, s, rand.New(rand.NewPCG(seed, 1)), int(n%64), 1+int(rows%40), 1+int(q%70))
		}
	})
}
