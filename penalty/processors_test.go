package penalty

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Large products are cut in parts for several goroutines: for any number of
// processors the same bits.
func TestAnyProcessors(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	const n = 300
	x := mat.NewDense(n+5, n, nil)
	for i := range n + 5 {
		for j := range n {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	a := mat.NewSymDense(n, nil)
	a.SymOuterK(1, x.T())
	var want *mat.SymDense
	for _, processors := range []int{1, 2, 3, 7} {
		before := runtime.GOMAXPROCS(processors)
		squared := sandwich(x, a)
		runtime.GOMAXPROCS(before)
		if processors == 1 {
			want = squared
		} else if !mat.Equal(squared, want) {
			t.Errorf("other results on %d processors than on one", processors)
		}
	}
}
