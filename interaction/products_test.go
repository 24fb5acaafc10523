package interaction

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestProducts compares with sums row by row, of all pairs of four columns, where products of two pairs are
// those of two others, and of some.
func TestProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for _, rows := range []int{60, blockRows + 3, 3*blockRows - 1} {
		scales, v := mixedColumns(r, rows)
		for _, pairs := range [][][2]int{
			{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}},
			{{2, 3}, {1, 3}, {0, 2}, {0, 1}},
			{{1, 2}},
		} {
			for known := range 2 {
				f := newFunctions(scales, []int{0, 2, 3}, maxSingleDegree, pairs[:known], pairs[known:])
				for _, weighted := range []bool{false, true} {
					s, e := &kept{values: *v, r: [][]float64{normals(r, rows)}}, normals(r, rows)
					if weighted {
						s.w = normals(r, rows)
					}
					got, want := s.products(f, 0, e, 1.5), s.productsByRow(f, 0, e, 1.5)
					near(t, "gram", got.gram, want.gram)
					near(t, "sandwich", got.sandwich, want.sandwich)
					near(t, "score", append(got.score, got.weight, got.square), append(want.score, want.weight, want.square))
				}
			}
		}
	}
}

// productsByRow is products in the plainest way.
func (s *kept) productsByRow(f *functions, k int, e []float64, inflation float64) *products {
	p := newProducts(f.width())
	z, each := make([]float64, p.n), make([]float64, f.offsets[len(f.scales)])
	for i, r := range s.r[k] {
		w := 1.0
		if s.w != nil {
			w = s.w[i]
		}
		f.fill(z, each, &s.values, i)
		for a, x := range z {
			for b, y := range z {
				p.gram[a*p.n+b] += w * x * y
				p.sandwich[a*p.n+b] += inflation * w * w * e[i] * e[i] * x * y
			}
			p.score[a] += w * r * x
		}
		p.weight += w
		p.square += w * r * r
	}
	return p
}

func normals(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

// near fails unless the numbers are the same but for rounding.
func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	largest := 0.0
	for _, v := range want {
		largest = math.Max(largest, math.Abs(v))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-12*largest) {
			t.Fatalf("%s: number %d is %g, want %g", what, i, got[i], want[i])
		}
	}
}
