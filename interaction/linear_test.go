package interaction

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLinearised evaluates products of two polynomials and the sums that stand for them.
func TestLinearised(t *testing.T) {
	p := make([]float64, 2*maxSingleDegree)
	for _, u := range []float64{0, 0.13, 0.5, 0.91, 1} {
		legendre(p, u)
		of := func(d int) float64 {
			if d == 0 {
				return 1
			}
			return p[d-1]
		}
		for i := 1; i <= maxSingleDegree; i++ {
			for k := 1; k <= maxSingleDegree; k++ {
				sum := 0.0
				for d, c := range linearised(i, k) {
					sum += c * of(d)
				}
				if math.Abs(sum-of(i)*of(k)) > 1e-14 {
					t.Errorf("P_%d P_%d is %g, want %g", i, k, sum, of(i)*of(k))
				}
			}
		}
		for i := 1; i <= degrees; i++ {
			for k := 1; k <= degrees; k++ {
				sum := 0.0
				for d, c := range byLast(i, k, degrees) {
					if d <= degrees {
						sum += c * of(d)
					} else {
						sum += c * of(degrees) * of(d-degrees)
					}
				}
				if math.Abs(sum-of(i)*of(k)) > 1e-14 {
					t.Errorf("P_%d P_%d by P_%d is %g, want %g", i, k, degrees, sum, of(i)*of(k))
				}
			}
		}
	}
}

// TestProductsOfNumbers is TestProducts of columns without missing values, of some or all of their pairs, one of a column that has few
// values or no functions of its own.
func TestProductsOfNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 2))
	const columns, rows = 6, 2*blockRows + 5
	var scales []*scale
	v := &values{numbers: make([][]float64, columns), codes: make([][]uint8, columns)}
	var all [][2]int
	for j := range columns {
		x := normals(r, rows)
		for i := range x {
			if j == 2 {
				x[i] = float64(r.IntN(3 * j))
			} else if j > 0 {
				x[i] += 0.5 * v.numbers[0][i]
			}
		}
		sorted := slices.Sorted(slices.Values(x))
		values, ranks := midRanks(sorted)
		c := &scale{distinct: len(values)}
		c.setKnots(thinned(values, ranks))
		scales, v.numbers[j] = append(scales, c), x
		for i := range j {
			all = append(all, [2]int{i, j})
		}
	}
	s, e := &kept{values: *v, r: [][]float64{normals(r, rows)}, w: normals(r, rows)}, normals(r, rows)
	for n := 1; n <= len(all); n++ {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		single, degree := []int{0, 1, 2, 3, 4, 5}, maxSingleDegree-n%8
		if n%5 == 4 {
			single = []int{0, 2, 3, 5}
		}
		f := newFunctions(scales, single, degree, all[:n/4], all[n/4:n])
		got, want := s.products(f, 0, e, 1.5), s.productsByRow(f, 0, e, 1.5)
		near(t, "gram", got.gram, want.gram)
		near(t, "sandwich", got.sandwich, want.sandwich)
		near(t, "score", got.score, want.score)
	}
}
