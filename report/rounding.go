package report

import (
	"math"
	"strconv"
	"strings"
)

// numeral is a number of the script's data as it is written; "null" where it is not finite.
type numeral string

// MarshalJSON is the number itself.
func (n numeral) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// rounded writes v to the power of ten that is between unit/100000 and unit/1000000, so that all
// points of a curve of that size are equally fine. unit 0: six significant digits.
func rounded(v, unit float64) numeral {
	switch {
	case notFinite(v):
		return "null"
	case v == 0:
		return "0"
	case !(unit > 0) || notFinite(unit):
		return numeral(shortest(v, 6))
	}
	places := 5 - int(math.Floor(math.Log10(unit)))
	if places < 0 || places > 12 {
		return numeral(shortest(v, 6))
	}
	s := strconv.FormatFloat(v, 'f', places, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" || s == "" {
		return "0"
	}
	return numeral(s)
}

// shortest is v to n significant digits without zeros at the end, as JSON has numbers.
func shortest(v float64, n int) string {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', n-1, 64), 64) // what was written is a number
	return strconv.FormatFloat(r, 'g', -1, 64)
}
