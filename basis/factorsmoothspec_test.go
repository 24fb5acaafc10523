package basis

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The products of a row that is mostly 0 are those of all its numbers, to the last bit.
func TestProductsOfABand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 12).Draw(t, "k")
		width := rapid.IntRange(1, k).Draw(t, "width")
		n := k + k*(k+1)/2
		want, got := make([]float64, n), make([]float64, n)
		for range 3 {
			first := rapid.IntRange(0, k-width).Draw(t, "first")
			value := rapid.SliceOfN(rapid.Float64Range(-2, 2), width, width).Draw(t, "value")
			row := make([]float64, k)
			copy(row[first:], value)
			addProducts(want, row)
			addBand(got, k, first, value)
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
