package decompose

import (
	"slices"
	"testing"

	"github.com/pho-go/pho/family"
)

// TestHalve: of rows 0, 1, ..., 4 those at even places stay, with all that is theirs.
func TestHalve(t *testing.T) {
	s := thinned{k: 2, stride: 4, Sample: family.Sample{
		Y: []float64{0, 1, 2, 3, 4}, W: []float64{5, 6, 7, 8, 9}, Event: []float64{1, 0, 0, 0, 1}, Eta: []float64{0, 10, 1, 11, 2, 12, 3, 13, 4, 14}}}
	s.halve()
	if s.stride != 8 || !slices.Equal(s.Y, []float64{0, 2, 4}) || !slices.Equal(s.W, []float64{5, 7, 9}) || !slices.Equal(s.Event, []float64{1, 0, 1}) || !slices.Equal(s.Eta, []float64{0, 10, 2, 12, 4, 14}) {
		t.Errorf("%+v", s)
	}
}
