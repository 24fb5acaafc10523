// Package spelling finds the known name that a misspelt one means.
package spelling

import (
	"math"
	"strings"
	"unicode/utf8"
)

// maxLength bounds the names that are compared, in bytes: the work is quadratic,
// and names come from files.
const maxLength = 256

// Nearest returns the known name that name most probably means, the first of
// equals: a third of its letters may be wrong. "" if there is none.
func Nearest(name string, known []string) string {
	n := utf8.RuneCountInString(name)
	return within(name, known, min(1+max(1, n/3), n))
}

// Closest returns the known name with the smallest distance, however far; "" if
// there is none to compare.
func Closest(name string, known []string) string { return within(name, known, math.MaxInt) }

func within(name string, known []string, limit int) string {
	best := ""
	for _, k := range known {
		if d := Distance(name, k); d < limit {
			best, limit = k, d
		}
	}
	return best
}

// Distance is the number of insertions, deletions, substitutions and swaps of
// neighbouring letters that turn a into b, whatever their case; math.MaxInt for
// names of more than 256 bytes.
func Distance(a, b string) int {
	if len(a) > maxLength || len(b) > maxLength {
		return math.MaxInt
	}
	s, t := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	before, prev, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(t)]
}
