package report

import (
	"math"
	"strconv"
)

// series are the values of an effect for the script, in half the bytes of the numbers themselves:
// each is a whole number of units of 10^-Places, and what is written is by how much its step
// from the value before differs from the step before that; "null" where a value is not finite.
// Neither has a step before it. On a curve these are small numbers.
type series struct {
	Places int       `json:"places"`
	Steps  []numeral `json:"steps"`
}

// newSeries writes values with the digits that rounded gives numbers of this size. It returns
// how many bytes they take.
func newSeries(values []float64, unit float64) (s *series, bytes int) {
	unit = math.Max(unit, 1e-8*largest(values)) // or whole numbers were beyond those of a float64
	s = &series{}
	if unit > 0 {
		s.Places = 5 - int(math.Floor(math.Log10(unit)))
	}
	var last, step int64
	for _, v := range values {
		text := numeral("null")
		if !notFinite(v) {
			n := int64(math.Round(v * math.Pow10(s.Places)))
			text = numeral(strconv.FormatInt(n-last-step, 10))
			last, step = n, n-last
		}
		s.Steps = append(s.Steps, text)
		bytes += len(text) + 1
	}
	return s, bytes
}

// unitAt is the size by which point i of numbers is rounded: that of the axis, or of the steps
// beside it where these are much smaller, as at the low end of a logarithmic axis.
func (a *Axis) unitAt(i int) float64 {
	last := len(a.Values) - 1
	unit := a.Values[last] - a.Values[0]
	for _, j := range []int{i, i + 1} {
		if j > 0 && j <= last {
			unit = math.Min(unit, 1000*(a.Values[j]-a.Values[j-1]))
		}
	}
	return unit
}
