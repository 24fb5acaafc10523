package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// number is a decimal number as programs print it.
var number = regexp.MustCompile(`[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?`)

// compare says where printed differs from what the page shows, "" if nowhere.
func compare(shown, printed string) string {
	want, got := tidy(shown), tidy(printed)
	i := 0
	for k, line := range want {
		if line == "..." {
			if k+1 == len(want) {
				return ""
			}
			for i < len(got) && !sameLine(want[k+1], got[i]) {
				i++
			}
			continue
		}
		if i == len(got) {
			return fmt.Sprintf("the page has a further line\n\t%s", line)
		}
		if !sameLine(line, got[i]) {
			return fmt.Sprintf("the page has\n\t%s\nprinted was\n\t%s", line, got[i])
		}
		i++
	}
	if i < len(got) {
		return fmt.Sprintf("printed was a further line\n\t%s", got[i])
	}
	return ""
}

// tidy are the lines of a text without space at their ends and without empty lines.
func tidy(text string) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// sameLine compares the words of two lines exactly, and the numbers to one unit of the last
// digit that the page shows.
func sameLine(want, got string) bool {
	if start, rest := strings.CutSuffix(want, "..."); rest {
		words := number.FindAllStringIndex(got, -1)
		cut := len(got)
		if n := len(number.FindAllString(start, -1)); n < len(words) {
			cut = words[n][0]
		}
		if text := number.Split(start, -1); len(text) > 0 {
			last := text[len(text)-1]
			if at := strings.LastIndex(got[:cut], strings.TrimRight(last, " ")); at >= 0 {
				cut = at + len(strings.TrimRight(last, " "))
			}
		}
		want, got = start, got[:cut]
	}
	a, b := number.Split(want, -1), number.Split(got, -1)
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if strings.TrimSpace(a[i]) != strings.TrimSpace(b[i]) {
			return false
		}
	}
	x, y := number.FindAllString(want, -1), number.FindAllString(got, -1)
	for i := range x {
		if !sameNumber(x[i], y[i]) {
			return false
		}
	}
	return true
}

// sameNumber reports whether got is want to one unit of want's last digit, or to nine digits.
func sameNumber(want, got string) bool {
	if want == got {
		return true
	}
	x, errX := strconv.ParseFloat(want, 64)
	y, errY := strconv.ParseFloat(got, 64)
	if errX != nil || errY != nil || !strings.ContainsAny(want, ".eE") {
		return false
	}
	return math.Abs(x-y) <= max(1.01*lastDigit(want), 1e-9*math.Abs(x)) // rounding differs between processors
}

// lastDigit is the size of one unit in the last digit of a number.
func lastDigit(text string) float64 {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	_, decimals, _ := strings.Cut(mantissa, ".")
	power, _ := strconv.Atoi(strings.TrimPrefix(exponent, "+"))
	return math.Pow10(power - len(decimals))
}
