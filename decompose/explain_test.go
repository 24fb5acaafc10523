package decompose

import (
	"math"
	"slices"
	"testing"
)

// TestTranspose: any number of rows and columns, whole eights of them or not.
func TestTranspose(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 24, 31} {
		for width := range 12 {
			columns := make([]float64, n*width)
			for i := range columns {
				columns[i] = float64(i)
			}
			rows := slices.Repeat([]float64{-1}, n*width+1)
			transpose(rows, columns, n)
			for i := range n {
				for j := range width {
					if rows[i*width+j] != columns[j*n+i] {
						t.Fatalf("%d x %d: element %d, %d is %v", n, width, i, j, rows[i*width+j])
					}
				}
			}
			if rows[n*width] != -1 {
				t.Fatalf("%d x %d: wrote beyond the rows", n, width)
			}
		}
	}
}

// TestCountNumbers: a number in the middle of each bin, the ends of the range, what
// lies outside of it, and ranges that a division cannot take.
func TestCountNumbers(t *testing.T) {
	const bins = 40
	counted := func(lo, hi float64, x ...float64) []int64 {
		counts := make([]int64, bins)
		countNumbers(counts, x, lo, hi)
		return counts
	}
	with := func(first, last int64) []int64 {
		counts := make([]int64, bins)
		counts[0], counts[bins-1] = first, last
		return counts
	}
	for _, ends := range [][2]float64{{0, 1}, {-3, 0.7}, {1e9, 1e9 + 40}, {-1e-300, 1e-300}} {
		lo, hi := ends[0], ends[1]
		var x []float64
		for i := range bins {
			x = append(x, lo+(float64(i)+0.5)/bins*(hi-lo))
		}
		if got := counted(lo, hi, x...); !slices.Equal(got, slices.Repeat([]int64{1}, bins)) {
			t.Errorf("middles of bins in %v: %v", ends, got)
		}
		if got := counted(lo, hi, lo, hi, hi, 2*lo-hi, 2*hi-lo, 2*hi-lo); !slices.Equal(got, with(2, 4)) {
			t.Errorf("ends of %v: %v", ends, got)
		}
	}
	for _, c := range []struct {
		lo, hi float64
		x      []float64
		want   []int64
	}{
		{2, 2, []float64{2, 2, 2}, with(3, 0)},
		{0, math.SmallestNonzeroFloat64, []float64{0, math.SmallestNonzeroFloat64}, with(2, 0)},
		{-math.MaxFloat64, math.MaxFloat64, []float64{-math.MaxFloat64, math.MaxFloat64}, with(2, 0)},
	} {
		if got := counted(c.lo, c.hi, c.x...); !slices.Equal(got, c.want) {
			t.Errorf("%v from %v to %v: %v", c.x, c.lo, c.hi, got)
		}
	}
}
