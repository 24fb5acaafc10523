package decompose

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// aliasing reads the directions that the rows do not determine (standardised,
// c x r): which columns to call aliased, and which terms share a split that is
// not identified.
type aliasing struct {
	columns []int   // r columns that the others span, increasing
	terms   [][]int // for each term the others it is entangled with; nil if identified
	within  []bool  // the term is entangled with itself: its own columns are dependent
}

// entangled is the norm of a block of the projector N N' from which on two
// terms count as sharing a direction; rounding leaves about 1e-8.
const entangled = 1e-5

func findAliases(null *mat.Dense, start []int) aliasing {
	terms := len(start) - 1
	a := aliasing{terms: make([][]int, terms), within: make([]bool, terms)}
	if null == nil {
		return a
	}
	a.columns = dependentColumns(null)
	_, r := null.Dims()
	// |N_i N_j'| for every pair of terms.
	for i := range terms {
		for j := range terms {
			var sum float64
			for u := start[i]; u < start[i+1]; u++ {
				for v := start[j]; v < start[j+1]; v++ {
					var dot float64
					for l := range r {
						dot += null.At(u, l) * null.At(v, l)
					}
					sum += dot * dot
				}
			}
			if math.Sqrt(sum) < entangled {
				continue
			}
			if i == j {
				a.within[i] = true
			} else {
				a.terms[i] = append(a.terms[i], j)
			}
		}
	}
	return a
}

// dependentColumns picks as many columns as there are null directions, the
// later ones first (as R does), such that the rest is independent: Gaussian
// elimination on the rows of N from the last.
func dependentColumns(null *mat.Dense) []int {
	c, r := null.Dims()
	m := mat.DenseCopyOf(null)
	var picked []int
	used := make([]bool, r)
	for i := c - 1; i >= 0 && len(picked) < r; i-- {
		pivot, best := -1, 1e-4 // a row this small is rounding, not a dependence
		for l := range r {
			if v := math.Abs(m.At(i, l)); !used[l] && v > best {
				pivot, best = l, v
			}
		}
		if pivot < 0 {
			continue
		}
		used[pivot] = true
		picked = append(picked, i)
		for l := range r {
			if l == pivot || m.At(i, l) == 0 {
				continue
			}
			f := m.At(i, l) / m.At(i, pivot)
			for u := 0; u <= i; u++ {
				m.Set(u, l, m.At(u, l)-f*m.At(u, pivot))
			}
		}
	}
	for i, j := 0, len(picked)-1; i < j; i, j = i+1, j-1 {
		picked[i], picked[j] = picked[j], picked[i]
	}
	return picked
}
