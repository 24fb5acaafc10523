package decompose

import (
	"cmp"
	"slices"
	"testing"

	"github.com/pho-go/pho/data"
)

// TestRowSample: the sample is the rows of the least hashes, however the rows are cut and in
// whatever order the parts come.
func TestRowSample(t *testing.T) {
	const n = 60_000
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i) // the row's number
	}
	features := []Feature{{Name: "x", Max: n - 1}}
	want := make([]float64, n)
	copy(want, x)
	slices.SortFunc(want, func(a, b float64) int { return cmp.Compare(rowHash(int64(a)), rowHash(int64(b))) })
	want = want[:quantileRows]

	for _, size := range []int{1000, 7777, n} {
		var parts []rowSample
		for first := 0; first < n; first += size {
			b := data.NewBatch(min(size, n-first), int64(first))
			if err := b.SetNumeric("x", x[first:min(first+size, n)]); err != nil {
				t.Fatal(err)
			}
			var s rowSample
			if err := s.add(features, b, sampleBelow(n)); err != nil {
				t.Fatal(err)
			}
			parts = append(parts, s)
		}
		for _, backwards := range []bool{false, true} {
			if backwards {
				slices.Reverse(parts)
			}
			var total rowSample
			for _, p := range parts {
				total.merge(p)
			}
			total.trim()
			if len(total.value) != len(want) {
				t.Fatalf("%d rows", len(total.value))
			}
			for i, row := range total.value {
				if row[0] != want[i] {
					t.Fatalf("parts of %d rows: row %g is number %d of the sample, want %g", size, row[0], i, want[i])
				}
			}
		}
	}
}
