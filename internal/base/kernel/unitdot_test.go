package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestOneInput: the gradients of a layer of one input have the bits of units that are turned,
// multiplied and added up, whatever their number and the rows'.
func TestOneInput(t *testing.T) {
	testOneInput[float64](t)
	testOneInput[float32](t)
}

func testOneInput[T Float](t *testing.T) {
	for _, s := range supported() {
		rng := rand.New(rand.NewPCG(7, 9))
		for _, q := range []int{1, 8, 16, 23, 64} {
			for _, n := range []int{1, 15, 16, 64, 70, 200} {
				for _, masked := range []bool{false, true} {
					what := fmt.Sprintf("%T, %v, %d units, %d rows, masked %t", T(0), s, q, n, masked)
					x, units := unitsOf(rng, normals[T](rng, n), 1, n), unitsOf(rng, normals[T](rng, n*q), q, n)
					var mask []T
					if masked {
						on := make([]T, n*q)
						for i := range on {
							on[i] = T(rng.IntN(2))
						}
						mask = unitsOf(rng, on, q, n)
					}
					weights, biases := normals[T](rng, q), normals[T](rng, q)
					want, wantBiases := append([]T{}, weights...), append([]T{}, biases...)
					var r, other Rows[T]
					r.addOneInput(s, weights, biases, x, append([]T{}, units...), mask, q, n)
					other.turn(s, units, mask, q, n)
					for j := 0; j < q; j += other.Columns(j) {
						other.AddProduct(want, q, x, 1, j)
					}
					other.AddSums(wantBiases)
					sameBits(t, what+": weights", weights, want)
					sameBits(t, what+": biases", biases, wantBiases)
				}
			}
		}
	}
}
