package report

import (
	"strings"
	"testing"
)

// TestBarsStayInThePicture: whole numbers beyond the range that is drawn have no bar.
func TestBarsStayInThePicture(t *testing.T) {
	width := float64(right - left)
	sides := func(i int) (float64, float64) { return left + float64(i)*width/2, left + (float64(i)+0.8)*width/2 }
	if n := strings.Count(bars([]float64{3, 2, 5, 1}, sides), "z"); n != 2 {
		t.Errorf("%d bars of two within and two beyond", n)
	}
}
