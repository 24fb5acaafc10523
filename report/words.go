package report

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

// none stands where there is no figure.
const none = "–"

// num writes v with three significant digits, in plain notation where that is
// readable.
func num(v float64) string { return digits(v, 3) }

func digits(v float64, n int) string {
	if notFinite(v) {
		return none
	}
	if v == 0 {
		return "0"
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', n-1, 64), "e")
	e, err := strconv.Atoi(exponent) // after rounding: 0.9996 is 1.00
	if err != nil {
		return none
	}
	if -3 <= e && e < 6 {
		return minus(strconv.FormatFloat(v, 'f', max(n-1-e, 0), 64))
	}
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	return minus(mantissa) + "e" + minus(strconv.Itoa(e))
}

func maybe(v *float64) string {
	if v == nil {
		return none
	}
	return num(*v)
}

// percent writes a share; the space does not break.
func percent(v float64) string {
	switch a := math.Abs(100 * v); {
	case notFinite(v):
		return none
	case a == 0:
		return "0\u00a0%"
	case a < 0.05:
		if v < 0 {
			return "> −0.1\u00a0%"
		}
		return "< 0.1\u00a0%"
	default:
		return minus(strconv.FormatFloat(100*v, 'f', 1, 64)) + "\u00a0%"
	}
}

func maybePercent(v *float64) string {
	if v == nil {
		return none
	}
	return percent(*v)
}

func minus(s string) string {
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		return "−" + rest
	}
	return s
}

// count groups digits: 1 000 000.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:] // a narrow space that does not break
	}
	return minus(s)
}

// clean makes a name from a file fit for a line of text: what does not print
// (control characters, reversed writing) becomes a replacement character.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && r != ' ' {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// clip cleans a name and shortens it to n characters.
func clip(s string, n int) string {
	runes := []rune(clean(s))
	if len(runes) <= n {
		return string(runes)
	}
	return string(runes[:n-1]) + "…"
}

// list joins at most n names.
func list(names []string, n int) string {
	var out []string
	for i, s := range names {
		if i == n {
			return strings.Join(out, ", ") + " and " + strconv.Itoa(len(names)-n) + " more"
		}
		out = append(out, clip(s, 60))
	}
	return strings.Join(out, ", ")
}

// inWords joins at most n names as a sentence does: "a, b and c".
func inWords(names []string, n int) string {
	if last := len(names) - 1; last > 0 && last < n {
		return list(names[:last], n) + " and " + clip(names[last], 60)
	}
	return list(names, n)
}

// cleaned are names as clean has them; nil of nil.
func cleaned(names []string) []string {
	if names == nil {
		return nil
	}
	out := make([]string, len(names))
	for i, s := range names {
		out[i] = clean(s)
	}
	return out
}
