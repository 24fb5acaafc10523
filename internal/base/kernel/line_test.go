package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// checkParts: the parts of a row's product, the last first, are the bits of the whole, each column
// in one of them.
func checkParts[T Float](t *testing.T, s isa, rng *rand.Rand, k, n, parts int) {
	t.Helper()
	a, b, bias := make([]T, k), make([]T, k*n), make([]T, n)
	for _, v := range [][]T{a, b, bias} {
		awkward(rng, v, false)
	}
	w := packWeights(s, k, n, b, false)
	for _, relu := range []bool{false, true} {
		for _, bias := range [][]T{nil, bias} {
			want := make([]T, n)
			w.mul(want, n, a, k, 1, bias, relu, nil)
			c, writes := make([]T, n), make([]int, n)
			for i := parts - 1; i >= 0; i-- {
				before := slices.Repeat([]T{-7}, n)
				w.MulPart(before, a, bias, relu, i, parts)
				for j, x := range before {
					if x != -7 {
						c[j] = x
						writes[j]++
					}
				}
			}
			name := fmt.Sprintf("%v %T %d x %d in %d parts, relu %t, bias %t", s, T(0), k, n, parts, relu, bias != nil)
			if !slices.Equal(c, want) {
				t.Errorf("%s: other bits than the whole", name)
			}
			if slices.ContainsFunc(writes, func(n int) bool { return n != 1 }) {
				t.Errorf("%s: columns were computed %v times", name, writes)
			}
		}
	}
}

func TestMulPart(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(8, 2))
		for _, k := range []int{1, 2, 30} {
			for _, n := range []int{1, 2, 31, 32, 128, 129, 200, 512, 700} {
				for _, parts := range []int{1, 2, 3, 7} {
					checkParts[float64](t, s, rng, k, n, parts)
					checkParts[float32](t, s, rng, k, n, parts)
				}
			}
		}
	})
}
