package data

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// kind is what the text of a cell is by itself.
type kind uint8

const (
	number   kind = iota // a finite decimal number
	missing              // no value
	truth                // True or False
	infinite             // Inf, or a number beyond float64
	inexact              // a whole number beyond 2^53, which float64 would round
	text
)

// notation is how cells are written.
type notation struct {
	decimal byte     // the decimal mark
	marks   []string // of missing values, besides those of every file
}

// trim drops the blanks around a cell.
func trim(s string) string {
	if n := len(s); n == 0 || s[0] > ' ' && s[n-1] > ' ' {
		return s
	}
	return strings.Trim(s, blanks)
}

const blanks = " \t\r\n"

// parse reads a cell as a number, blanks around it dropped. The value is 0 unless the kind is
// number or truth. 0x1p3 and 1_000, which only Go takes for numbers, are text.
func (n *notation) parse(cell string) (float64, kind) {
	cell = trim(cell)
	if n.isMissing(cell) {
		return 0, missing
	}
	if n.decimal == ',' {
		if strings.IndexByte(cell, '.') >= 0 {
			return 0, text
		}
		cell = strings.Replace(cell, ",", ".", 1)
	}
	v, err := strconv.ParseFloat(cell, 64)
	switch {
	case err == nil && math.Abs(v) >= beyond && isInexact(cell, v):
		return 0, inexact
	case err == nil && finite(v) && !goOnly(cell):
		return v, number
	case math.IsInf(v, 0):
		return 0, infinite // also out of range, when ParseFloat gives Inf and an error
	}
	switch cell {
	case "True", "TRUE", "true":
		return 1, truth
	case "False", "FALSE", "false":
		return 0, truth
	}
	return 0, text
}

// beyond is the size from which on float64 does not hold every whole number.
const beyond = 1 << 53

// isInexact tells whether a cell is written as a whole number, all its digits given, that is
// larger than beyond, where its neighbours would be read as the same number.
func isInexact(cell string, v float64) bool {
	digits := strings.TrimLeft(strings.TrimLeft(cell, "+-"), "0")
	return !strings.ContainsFunc(digits, func(r rune) bool { return r < '0' || r > '9' }) &&
		(math.Abs(v) > beyond || digits != strconv.Itoa(beyond))
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

// isMissing reports whether a cell stands for no value: empty, NA, NaN or null, the last
// two in any case, or one of the marks.
func (n *notation) isMissing(s string) bool {
	switch len(s) {
	case 0:
		return true
	case 2:
		if s == "NA" {
			return true
		}
	case 3:
		if strings.EqualFold(s, "nan") {
			return true
		}
	case 4:
		if strings.EqualFold(s, "null") {
			return true
		}
	}
	return n.marks != nil && slices.Contains(n.marks, s)
}

func missingReason(cell string) string {
	what := "marks a missing value"
	if cell == "" {
		what = "is empty"
	}
	return what + "; fill it in, or leave such rows out"
}
