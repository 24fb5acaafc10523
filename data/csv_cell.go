package data

import (
	"math"
	"strconv"
	"strings"
)

// kind is what the text of a cell is by itself.
type kind uint8

const (
	number   kind = iota // a finite decimal number
	missing              // no value
	infinite             // Inf, or a number beyond float64
	text
)

// trim drops the blanks around a cell.
func trim(s string) string {
	if n := len(s); n == 0 || s[0] > ' ' && s[n-1] > ' ' {
		return s
	}
	return strings.Trim(s, " \t\r\n")
}

// parse reads a trimmed cell. The value is 0 unless the kind is number. 0x1p3 and 1_000,
// which only Go takes for numbers, are text.
func parse(cell string) (float64, kind) {
	if isMissing(cell) {
		return 0, missing
	}
	v, err := strconv.ParseFloat(cell, 64)
	switch {
	case err == nil && finite(v) && !goOnly(cell):
		return v, number
	case math.IsInf(v, 0):
		return 0, infinite // also out of range, when ParseFloat gives Inf and an error
	}
	return 0, text
}

// goOnly tells whether a number is written as Go alone has it.
func goOnly(number string) bool {
	for i := range len(number) {
		switch number[i] {
		case 'x', 'X', '_':
			return true
		}
	}
	return false
}

// isMissing reports whether a trimmed cell stands for no value: empty, NA, NaN
// or null, the last two in any case.
func isMissing(s string) bool {
	switch len(s) {
	case 0:
		return true
	case 2:
		return s == "NA"
	case 3:
		return strings.EqualFold(s, "nan")
	case 4:
		return strings.EqualFold(s, "null")
	}
	return false
}

func missingReason(cell string) string {
	what := "marks a missing value"
	if cell == "" {
		what = "is empty"
	}
	return what + "; fill it in, or leave such rows out"
}
