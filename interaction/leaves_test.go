package interaction

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLeaves compares blocks of rows, by polynomials that are scaled otherwise, with row by
// row: numbers with missing values, few and many values, a factor.
func TestLeaves(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	const rows = 700
	scales, v := mixedColumns(r, rows)
	fn := newFunctions(scales, []int{0, 1, 2, 3}, maxSingleDegree, [][2]int{{0, 3}}, [][2]int{{0, 1}, {0, 2}, {1, 2}, {2, 3}})
	coef := make([]float64, fn.width())
	for i := range coef {
		coef[i] = r.NormFloat64()
	}
	f := &fit{fn, coef}
	rest, want := make([]float64, rows), make([]float64, rows)
	for i := range rest {
		rest[i] = r.NormFloat64()
	}
	f.leavesByRow(want, v, rest)
	got := f.leaves(v, rest)
	for i := range got {
		if far := math.Abs(got[i] - want[i]); !(far < 1e-11) || want[i] == rest[i] {
			t.Fatalf("row %d: %g, want %g", i, got[i], want[i])
		}
	}
}

// mixedColumns are numbers without and with missing values, numbers of four values, and a factor.
func mixedColumns(r *rand.Rand, rows int) ([]*scale, *values) {
	v := &values{numbers: make([][]float64, 4), codes: make([][]uint8, 4)}
	var scales []*scale
	for j := range 4 {
		x := make([]float64, rows)
		for i := range x {
			x[i] = math.Exp(r.NormFloat64())
			switch {
			case j == 1:
				x[i] = float64(r.IntN(4))
			case j == 2 && i%9 == 0:
				x[i] = math.NaN()
			}
		}
		if j == 3 {
			codes := make([]uint8, rows)
			for i := range codes {
				codes[i] = uint8(r.IntN(bins + 1))
			}
			v.codes[j] = codes
			scales = append(scales, &scale{factor: true, distinct: 20, withMissing: true})
			continue
		}
		v.numbers[j] = x
		present := slices.DeleteFunc(slices.Clone(x), func(x float64) bool { return x != x })
		slices.Sort(present)
		c := &scale{withMissing: j == 2}
		values, ranks := midRanks(present)
		c.distinct = len(values)
		c.setKnots(thinned(values, ranks))
		scales = append(scales, c)
	}
	return scales, v
}

// leavesByRow is leaves row by row, from the functions as products have them.
func (f *fit) leavesByRow(dst []float64, v *values, r []float64) {
	fn := f.functions
	z, each := make([]float64, fn.width()), make([]float64, fn.offsets[len(fn.scales)])
	for i := range dst {
		fn.fill(z, each, v, i)
		dst[i] = r[i]
		for j, c := range f.coef {
			dst[i] -= c * z[j]
		}
	}
}

// TestRanked compares with a search among all knots.
func TestRanked(t *testing.T) {
	for n := 2; n < 9; n++ {
		c := &scale{}
		var at, rank []float64
		for i := range n {
			at, rank = append(at, float64(i*i)-2), append(rank, float64(i)/float64(n))
		}
		c.setKnots(at, rank)
		for v := -3.0; v < float64(n*n); v += 0.5 {
			i, found := slices.BinarySearch(c.at, v)
			want := 0.0
			switch {
			case found:
				want = c.rank[i]
			case i == 0:
				want = c.rank[0]
			case i == n:
				want = c.rank[n-1]
			default:
				t := (v - c.at[i-1]) / (c.at[i] - c.at[i-1])
				want = c.rank[i-1] + t*(c.rank[i]-c.rank[i-1])
			}
			if got := c.ranked(v); got != want {
				t.Errorf("%d knots: rank %g of %g, want %g", n, got, v, want)
			}
		}
	}
}
