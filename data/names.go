package data

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// LevelText is the name of the level that the number v stands for in a column
// held as categories: plain digits for whole numbers below 1e15, the shortest
// text that reads back as v otherwise. 1, 1.0 and 1e0 are one level, "1"; so
// are 0 and -0.
func LevelText(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// unknownColumn is the error for a requested name that the schema of where
// lacks.
func unknownColumn(name, where string, schema Schema) error {
	msg := fmt.Sprintf("data: no column %q in %s", clip(name), where)
	if near := nearest(name, schema.Names()); near != "" {
		msg += fmt.Sprintf("; the nearest name is %q", near)
	}
	if len(schema) == 1 && strings.ContainsAny(schema[0].Name, ";,|\t") {
		msg += fmt.Sprintf("; its header is the single name %q: is the delimiter right (--delimiter)?", clip(schema[0].Name))
	}
	return fmt.Errorf("%s", msg)
}

// nearest returns the name with the smallest edit distance to name, the first
// of equals; "" when there is none to compare. Names over 100 bytes are passed
// over so that the work stays small whatever a file's header holds.
func nearest(name string, known []string) string {
	const longest = 100
	if len(name) > longest {
		return ""
	}
	best, found := math.MaxInt, ""
	for _, k := range known {
		if len(k) > longest || abs(len(k)-len(name)) >= best {
			continue
		}
		if d := editDistance(strings.ToLower(name), strings.ToLower(k)); d < best {
			best, found = d, k
		}
	}
	return found
}

// editDistance is the Levenshtein distance of a and b in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

func abs(i int) int {
	if i < 0 {
		return -i
	}
	return i
}

// clip shortens text from a file for a message, copying it so that the message
// does not hold on to the text.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return strings.Clone(s)
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
