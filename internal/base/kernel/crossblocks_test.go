package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Blocks give the bits of tiles, for all shapes; of a triangle, those on and above the diagonal.
func TestCrossBlocks(t *testing.T) {
	type shape struct{ n, p, q int }
	eachISA(t, func(t *testing.T, s isa) {
		if s == plain {
			t.Skip("the plain code knows no blocks")
		}
		rng := rand.New(rand.NewPCG(5, 6))
		shapes := []shape{{1, 1, 1}, {kBlock, blockRows, blockColumns}, {kBlock + 1, blockRows + 1, blockColumns + 1}, {2*kBlock + 3, 2*blockRows - 1, 7}, {40, 5, 2*blockColumns + 9}}
		for range 40 {
			shapes = append(shapes, shape{1 + rng.IntN(300), 1 + rng.IntN(120), 1 + rng.IntN(300)})
		}
		for i, at := range shapes {
			n, p, q := at.n, at.p, at.q
			for _, upper := range []bool{false, true} {
				if upper {
					q = p
				}
				lda, ldb, ldc := p+rng.IntN(4), q+rng.IntN(4), q+rng.IntN(4)
				a, b := newGuarded[float64]((n-1)*lda+p, rng.IntN(8)), newGuarded[float64]((n-1)*ldb+q, rng.IntN(8))
				awkward(rng, a.v, i%4 == 0)
				awkward(rng, b.v, i%4 == 0)
				var w []float64
				if i%3 > 0 {
					w = make([]float64, n)
					awkward(rng, w, false)
				}
				c, want := newGuarded[float64]((p-1)*ldc+q, rng.IntN(8)), newGuarded[float64]((p-1)*ldc+q, rng.IntN(8))
				awkward(rng, c.v, false)
				copy(want.v, c.v)
				start := append([]float64{}, c.v...)
				panel := scratch[float64](make([]float64, largePanel+8))
				crossTiles(s, want.v, ldc, a.v, lda, p, b.v, ldb, q, n, w, upper, panel)
				crossBlocks(s, c.v, ldc, a.v, lda, p, b.v, ldb, q, n, w, upper)
				c.check(t)
				for i, got := range c.v {
					row, column := i/ldc, i%ldc
					judge := want.v[i]
					if column >= q {
						judge = start[i]
					}
					if !same(got, judge) && !(upper && column < row) {
						t.Fatalf("%v n %d p %d q %d upper %v: element %d,%d is %v, tiles make it %v", s, n, p, q, upper, row, column, got, judge)
					}
				}
			}
		}
	})
}

// Products that the caches do not hold go by blocks, whoever calls.
func TestCrossIsInBlocks(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(7, 8))
		const n, p, q = 300, 400, 100
		if !inBlocks(p, q, n, p) {
			t.Fatal("such a product is to go by blocks")
		}
		checkCross(t, s, rng, n, p, q, false)
	})
}

func BenchmarkCrossOfLargeMatrices(b *testing.B) {
	s := best()
	for _, p := range []int{1001, 4001} { // a third of a factorisation's columns from another
		a, n := make([]float64, p*p), p/3
		awkward(rand.New(rand.NewPCG(1, 2)), a, false)
		for _, blocks := range []bool{true, false} {
			b.Run(fmt.Sprintf("%d/blocks=%v", p, blocks), func(b *testing.B) {
				q := min(256, n)
				c := a[2*n*p:]
				for b.Loop() {
					if blocks {
						crossBlocks(s, c, p, a, p, n, a[n:], p, q, n, nil, false)
					} else {
						crossLarge(s, c, p, a, p, n, a[n:], p, q, n, nil, false)
					}
				}
				b.ReportMetric(float64(n)*float64(n)*float64(q)*float64(b.N)/b.Elapsed().Seconds()/1e9, "FMA/ns")
			})
		}
	}
}
