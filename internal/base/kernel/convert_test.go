package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestConversions: every number as Go converts it, wherever it lies, and nothing else.
func TestConversions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	awkward := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1e300, -1e300, 1e-300, 1e-40, math.MaxFloat32, math.MaxFloat32 * (1 + 1e-8), 1 + 1.0/(1<<24), 1 + 3.0/(1<<24)}
	for _, s := range supported() {
		for n := range 40 {
			src := make([]float64, n)
			for i := range src {
				if src[i] = rng.NormFloat64(); rng.IntN(3) == 0 {
					src[i] = awkward[rng.IntN(len(awkward))]
				}
			}
			single, double, rounded := newGuarded[float32](n, n%8), newGuarded[float64](n, n%8), newGuarded[float64](n, n%8)
			toFloat32(s, single.v, src)
			toFloat64(s, double.v, single.v)
			roundToFloat32(s, rounded.v, src)
			for i, x := range src {
				want := float32(x)
				if !same(single.v[i], want) || !same(double.v[i], float64(want)) || !same(rounded.v[i], float64(want)) {
					t.Fatalf("%v, number %d of %d: %g became %g, %g, %g", s, i, n, x, single.v[i], double.v[i], rounded.v[i])
				}
			}
			single.check(t)
			double.check(t)
			rounded.check(t)
		}
	}
}
