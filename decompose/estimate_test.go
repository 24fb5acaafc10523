package decompose

import (
	"slices"
	"testing"
)

// TestHalve: of rows 0, 1, ..., 4 those at even places stay, with all that is theirs.
func TestHalve(t *testing.T) {
	s := thinned{k: 2, stride: 4, y: []float64{0, 1, 2, 3, 4}, w: []float64{5, 6, 7, 8, 9}, eta: []float64{0, 10, 1, 11, 2, 12, 3, 13, 4, 14}}
	s.halve()
	if s.stride != 8 || !slices.Equal(s.y, []float64{0, 2, 4}) || !slices.Equal(s.w, []float64{5, 7, 9}) || !slices.Equal(s.eta, []float64{0, 10, 2, 12, 4, 14}) {
		t.Errorf("%+v", s)
	}
}
