package projection

import (
	"fmt"
	"math"
)

// leastVariation is the standard deviation, relative to the mean, from which on a
// column varies: what is below it is rounding, and standardising it would take rounding for
// a signal. Numbers of 64 bits, taken about a mean of their own before they are
// multiplied, keep a few digits of a deviation of 1e-13, so that a time in seconds
// since 1970 that runs for a minute is a column like any other.
const (
	leastVariation = 1e-13
	// leastThin is for rows of several columns, most of them 0, whose products are
	// formed as they are: squares of deviations have half the digits.
	leastThin = 1e-7
	// leastLearned, times the rank tolerance: of a tensor computed in float32, for
	// which the tolerance is 1e-4, less than 1e-7 is rounding.
	leastLearned = 1e-3
)

// leastVariation of the columns of block j.
func (c *Constrained) leastVariation(j int) float64 {
	return leastVariationOf(c.blocks[j].Learned, c.raw[j+1]-c.raw[j], c.view.R != nil, c.tolerance)
}

// leastVariationOf a basis of so many columns.
func leastVariationOf(learned bool, columns int, factor bool, tolerance float64) float64 {
	switch {
	case learned:
		return math.Max(leastVariation, leastLearned*tolerance)
	case columns > 1 && !factor:
		return leastThin
	}
	return leastVariation
}

// varies tells whether a column of block j with that sum of squares about its mean is
// more than rounding.
func (c *Constrained) varies(j int, squares, mean float64) bool {
	least := c.leastVariation(j)
	return squares > least*least*mean*mean*c.view.SumW
}

// tooCloseToConstant names the columns of data that do vary, but less than the digits
// of their means can tell.
func (c *Constrained) tooCloseToConstant() []string {
	var notes []string
	for j, b := range c.blocks {
		if b.Kept || b.Learned || c.raw[j+1]-c.raw[j] > 1 {
			continue
		}
		at := c.raw[j]
		squares, mean := c.view.XX.At(at, at), c.view.Mean[at]
		if squares > 0 && !c.varies(j, squares, mean) {
			notes = append(notes, fmt.Sprintf("%s varies by %.1g of its mean, which is rounding in numbers of 64 bits, and counts as constant: subtract a number near its mean from the data if it is not",
				c.names[j], math.Sqrt(squares/c.view.SumW)/math.Abs(mean)))
		}
	}
	return notes
}
