// Package knot holds what all spline bases ask of their knots.
package knot

import (
	"errors"
	"fmt"
	"math"
)

// MaxDim bounds the number of functions of a basis.
const MaxDim = 1000

// ErrScale is the fault of knots whose distances leave the range of 64-bit numbers.
var ErrScale = errors.New("the knots are too wide or too close for 64-bit numbers: rescale the column")

// Check refuses knots that are not finite and strictly increasing, or so far apart
// that their distance overflows. No knots at all are fine.
func Check(t []float64) error {
	for i, v := range t {
		if !Finite(v) {
			return fmt.Errorf("knot %d is %v", i+1, v)
		}
		if i > 0 && v <= t[i-1] {
			return fmt.Errorf("knot %d (%v) is not greater than the one before (%v): knots must increase", i+1, v, t[i-1])
		}
	}
	if n := len(t); n > 0 && math.IsInf(t[n-1]-t[0], 0) {
		return errors.New("the knots are too far apart for 64-bit numbers: rescale the column")
	}
	return nil
}

// Finite tells whether v is neither NaN nor infinite.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Wrap takes x into the period from lo to hi; both ends stay where they are.
func Wrap(x, lo, hi float64) float64 {
	if x >= lo && x <= hi {
		return x
	}
	d := math.Mod(x-lo, hi-lo)
	if d < 0 {
		d += hi - lo
	}
	return min(lo+d, hi)
}

// Equispaced are n + 1 knots with equal distances from lo to hi, both included.
func Equispaced(lo, hi float64, n int) []float64 {
	t := make([]float64, n+1)
	for i := range t {
		t[i] = lo + float64(i)*((hi-lo)/float64(n))
	}
	t[n] = hi
	return t
}
