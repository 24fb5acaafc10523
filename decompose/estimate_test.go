package decompose

import (
	"slices"
	"testing"

	"github.com/pho-go/pho/family"
)

// TestThin: rows whose hash begins otherwise go, with all that is theirs.
func TestThin(t *testing.T) {
	s := thinned{k: 2}
	var want thinned
	for row := range int64(50) {
		y := float64(row)
		for _, to := range []*thinned{&s, &want} {
			if to == &want && !hashBegins(row, 2) {
				continue
			}
			to.rows, to.Y, to.W = append(to.rows, row), append(to.Y, y), append(to.W, y+0.5)
			to.Event, to.Eta = append(to.Event, float64(row%2)), append(to.Eta, y, -y)
		}
	}
	s.bits = 2
	s.thin()
	same := func(a, b family.Sample) bool {
		return slices.Equal(a.Y, b.Y) && slices.Equal(a.W, b.W) && slices.Equal(a.Event, b.Event) && slices.Equal(a.Eta, b.Eta)
	}
	if n := len(s.rows); n < 5 || n > 25 || !slices.Equal(s.rows, want.rows) || !same(s.Sample, want.Sample) {
		t.Errorf("%+v", s)
	}
}
