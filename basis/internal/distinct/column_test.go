package distinct

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestColumnsAreRows: AddColumn, which takes all rows of a column at once, keeps the same values as
// adding rows one by one.
func TestColumnsAreRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1, 12).Draw(rt, "limit")
		whole, one := NewPoints(1, limit), NewPoints(1, limit)
		for range rapid.IntRange(1, 4).Draw(rt, "columns") {
			values := rapid.IntRange(1, 400).Draw(rt, "values")
			x := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
				return float64(rapid.IntRange(0, values).Draw(t, "x"))
			}), 1, 300).Draw(rt, "column")
			whole.AddColumn(x)
			for _, v := range x {
				one.Add(v)
			}
		}
		whole.Sort()
		one.Sort()
		if !slices.Equal(whole.X, one.X) || !slices.Equal(whole.Count, one.Count) || whole.Sampled() != one.Sampled() || whole.Rows != one.Rows {
			rt.Fatalf("%v %v of %d, one by one %v %v of %d", whole.X, whole.Count, whole.Rows, one.X, one.Count, one.Rows)
		}
	})
}
