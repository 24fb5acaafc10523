package compare

import (
	"slices"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// TestWholeNumbers: curves of a column of whole numbers are compared at these, and not between them, where no row is.
func TestWholeNumbers(t *testing.T) {
	half := side{feature: "hour", value: []float64{0, 0.5, 1, 1.5, 2}}
	sparse := side{feature: "hour", value: []float64{0, 0.5, 1.5, 2}}
	whole := &decompose.Feature{Name: "hour", Max: 2, Quantiles: []float64{0, 1, 1, 2}}
	other := &decompose.Feature{Name: "hour", Max: 2, Quantiles: []float64{0, 0.7, 1, 2}}
	for name, c := range map[string]struct {
		on         side
		rows, with *decompose.Feature
		want       []float64
	}{
		"both whole":   {half, whole, whole, []float64{0, 1, 2}},
		"one is not":   {half, whole, other, half.value},
		"a number out": {sparse, whole, whole, sparse.value},
		"not known":    {half, nil, whole, half.value},
	} {
		got, err := meet(c.on, c.on, c.rows, c.with)
		if err != nil || !slices.Equal(got.value, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
}

// TestRowsTogether: histograms over one range add up, others are left out.
func TestRowsTogether(t *testing.T) {
	a := &decompose.Feature{Max: 2, Counts: []int64{3, 4}}
	if got := together(a, &decompose.Feature{Max: 2, Counts: []int64{10, 20}}).Counts; !slices.Equal(got, []int64{13, 24}) {
		t.Errorf("counts %v", got)
	}
	if got := together(a, &decompose.Feature{Max: 3, Counts: []int64{10, 20}}).Counts; got != nil {
		t.Errorf("counts over other ranges %v", got)
	}
}
