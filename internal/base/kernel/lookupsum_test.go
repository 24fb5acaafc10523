package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Sums of rows of tables of any width are those of plain loops, bit for bit, with nothing else
// touched; a row outside is found.
func TestLookUpSum(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(11, 12))
		for range 1500 {
			testLookUpSum[float64](t, s, rng)
			testLookUpSum[float32](t, s, rng)
		}
	})
}

func testLookUpSum[T Float](t *testing.T, s isa, rng *rand.Rand) {
	t.Helper()
	width, size, n, count := rng.IntN(300), 1+rng.IntN(6), rng.IntN(9), rng.IntN(5)
	if rng.IntN(4) > 0 {
		width = LookUpSumWidth[T](width)
	}
	table := newGuarded[T](size*width, rng.IntN(8))
	awkward(rng, table.v, rng.IntN(4) == 0)
	index := make([]int32, n*count)
	for i := range index {
		index[i] = int32(rng.IntN(size))
	}
	bad := -1
	if len(index) > 0 && width > 0 && rng.IntN(4) == 0 {
		bad = rng.IntN(len(index))
		index[bad] = []int32{-1, math.MinInt32, int32(size), math.MaxInt32}[rng.IntN(4)]
	}
	stride := width + rng.IntN(3)
	dst := newGuarded[T](max(0, (n-1)*stride+width), rng.IntN(8))
	what := fmt.Sprintf("%v %T: %d sums of %d of %d rows of %d", s, T(0), n, count, size, width)
	if got := lookUpSumOf(s, dst.v, stride, table.v, width, index, count); got != bad {
		t.Fatalf("%s: index %d is bad, want %d", what, got, bad)
	}
	dst.check(t)
	if bad >= 0 || count == 0 {
		return
	}
	want := make([]T, n*width)
	for i := range n {
		for j := range width {
			sum := table.v[int(index[i*count])*width+j]
			for _, row := range index[i*count+1 : (i+1)*count] {
				sum += table.v[int(row)*width+j]
			}
			want[i*width+j] = sum
		}
	}
	compare(t, what, dst.v, stride, want, n, width)
}
